"""Published data sets: the taxi trips of Porto, the GPS logs of GeoLife and T-Drive, and the format of AdaTrace.

- Porto (ECML/PKDD 2015): a CSV file with one trip per row. The column POLYLINE has a point every 15 s.
- GeoLife: a .plt file for each trajectory. The transport modes in `labels.txt` are joined to the trajectories: each row
  has the start, the end and the mode of a period of a user, separated by tabs, in GMT like the logs.
- T-Drive: a .txt file for each taxi.
- AdaTrace, and the published code of LDPTrace: a line `#0:` and a line `>0:x,y;x,y;...;` for each trajectory (.dat).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.columns import refuse_repeats
from ldptrace.core.crs import WGS84
from ldptrace.core.reading import Names, Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.values import numbers, pc, split_ids, without_rows
from ldptrace.errors import FormatError, InputError, NothingUsable
from ldptrace.io.account import Account, Parsed, each, naming, of_table
from ldptrace.io.text import (
    joined,
    joined_lists,
    line_blocks,
    pairs,
    paste,
    read_bytes,
    strings,
    text_writer,
)

POLYLINE, MISSING, TRIP, START = "POLYLINE", "MISSING_DATA", "TRIP_ID", "TIMESTAMP"
INTERVAL_SECONDS = 15.0
TIMEZONE = "Europe/Lisbon"
BLOCK_BYTES = 1 << 23
# Between the modes of a trajectory that has several.
THEN = "+"
BATCH_BYTES = 1 << 26


@dataclass(frozen=True)
class Log:
    """Layout of a log without column names."""

    columns: pa.Schema
    example: str
    header_lines: int = 0
    header: bytes = b""
    delimiter: str = ","
    # Whether a value may be missing.
    gaps: bool = True


GEOLIFE = Log(
    pa.schema(
        {
            "lat": pa.float64(),
            "lon": pa.float64(),
            "zero": pa.string(),
            "altitude": pa.string(),
            "days": pa.float64(),
            "date": pa.string(),
            "time": pa.string(),
        }
    ),
    "lat,lon,0,altitude,days,date,time",
    header_lines=6,
    header=b"Geolife",
)
TDRIVE = Log(
    pa.schema({"taxi_id": pa.int64(), "time": pa.timestamp("s"), "lon": pa.float64(), "lat": pa.float64()}),
    "taxi id,yyyy-mm-dd hh:mm:ss,lon,lat",
)
LABELS = Log(
    pa.schema({"start": pa.timestamp("s"), "end": pa.timestamp("s"), "mode": pa.string()}),
    "start, end and mode divided by tabs",
    header_lines=1,
    delimiter="\t",
    gaps=False,
)
# GeoLife counts days from 1899-12-30.
EPOCH_DAYS = 25569
NUMBER = rb"\s*[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|(?i:nan|inf|infinity))\s*"
POINT = NUMBER + b"," + NUMBER
LINE = re.compile(rb"#.*|>[^:]*:\s*(?:(?:" + POINT + b";)*(?:" + POINT + rb")?)\s*|\s*")
EXPECTED = "expected '#<number>:' or '>0:x,y;x,y;...'"


def porto_of(path: Path, reading: Reading) -> Parsed:
    """Read the trips of the file. A row that is marked MISSING_DATA is a trip without points."""
    table = pacsv.read_csv(
        path,
        read_options=pacsv.ReadOptions(block_size=BLOCK_BYTES),
        convert_options=pacsv.ConvertOptions(
            # What one row says never changes how another is read.
            column_types={POLYLINE: pa.string(), MISSING: pa.bool_()}
            | ({} if reading.names.user is None else {reading.names.user: pa.string()})
        ),
    )
    refuse_repeats(table.column_names)
    if POLYLINE not in table.column_names:
        raise FormatError(f"there is no column {POLYLINE}; the columns are {', '.join(table.column_names)}")
    rows = table.num_rows
    polylines = table[POLYLINE].fill_null("[]")
    parts = []
    for number, chunk in enumerate(polylines.chunks):
        try:
            parts.append(_points(chunk))
        except (pa.ArrowInvalid, ValueError):
            before = sum(len(earlier) for earlier in polylines.chunks[:number])
            raise NothingUsable(_broken_polyline(chunk, before + 2)) from None
    x, y, sizes = (np.concatenate([part[k] for part in parts]) if parts else np.empty(0) for k in range(3))
    offsets = ragged.offsets_of(sizes)
    ids, extra = split_ids(table[TRIP], TRIP) if TRIP in table.column_names else (None, {})
    for name in table.column_names:
        if name not in {POLYLINE, TRIP, MISSING}:
            extra[name] = table[name]
    t = None
    if START in table.column_names:
        start = numbers(table[START], START, "line", 2) - INTERVAL_SECONDS * offsets[:-1]
        t = np.repeat(start, np.diff(offsets)) + INTERVAL_SECONDS * np.arange(offsets[-1])
    user = reading.names.user
    if reading.names != Names(user=user) or user not in {None, *extra}:
        raise InputError(
            f"a file with {POLYLINE} has its ids in {TRIP} and its times in {START}; only user can be named, as one of "
            f"{', '.join(extra)}"
        )
    further = pa.table(extra) if extra else None
    trips = Trajectories(x, y, offsets, t=t, ids=ids, crs=WGS84, extra=further, user=user, timezone=TIMEZONE)
    missing = table[MISSING].fill_null(False).to_numpy() if MISSING in table.column_names else np.False_
    if not missing.any():
        return trips, Account(rows=rows)
    doubts = {f"trips without points, for their {MISSING}": int(missing.sum())}
    return trips.keep_points(np.repeat(~missing, trips.sizes)), Account(rows=rows, doubts=doubts)


read_porto = each(porto_of)


def _points(polylines: pa.StringArray) -> tuple[Floats, Floats, Ints]:
    """Return the points of texts `[[x,y],[x,y],...]`, and the number of points of each text."""
    sizes: Ints = np.maximum(pc.count_substring(polylines, "[").to_numpy() - 1, 0)
    lines = bytes(joined(polylines)).replace(b"],", b"\n").replace(b"]]", b"\n").translate(None, b"[] ")
    x, y = pairs(lines)
    if len(x) != sizes.sum():
        raise ValueError("the brackets do not match the numbers")
    return x, y, sizes


def _broken_polyline(polylines: pa.StringArray, line: int) -> str:
    for number, text in enumerate(polylines.to_pylist()):
        try:
            points = json.loads(text)
            [(float(x), float(y)) for x, y in points]
        except (ValueError, TypeError):
            return f"line {line + number}: {POLYLINE} must look like [[x,y],[x,y]], got {text[:60]!r}"
    return f"lines {line} and on: {POLYLINE} must look like [[x,y],[x,y]]"


def read_geolife(paths: Sequence[Path], _: Reading) -> Parsed:
    """Read one trajectory per file. The user is the folder above `Trajectory`; its `labels.txt` has transport modes."""
    table, sizes = _parse(paths, GEOLIFE)
    offsets = ragged.offsets_of(sizes)
    # The clock of these logs ticks in whole seconds; a fraction of a day cannot say them exactly.
    t = np.round((table["days"].to_numpy() - EPOCH_DAYS) * 86400)
    homes = [path.parent.parent if path.parent.name == "Trajectory" else path.parent for path in paths]
    names = {"user": [home.name for home in homes], "name": [path.stem for path in paths]}
    modes = geolife_modes(paths, offsets, t)
    trajectories = Trajectories(
        table["lon"].to_numpy(),
        table["lat"].to_numpy(),
        offsets,
        t=t,
        crs=WGS84,
        extra=pa.table(names if modes is None else names | {"mode": pa.array(modes, pa.string())}),
        user="user",
        # The logs are in GMT, and nearly all of them of Beijing.
        timezone="Asia/Shanghai",
    )
    return trajectories, Account(rows=table.num_rows)


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
    none = without_rows(LABELS.columns)
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
    taxis, account = of_table(table, reading)
    empty = [path.stem for path, size in zip(paths, sizes, strict=True) if not size]
    if empty:
        # A taxi without a fix is one of them all the same.
        numbered = taxis.ids is not None and all(name.isdigit() and len(name) < 19 for name in empty)
        none = Trajectories(
            np.empty(0),
            np.empty(0),
            np.zeros(len(empty) + 1, dtype=np.int64),
            t=None if taxis.t is None else np.empty(0),
            ids=np.array(empty, dtype=np.int64) if numbered else None,
            crs=taxis.crs,
        )
        taxis = Trajectories.concat([taxis if numbered else replace(taxis, ids=None), none])
    return taxis, account


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
    return pa.concat_tables(tables) if tables else without_rows(log.columns), np.array(sizes, dtype=np.int64)


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
        read_options=pacsv.ReadOptions(column_names=log.columns.names),
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


@each
def read_dat(path: Path, _: Reading) -> Parsed:
    """Read the trajectories of a .dat file. The numbers after # are their ids."""
    x, y = [np.empty(0)], [np.empty(0)]
    sizes, names, lines_before = [], [], 0
    for block in line_blocks(path):
        lines = block.splitlines()
        bodies = [line.partition(b":")[2].strip(b"; ") for line in lines if line.startswith(b">")]
        heads = [line[1:].strip(b": ") for line in lines if line.startswith(b"#")]
        counts = [body.count(b";") + 1 if body else 0 for body in bodies]
        try:
            block_x, block_y = pairs(b"\n".join(bodies).replace(b";", b"\n"))
        except pa.ArrowInvalid:
            block_x = block_y = np.empty(0)
        blank = sum(not line or line.isspace() for line in lines)
        if len(bodies) + len(heads) + blank != len(lines) or len(block_x) != sum(counts):
            for number, line in enumerate(lines, start=lines_before + 1):
                if not LINE.fullmatch(line):
                    shown = line[:40].decode(errors="replace")
                    raise NothingUsable(f"line {number}: {EXPECTED}, got {shown!r}")
            raise NothingUsable(f"{EXPECTED} on every line")
        x.append(block_x)
        y.append(block_y)
        sizes += counts
        names += heads
        lines_before += len(lines)
    # Ids are all whole numbers, or there are none.
    whole = len(names) == len(sizes) and all(name.lstrip(b"-").isdigit() and len(name) < 19 for name in names)
    ids = np.array(names, dtype=np.bytes_).astype(np.int64) if whole else None
    trajectories = Trajectories(np.concatenate(x), np.concatenate(y), np.cumsum([0, *sizes]), ids=ids)
    return trajectories, Account(rows=len(sizes))


def _dat_lines(trajectories: Trajectories) -> pa.LargeStringArray:
    """Return the lines of trajectories: ids and points. The format has no place for times or further columns."""
    points = paste(strings(trajectories.x), ",", strings(trajectories.y), ";")
    bodies = joined_lists(trajectories.offsets, points, "")
    return paste("#", strings(trajectories.numbers), ":\n>0:", bodies, "\n")


dat_writer = partial(text_writer, texts=_dat_lines)
