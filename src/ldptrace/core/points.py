"""Trajectories out of a table: columns found, points gathered by trip and put in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldptrace.core.arrow import pc
from ldptrace.core.columns import Names, find_columns
from ldptrace.core.crs import WGS84
from ldptrace.core.gathered import Gathered, is_number, split_ids
from ldptrace.core.lists import gather_lists, is_list
from ldptrace.core.timestamps import NUMBER, read_times
from ldptrace.errors import FormatError, NothingUsable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DECIMAL_COMMA = r"^\s*[+-]?\d+,\d+\s*$"
WKT_POINT = (
    r"(?i)^\s*(?:SRID=(?P<srid>\d+);)?\s*POINT\s*(?:Z|M|ZM)?\s*\(\s*(?P<x>[-+0-9.eE]+)[ ,]+(?P<y>[-+0-9.eE]+)"
)
JSON_POINT = r'"coordinates"\s*:\s*\[\s*(?P<x>[-+0-9.eE]+)\s*,\s*(?P<y>[-+0-9.eE]+)'


def gather(
    table: pa.Table,
    *,
    names: Names | None = None,
    timezone: str | None = None,
    single: bool = False,
    place: str = "row",
    first: int = 1,
) -> Gathered:
    """Points brought together by trip (and user, where both are known), in the order of time or of numbers.

    A table whose x and y are lists has one row per trajectory, and is gathered already.

    Without a column that says which trajectory a point belongs to, all are one where `single` says so. A
    complaint names the `place` (row, line) where the data is, counted from `first`.
    """
    columns = find_columns(table.column_names, names)
    if columns.x is not None and is_list(table.schema.field(columns.x).type):
        return gather_lists(table, columns, timezone)
    if columns.id is None and not single:
        raise FormatError(
            "no column says which trajectory a point belongs to (traj_id, trip_id, track_id, ..., user_id); the "
            f"columns are {', '.join(table.column_names)}; name it with id (--id), or cut one log at its gaps with "
            "split_gap (--split-gap)"
        )
    notes: list[str] = []
    if columns.t is None:
        # Under whatever name: the one column of moments.
        moments = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
        if len(moments) == 1:
            columns = replace(columns, t=moments[0])
            notes.append(f"times taken from column {moments[0]}")
    crs = columns.crs
    if columns.geometry is not None:
        x, y, crs = _geometry(table[columns.geometry], columns.geometry)
    else:
        assert columns.x is not None
        assert columns.y is not None
        x, y = (numbers(table[name], name, place, first) for name in (columns.x, columns.y))
    t = None
    if columns.t is not None:
        date = None if columns.date is None else table[columns.date]
        t, said = read_times(table[columns.t], timezone, date)
        notes += said
        if t is None:
            sample = table[columns.t].drop_null()[0].as_py()
            notes.append(f"column {columns.t} left out, because {sample!r} is not understood as a time")
        elif (
            "t0" in table.column_names
            and columns.t != "t0"
            and (start := read_times(table["t0"])[0]) is not None
        ):
            t = t + start
    keys = list(dict.fromkeys(name for name in (columns.user, columns.id) if name is not None))
    missing = np.zeros(table.num_rows, dtype=np.bool_)
    if columns.id is not None:
        missing = pc.is_null(table[columns.id]).to_numpy()
    if missing.any():
        table, x, y, t = table.filter(~missing), x[~missing], y[~missing], None if t is None else t[~missing]

    order, offsets = _grouped(_codes([table[name] for name in keys], table.num_rows))
    if order is not None:
        x, y, t = x[order], y[order], None if t is None else t[order]
    rank, word = t, "time"
    if t is None and columns.order is not None:
        rank, word = numbers(table[columns.order], columns.order, place, first), columns.order
        rank = rank if order is None else rank[order]
    if rank is not None:
        sorting = _ordered(rank, offsets)
        if sorting is not None:
            x, y, t = x[sorting], y[sorting], None if t is None else t[sorting]
            order = sorting if order is None else order[sorting]
            notes.append(f"points sorted by {word}")

    heads = offsets[:-1] if order is None else order[offsets[:-1]]
    ids: Ints | None = None
    extra: dict[str, pa.ChunkedArray] = {}
    if columns.id is not None:
        ids, extra = split_ids(table[columns.id].take(pa.array(heads)), columns.id)
    if ids is not None and len(np.unique(ids)) < len(ids):
        # Users count their own trips; the number alone is not a name.
        notes.append(f"{columns.id} repeats between users, so a trajectory is known by both")
        ids, extra = None, {("trip" if columns.id == "traj_id" else str(columns.id)): pa.chunked_array([ids])}
    kept = columns.used | ({"t0"} if t is not None else set())
    rest, varying = _constant(table, kept, heads, order, offsets)
    extra |= rest
    if varying:
        notes.append(f"columns left out, because they change within a trajectory: {', '.join(varying)}")
    user = columns.user
    if user is not None and user not in extra:
        extra[user] = table[user].take(pa.array(heads))
    return Gathered(
        x,
        y,
        offsets,
        t,
        ids,
        crs,
        pa.table(extra) if extra else None,
        user,
        int(np.count_nonzero(missing)),
        tuple(notes),
    )


def numbers(column: pa.ChunkedArray, name: str, place: str = "row", first: int = 1) -> Floats:
    """Values as floats; what is missing or not a number is NaN, unless that is most of the column."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        if 2 * (pc.sum(pc.match_substring_regex(column, DECIMAL_COMMA)).as_py() or 0) > len(column):
            column = pc.replace_substring(column, ",", ".")
        good = pc.match_substring_regex(column, NUMBER).fill_null(True)
        if 2 * (pc.sum(good).as_py() or 0) < len(column):
            row = pc.index(good, False).as_py()
            raise NothingUsable(
                f"{place} {row + first}: column {name} holds {column[row].as_py()!r}, not a number"
            )
        column = pc.utf8_trim_whitespace(pc.if_else(good, column, None))
    elif not (is_number(kind) or pa.types.is_decimal(kind)):
        raise NothingUsable(f"column {name} must hold numbers, it holds {kind}")
    values: Floats = column.cast(pa.float64()).to_numpy()
    return values


def _geometry(column: pa.ChunkedArray, name: str) -> tuple[Floats, Floats, str | None]:
    """Points written as text: WKT, with or without SRID, or GeoJSON."""
    kind = column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        raise FormatError(f"column {name} must hold points as WKT or GeoJSON, it holds {kind}")
    for pattern, crs in ((WKT_POINT, None), (JSON_POINT, WGS84)):
        found = pc.extract_regex(column, pattern)
        if 2 * found.null_count > len(column):
            continue
        x, y = (pc.struct_field(found, axis).cast(pa.float64()).to_numpy() for axis in ("x", "y"))
        if pattern is WKT_POINT:
            srids = pc.unique(pc.struct_field(found, "srid")).drop_null().to_pylist()
            named = [srid for srid in srids if srid]
            crs = f"EPSG:{named[0]}" if len(named) == 1 else None
        return x, y, crs
    sample = column.drop_null()[0].as_py() if column.null_count < len(column) else None
    raise FormatError(f"column {name} must hold points as WKT or GeoJSON, it holds {str(sample)[:60]!r}")


def _codes(columns: Sequence[pa.ChunkedArray], rows: int) -> Ints:
    """A whole number for each distinct row of the columns, missing being a value of its own."""
    if len(columns) == 1:
        return _code(columns[0])
    codes = np.zeros(rows, dtype=np.int64)
    for column in columns:
        own = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
        codes = codes * len(own.dictionary) + own.indices.to_numpy()
    return codes


def _code(column: pa.ChunkedArray) -> Ints:
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


def _ordered(rank: Floats, offsets: Ints) -> Ints | None:
    """Order by rank within each trajectory; None where it is so already."""
    backwards = rank[1:] < rank[:-1]
    inner = offsets[(offsets > 0) & (offsets < len(rank))]
    backwards[inner - 1] = False
    if not backwards.any():
        return None
    return np.lexsort((rank, np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))))


def _constant(
    table: pa.Table, used: set[str], heads: Ints, order: Ints | None, offsets: Ints
) -> tuple[dict[str, pa.ChunkedArray], list[str]]:
    """Further columns with one value per trajectory, and the names of those that change within one."""
    owner = np.repeat(np.arange(len(heads)), np.diff(offsets))
    same: dict[str, pa.ChunkedArray] = {}
    varying = []
    for name in table.column_names:
        if name in used:
            continue
        if _is_constant(table[name], order, owner):
            same[name] = table[name].take(pa.array(heads))
        else:
            varying.append(name)
    return same, varying


def _is_constant(column: pa.ChunkedArray, order: Ints | None, owner: Ints) -> bool:
    if pa.types.is_nested(column.type):
        return False
    codes = _code(column)
    codes = codes if order is None else codes[order]
    return bool(np.all((codes[1:] == codes[:-1]) | (owner[1:] != owner[:-1])))
