"""Folders of GPS logs: GeoLife's .plt (one file per trajectory) and T-Drive's .txt (one file per taxi).

The transport modes in GeoLife's `labels.txt` are joined to the trajectories. Each row of the file has the start, the
end and the mode of a period of a user, separated by tabs, in GMT like the logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.crs import WGS84
from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io.account import Parsed, naming, of_table
from ldptrace.io.text import read_bytes

LABELS = "labels.txt"
# Between the modes of a trajectory that has several.
THEN = "+"


@dataclass(frozen=True, eq=False)
class Labels:
    """Periods of one user with a transport mode, ordered by start, in seconds since 1970; `mode` indexes `names`."""

    start: Floats
    end: Floats
    mode: Ints
    names: tuple[str, ...]

    @staticmethod
    def read(path: Path) -> Labels:
        """Read the labels in a file."""
        rows: list[tuple[float, float, str]] = []
        with naming(path):
            for number, line in enumerate(read_bytes(path).decode("utf-8", "replace").splitlines(), start=1):
                if number == 1 or not line.strip():
                    continue
                try:
                    start, end, mode = line.split("\t")
                    rows.append((_seconds(start), _seconds(end), mode.strip()))
                except ValueError:
                    raise FormatError(
                        f"line {number}: expected start, end and mode divided by tabs, got {line[:60]!r}"
                    ) from None
        rows.sort()
        names = tuple(sorted({mode for _, _, mode in rows}))
        starts, ends = (np.array([row[k] for row in rows], dtype=np.float64) for k in (0, 1))
        return Labels(starts, ends, np.array([names.index(row[2]) for row in rows], dtype=np.int64), names)

    def at(self, t: Floats) -> Ints:
        """Return the number of the mode at each time, or -1 if no label covers the time."""
        if len(self.start) == 0:
            return np.full(len(t), -1, dtype=np.int64)
        last = np.searchsorted(self.start, t, side="right") - 1
        within = (last >= 0) & (t <= self.end[last])
        return np.where(within, self.mode[last], -1)

    def along(self, t: Floats) -> str | None:
        """Return the modes of a trajectory with these times, in order, or None if no label covers it.

        >>> labels = Labels(np.array([0.0, 60.0]), np.array([50.0, 90.0]), np.array([1, 0]), ("bus", "walk"))
        >>> labels.along(np.array([10.0, 40.0, 55.0, 70.0])), labels.along(np.array([100.0]))
        ('walk+bus', None)
        """
        modes: Ints = self.at(t)
        modes = modes[modes >= 0]
        if len(modes) == 0:
            return None
        changes = np.concatenate(([True], modes[1:] != modes[:-1]))
        return THEN.join(self.names[mode] for mode in modes[changes].tolist())


def geolife_modes(paths: Sequence[Path], offsets: Ints, t: Floats) -> list[str | None] | None:
    """Return the modes of each GeoLife log, or None if no user has labels."""
    # Folders of users: those that hold the folder `Trajectory` of their logs.
    users = {path.parent.parent for path in paths if path.parent.name == "Trajectory"}
    known = {folder: Labels.read(folder / LABELS) for folder in users if (folder / LABELS).is_file()}
    if not known:
        return None
    found: list[str | None] = []
    for place, path in enumerate(paths):
        labels = known.get(path.parent.parent)
        times = t[offsets[place] : offsets[place + 1]]
        found.append(None if labels is None else labels.along(times))
    return found


def _seconds(text: str) -> float:
    """Return the seconds since 1970 of a date such as 2007/06/26 11:32:29.

    >>> _seconds("1970/01/01 00:01:05")
    65.0
    """
    date = np.datetime64(text.strip().replace("/", "-").replace(" ", "T"), "s")
    if np.isnat(date):
        raise ValueError(f"no date: {text!r}")
    return float(date.astype(np.int64))


BATCH_BYTES = 1 << 26


@dataclass(frozen=True)
class Log:
    """Layout of a log without column names."""

    columns: dict[str, pa.DataType]
    example: str
    header_lines: int = 0
    header: bytes = b""


GEOLIFE = Log(
    {
        "lat": pa.float64(),
        "lon": pa.float64(),
        "zero": pa.string(),
        "altitude": pa.string(),
        "days": pa.float64(),
        "date": pa.string(),
        "time": pa.string(),
    },
    "lat,lon,0,altitude,days,date,time",
    header_lines=6,
    header=b"Geolife",
)
TDRIVE = Log(
    {"taxi_id": pa.int64(), "time": pa.timestamp("s"), "lon": pa.float64(), "lat": pa.float64()},
    "taxi id,yyyy-mm-dd hh:mm:ss,lon,lat",
)
# GeoLife counts days from 1899-12-30.
EPOCH_DAYS = 25569


def read_geolife(paths: Sequence[Path], _: Reading) -> Parsed:
    """Read one trajectory per file. The user is the folder above `Trajectory`; its `labels.txt` has transport modes."""
    table, sizes = _parse(paths, GEOLIFE)
    offsets = ragged.offsets_of(sizes)
    # The clock of these logs ticks in whole seconds; a fraction of a day cannot say them exactly.
    t = np.round((table["days"].to_numpy() - EPOCH_DAYS) * 86400)
    names = {"user": [_user(path) for path in paths], "name": [path.stem for path in paths]}
    modes = geolife_modes(paths, offsets, t)
    return Parsed(
        Trajectories(
            table["lon"].to_numpy(),
            table["lat"].to_numpy(),
            offsets,
            t=t,
            crs=WGS84,
            extra=pa.table(names if modes is None else names | {"mode": pa.array(modes, pa.string())}),
            user="user",
            # The logs are in GMT, and nearly all of them of Beijing.
            timezone="Asia/Shanghai",
        ),
        rows=table.num_rows,
    )


def read_tdrive(paths: Sequence[Path], reading: Reading) -> Parsed:
    """Read one trajectory per taxi, ordered by time."""
    table, sizes = _parse(paths, TDRIVE)
    if table.num_rows == 0:
        raise NothingUsable(f"{paths[0]}: there are no fixes in it")
    parsed = of_table(table, reading)
    found, empty = (
        parsed.trajectories,
        [path.stem for path, size in zip(paths, sizes, strict=True) if not size],
    )
    if empty:
        # A taxi without a fix is one of them all the same.
        numbered = found.ids is not None and all(name.isdigit() and len(name) < 19 for name in empty)
        none = Trajectories(
            np.empty(0),
            np.empty(0),
            np.zeros(len(empty) + 1, dtype=np.int64),
            t=None if found.t is None else np.empty(0),
            ids=np.array(empty, dtype=np.int64) if numbered else None,
            crs=found.crs,
        )
        found = Trajectories.concat([found if numbered else replace(found, ids=None), none])
    return replace(parsed, trajectories=found)


def _parse(paths: Sequence[Path], log: Log) -> tuple[pa.Table, Ints]:
    """Return the rows of all files as one table, and the number of rows of each file."""
    tables, sizes = [], []
    for batch in _batches(paths, log):
        counts = [body.count(b"\n") for _, body in batch]
        text = b"".join(body for _, body in batch)
        sizes += counts
        if not text:
            continue
        try:
            tables.append(_rows(text, log))
        except pa.ArrowInvalid:
            raise NothingUsable(_first_broken(batch, log)) from None
    schema = pa.schema(list(log.columns.items()))
    return pa.concat_tables(tables) if tables else schema.empty_table(), np.array(sizes, dtype=np.int64)


def _batches(paths: Sequence[Path], log: Log) -> Iterator[list[tuple[Path, bytes]]]:
    """Yield several files at a time with their lines below the header, because starting a parser takes longer than
    reading a file."""
    batch: list[tuple[Path, bytes]] = []
    size = 0
    for path in paths:
        with naming(path):
            data = read_bytes(path).replace(b"\r\n", b"\n")
            if data and not data.startswith(log.header):
                raise FormatError(
                    f"line 1: expected {log.header.decode()!r}, got {data[:40].decode(errors='replace')!r}"
                )
        parts = data.split(b"\n", log.header_lines)
        body = parts[-1].strip() if len(parts) > log.header_lines else b""
        body = re.sub(rb"\n\s*\n", b"\n", body) + b"\n" if body else b""
        batch.append((path, body))
        size += len(body)
        if size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _rows(text: bytes, log: Log) -> pa.Table:
    return pacsv.read_csv(
        pa.py_buffer(text),
        read_options=pacsv.ReadOptions(column_names=list(log.columns)),
        parse_options=pacsv.ParseOptions(quote_char=False),
        convert_options=pacsv.ConvertOptions(column_types=log.columns),
    )


def _first_broken(batch: list[tuple[Path, bytes]], log: Log) -> str:
    for path, body in batch:
        if body and not _is_log(body, log):
            for number, line in enumerate(read_bytes(path).splitlines(), start=1):
                if number > log.header_lines and line.strip() and not _is_log(line, log):
                    shown = line[:60].decode(errors="replace")
                    return f"{path}: line {number}: expected {log.example}, got {shown!r}"
    return f"{batch[0][0]}: expected {log.example} on every line"


def _is_log(text: bytes, log: Log) -> bool:
    try:
        _rows(text, log)
    except pa.ArrowInvalid:
        return False
    return True


def _user(path: Path) -> str:
    return path.parts[-3] if len(path.parts) >= 3 and path.parts[-2] == "Trajectory" else path.parent.name
