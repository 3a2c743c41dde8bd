"""Folders of GPS logs: GeoLife's .plt (one file per trajectory) and T-Drive's .txt (one file per taxi).

The transport modes in GeoLife's `labels.txt` are joined to the trajectories. Each row of the file has the start, the
end and the mode of a period of a user, separated by tabs, in GMT like the logs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
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

# Between the modes of a trajectory that has several.
THEN = "+"
BATCH_BYTES = 1 << 26


@dataclass(frozen=True)
class Log:
    """Layout of a log without column names."""

    columns: dict[str, pa.DataType]
    example: str
    header_lines: int = 0
    header: bytes = b""
    delimiter: str = ","
    # Whether a value may be missing.
    gaps: bool = True

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(list(self.columns.items()))


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
LABELS = Log(
    {"start": pa.timestamp("s"), "end": pa.timestamp("s"), "mode": pa.string()},
    "start, end and mode divided by tabs",
    header_lines=1,
    delimiter="\t",
    gaps=False,
)
# GeoLife counts days from 1899-12-30.
EPOCH_DAYS = 25569


def read_geolife(paths: Sequence[Path], _: Reading) -> Parsed:
    """Read one trajectory per file. The user is the folder above `Trajectory`; its `labels.txt` has transport modes."""
    table, sizes = _parse(paths, GEOLIFE)
    offsets = ragged.offsets_of(sizes)
    # The clock of these logs ticks in whole seconds; a fraction of a day cannot say them exactly.
    t = np.round((table["days"].to_numpy() - EPOCH_DAYS) * 86400)
    homes = [path.parent.parent if path.parent.name == "Trajectory" else path.parent for path in paths]
    names = {"user": [home.name for home in homes], "name": [path.stem for path in paths]}
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


def geolife_modes(paths: Sequence[Path], offsets: Ints, t: Floats) -> list[str | None] | None:
    """Return the modes of each GeoLife log, or None if no user has labels."""
    # Folders of users: those that hold the folder `Trajectory` of their logs.
    users = {path.parent.parent for path in paths if path.parent.name == "Trajectory"}
    files = {user: user / "labels.txt" for user in users}
    known = {
        user: _parse([file], LABELS)[0].sort_by("start") for user, file in files.items() if file.is_file()
    }
    if not known:
        return None
    none = LABELS.schema.empty_table()
    return [
        _modes(known.get(path.parent.parent, none), t[offsets[place] : offsets[place + 1]])
        for place, path in enumerate(paths)
    ]


def _modes(labels: pa.Table, t: Floats) -> str | None:
    """Return the modes of a trajectory with these times, in order, or None if no label covers it."""
    start, end = (labels[name].cast(pa.int64()).to_numpy() for name in ("start", "end"))
    last = np.searchsorted(start, t, side="right") - 1
    last = last[last >= 0] if len(end) == 0 else last[(last >= 0) & (t <= end[last])]
    used = last[np.diff(last, prepend=-1) != 0]
    return THEN.join(mode for mode, _ in groupby(labels["mode"].take(pa.array(used)).to_pylist())) or None


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
    return pa.concat_tables(tables) if tables else log.schema.empty_table(), np.array(sizes, dtype=np.int64)


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
        parse_options=pacsv.ParseOptions(quote_char=False, delimiter=log.delimiter),
        convert_options=pacsv.ConvertOptions(
            column_types=log.columns,
            null_values=None if log.gaps else [],
            timestamp_parsers=[pacsv.ISO8601, "%Y/%m/%d %H:%M:%S"],
        ),
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
