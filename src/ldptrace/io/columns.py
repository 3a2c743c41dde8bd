"""Find the columns of a table by their usual names, and turn a table of points into trajectories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldptrace.core.trajectories import Floats, Ints, Trajectories
from ldptrace.errors import FormatError
from ldptrace.io.report import Parsed

WGS84 = "EPSG:4326"

# Usual names, the most telling first; case, spaces and punctuation do not matter.
ID_NAMES = (
    *("traj_id", "trajectory_id", "traj", "trajectory", "trip_id", "trip", "track_id", "track", "ride_id"),
    *("journey_id", "segment_id", "tid", "id", "object_id", "oid", "vehicle_id", "taxi_id", "cab_id"),
    *("device_id", "user_id", "uid", "user"),
)
PLANAR = (("x", "x_coord", "easting", "pos_x"), ("y", "y_coord", "northing", "pos_y"))
GEOGRAPHIC = (("lon", "lng", "long", "longitude"), ("lat", "latitude"))
TIME_NAMES = ("t", "time", "timestamp", "datetime", "date_time", "utc_time", "ts", "gps_time", "utc")

# Beside ISO 8601.
TIME_FORMATS = ("%Y/%m/%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%a %b %d %H:%M:%S %z %Y")
NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$|^\s*[+-]?(?i:nan|inf|infinity)\s*$"


@dataclass(frozen=True)
class Columns:
    """Names of the columns that hold a trajectory; `crs` where the names themselves say it."""

    x: str
    y: str
    t: str | None
    id: str | None
    crs: str | None


def find_columns(names: Sequence[str]) -> Columns:
    """Columns by their usual names.

    >>> find_columns(["User ID", "Latitude", "Longitude", "UTC Time"])
    Columns(x='Longitude', y='Latitude', t='UTC Time', id='User ID', crs='EPSG:4326')
    """
    refuse_repeats(names)
    by_key: dict[str, str] = {}
    for name in names:
        by_key.setdefault(_key(name), name)

    def first(candidates: Sequence[str]) -> str | None:
        return next((by_key[key] for key in map(_key, candidates) if key in by_key), None)

    for (x_names, y_names), crs in ((PLANAR, None), (GEOGRAPHIC, WGS84)):
        x, y = first(x_names), first(y_names)
        if x is not None and y is not None:
            return Columns(x, y, first(TIME_NAMES), first(ID_NAMES), crs)
    missing = " and ".join(
        f"{axis} ({', '.join((*planar, *geographic))})"
        for axis, planar, geographic in zip("xy", PLANAR, GEOGRAPHIC, strict=True)
        if first((*planar, *geographic)) is None
    )
    raise FormatError(f"no column for {missing or 'x and y of one kind'}; the columns are {', '.join(names)}")


def refuse_repeats(names: Sequence[str]) -> None:
    """Columns of the same name cannot be told apart."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise FormatError(f"there are several columns named {', '.join(repeated)}")


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def from_points(table: pa.Table, *, place: str = "row", first: int = 1) -> Parsed:
    """Trajectories of a long table: one row per point, in the order of time where there is one.

    A complaint names the `place` (row, line) where the data is, counted from `first`.
    """
    columns = find_columns(table.column_names)
    if columns.id is None:
        raise FormatError(
            f"no column says which trajectory a point belongs to ({', '.join(ID_NAMES[:5])}, ...); "
            f"the columns are {', '.join(table.column_names)}"
        )
    rows, notes = table.num_rows, []
    without_id = table[columns.id].null_count
    x, y = (numbers(table[name], name, place, first) for name in (columns.x, columns.y))
    t = None
    if columns.t is not None:
        t = seconds(table[columns.t])
        if t is None:
            sample = table[columns.t].drop_null()[0].as_py()
            notes.append(f"column {columns.t} left out, because {sample!r} is not understood as a time")
    if without_id:
        known = pc.is_valid(table[columns.id]).to_numpy()
        table, x, y, t = table.filter(known), x[known], y[known], None if t is None else t[known]

    order, offsets = _grouped(_codes(table[columns.id]))
    if order is not None:
        x, y, t = x[order], y[order], None if t is None else t[order]
    if t is not None:
        by_time = _time_order(t, offsets)
        if by_time is not None:
            x, y, t = x[by_time], y[by_time], t[by_time]
            order = by_time if order is None else order[by_time]
            notes.append("points sorted by time")

    heads = offsets[:-1] if order is None else order[offsets[:-1]]
    ids, extra = split_ids(table[columns.id].take(pa.array(heads)), columns.id)
    owner = np.repeat(np.arange(len(heads)), np.diff(offsets))
    varying = []
    for name in table.column_names:
        if name in {columns.x, columns.y, columns.t, columns.id}:
            continue
        if _is_constant(table[name], order, owner):
            extra[name] = table[name].take(pa.array(heads))
        else:
            varying.append(name)
    if varying:
        notes.append(f"columns left out, because they change within a trajectory: {', '.join(varying)}")
    return Parsed(
        Trajectories(x, y, offsets, t=t, ids=ids, crs=columns.crs, extra=pa.table(extra) if extra else None),
        rows,
        dropped_points={"no trajectory id": without_id} if without_id else {},
        notes=tuple(notes),
    )


def numbers(column: pa.ChunkedArray, name: str, place: str = "row", first: int = 1) -> Floats:
    """Values as floats; what is missing or not a number is NaN, unless that is most of the column."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        good = pc.match_substring_regex(column, NUMBER).fill_null(True)
        if 2 * (pc.sum(good).as_py() or 0) < len(column):
            row = pc.index(good, False).as_py()
            raise FormatError(
                f"{place} {row + first}: column {name} holds {column[row].as_py()!r}, not a number"
            )
        column = pc.utf8_trim_whitespace(pc.if_else(good, column, None))
    elif not (_is_number(kind) or pa.types.is_decimal(kind)):
        raise FormatError(f"column {name} must hold numbers, it holds {kind}")
    values: Floats = column.cast(pa.float64()).to_numpy()
    return values


def seconds(column: pa.ChunkedArray) -> Floats | None:
    """Times as seconds (of the Unix epoch, where they are dates); None where they are not understood.

    >>> seconds(pa.chunked_array([["1970-01-01T00:01:00Z", None]])).tolist()
    [60.0, nan]
    """
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        for kind in (pa.timestamp("us", "UTC"), pa.timestamp("us")):
            try:
                return seconds(column.cast(kind))
            except pa.ArrowInvalid:
                continue
        for pattern in TIME_FORMATS:
            times = pc.strptime(column, format=pattern, unit="us", error_is_null=True)
            if times.null_count == column.null_count:
                return seconds(times)
        return None
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        per_second = {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
        whole = pa.int32() if pa.types.is_time32(kind) else pa.int64()
        values: Floats = column.cast(whole).cast(pa.float64(), safe=False).to_numpy() / per_second
        return values
    if pa.types.is_date(kind):
        return seconds(column.cast(pa.timestamp("s")))
    if _is_number(kind):
        return column.cast(pa.float64(), safe=False).to_numpy()
    return None


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind))


def split_ids(column: pa.ChunkedArray, name: str) -> tuple[Ints | None, dict[str, pa.ChunkedArray]]:
    """Identifiers as numbers; where they are none, the column is an extra one."""
    if _is_number(column.type) and not column.null_count:
        # The cast refuses fractions and what is too large.
        with suppress(pa.ArrowInvalid):
            return column.cast(pa.int64()).to_numpy(), {}
    return None, {"traj_name" if name == "traj_id" else name: column}


def _codes(column: pa.ChunkedArray) -> Ints:
    """A whole number for each distinct value, missing being one of them."""
    if not pa.types.is_integer(column.type) or column.null_count:
        column = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode").indices
    codes: Ints = column.to_numpy()
    return codes


def _grouped(codes: Ints) -> tuple[Ints | None, Ints]:
    """Order that brings equal codes together (None: they are), and the offsets of the groups."""
    if len(codes) == 0:
        return None, np.zeros(1, dtype=np.int64)
    starts = np.concatenate(([0], np.flatnonzero(codes[1:] != codes[:-1]) + 1))
    lengths = np.diff(starts, append=len(codes))
    _, first_run, inverse = np.unique(codes[starts], return_index=True, return_inverse=True)
    if len(first_run) == len(starts):
        return None, np.append(starts, len(codes))
    rank = np.empty(len(first_run), dtype=np.int64)
    rank[np.argsort(first_run)] = np.arange(len(first_run))
    group = np.repeat(rank[inverse], lengths)
    sizes = np.bincount(group)
    return np.argsort(group, kind="stable"), np.concatenate(([0], np.cumsum(sizes)))


def _time_order(t: Floats, offsets: Ints) -> Ints | None:
    """Order by time within each trajectory; None where it is so already."""
    backwards = t[1:] < t[:-1]
    inner = offsets[(offsets > 0) & (offsets < len(t))]
    backwards[inner - 1] = False
    if not backwards.any():
        return None
    return np.lexsort((t, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))))


def _is_constant(column: pa.ChunkedArray, order: Ints | None, owner: Ints) -> bool:
    """Whether all points of a trajectory have the same value."""
    if pa.types.is_nested(column.type):
        return False
    codes = _codes(column)
    codes = codes if order is None else codes[order]
    return bool(np.all((codes[1:] == codes[:-1]) | (owner[1:] != owner[:-1])))
