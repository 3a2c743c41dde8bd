"""Read the taxi trips of Porto (ECML/PKDD 2015), a CSV file with one trip per row. The column POLYLINE has a point
every 15 s."""

from __future__ import annotations

import json
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
from ldptrace.core.values import numbers, pc, split_ids
from ldptrace.errors import FormatError, InputError, NothingUsable
from ldptrace.io.account import Parsed, each
from ldptrace.io.text import joined, pairs

POLYLINE, MISSING, TRIP, START = "POLYLINE", "MISSING_DATA", "TRIP_ID", "TIMESTAMP"
INTERVAL_SECONDS = 15.0
TIMEZONE = "Europe/Lisbon"
BLOCK_BYTES = 1 << 23


def read_file(path: Path, reading: Reading) -> Parsed:
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
            raise NothingUsable(_first_broken(chunk, before + 2)) from None
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
    if MISSING not in table.column_names:
        return Parsed(trips, rows)
    missing = table[MISSING].fill_null(False).to_numpy()
    if not missing.any():
        return Parsed(trips, rows)
    doubts = {f"trips without points, for their {MISSING}": int(missing.sum())}
    return Parsed(trips.keep_points(np.repeat(~missing, trips.sizes)), rows, doubts=doubts)


read = each(read_file)


def _points(polylines: pa.StringArray) -> tuple[Floats, Floats, Ints]:
    """Return the points of texts `[[x,y],[x,y],...]`, and the number of points of each text."""
    sizes: Ints = np.maximum(pc.count_substring(polylines, "[").to_numpy() - 1, 0)
    lines = bytes(joined(polylines)).replace(b"],", b"\n").replace(b"]]", b"\n").translate(None, b"[] ")
    x, y = pairs(lines)
    if len(x) != sizes.sum():
        raise ValueError("the brackets do not match the numbers")
    return x, y, sizes


def _first_broken(polylines: pa.StringArray, line: int) -> str:
    for number, text in enumerate(polylines.to_pylist()):
        try:
            points = json.loads(text)
            [(float(x), float(y)) for x, y in points]
        except (ValueError, TypeError):
            return f"line {line + number}: {POLYLINE} must look like [[x,y],[x,y]], got {text[:60]!r}"
    return f"lines {line} and on: {POLYLINE} must look like [[x,y],[x,y]]"
