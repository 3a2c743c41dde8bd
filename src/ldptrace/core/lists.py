"""Tables with one row per trajectory: x, y and perhaps t are lists."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldptrace.core.arrow import numbers_of, pc
from ldptrace.core.columns import Columns
from ldptrace.core.gathered import Gathered, is_number, split_ids
from ldptrace.core.timestamps import read_times
from ldptrace.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def is_list(kind: pa.DataType) -> bool:
    """Whether an Arrow type is a list of some kind."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def gather_lists(table: pa.Table, columns: Columns, timezone: str | None) -> Gathered:
    """The columns of such a table; a column `t0` is added to `t`: the time of the first point."""
    assert columns.x is not None
    assert columns.y is not None
    x, offsets = _ragged(table, columns.x)
    y, y_offsets = _ragged(table, columns.y)
    if not np.array_equal(offsets, y_offsets):
        row = int(np.flatnonzero(np.diff(offsets) != np.diff(y_offsets))[0])
        sizes = (np.diff(offsets)[row], np.diff(y_offsets)[row])
        raise InputError(f"row {row + 1} has {sizes[0]} values in {columns.x} and {sizes[1]} in {columns.y}")
    used = {columns.x, columns.y}
    notes: list[str] = []
    t = None
    if columns.t is not None and is_list(table.schema.field(columns.t).type):
        used.add(columns.t)
        t, said = _times(table, columns.t, offsets, timezone)
        notes += said
        if "t0" in table.column_names and (start := read_times(table["t0"], timezone)[0]) is not None:
            t = t + np.repeat(start, np.diff(offsets))
            used.add("t0")
    ids: Ints | None = None
    extra: dict[str, pa.ChunkedArray] = {}
    if columns.id is not None:
        ids, extra = split_ids(table[columns.id], columns.id)
        used.add(columns.id)
        if ids is not None and columns.user not in {None, columns.id} and len(np.unique(ids)) < len(ids):
            notes.append(f"{columns.id} repeats between users, so a trajectory is known by both")
            ids, extra = None, {("trip" if columns.id == "traj_id" else columns.id): table[columns.id]}
    extra |= {name: table[name] for name in table.column_names if name not in used and name not in extra}
    if columns.user is not None and columns.user not in extra:
        extra[columns.user] = table[columns.user]
    return Gathered(
        x, y, offsets, t, ids, columns.crs, pa.table(extra) if extra else None, columns.user, 0, tuple(notes)
    )


def _times(table: pa.Table, name: str, offsets: Ints, timezone: str | None) -> tuple[Floats, list[str]]:
    column = table[name]
    t, said = read_times(pa.chunked_array([chunk.flatten() for chunk in column.chunks] or [[]]), timezone)
    if t is None:
        raise InputError(
            f"column {name} must hold lists of seconds or of times, it holds {table.schema.field(name).type}"
        )
    if not np.array_equal(offsets, _offsets(table, name)):
        raise InputError(f"column {name} has other list lengths than x")
    return t, said


def _ragged(table: pa.Table, name: str) -> tuple[Floats, Ints]:
    """Values and offsets of a list column; a null list is an empty one."""
    kind = table.schema.field(name).type
    if not is_list(kind) or not is_number(kind.value_type):
        raise InputError(f"column {name!r} must hold lists of numbers, it holds {kind}")
    chunks = [_flat(chunk) for chunk in table[name].chunks]
    values = np.empty(sum(len(chunk) for chunk in chunks))
    filled = 0
    for chunk in chunks:
        values[filled : filled + len(chunk)] = numbers_of(chunk)
        filled += len(chunk)
    return values, _offsets(table, name)


def _flat(chunk: pa.Array) -> pa.Array:
    """The values of all lists of a column's piece."""
    if not _is_plain(chunk):
        return chunk.flatten()
    borders = numbers_of(chunk.offsets)
    return chunk.values[int(borders[0]) : int(borders[-1])]


def _is_plain(chunk: pa.Array) -> bool:
    """Whether offsets say all of its lists: none is null, and there are some."""
    return len(chunk) > 0 and not chunk.null_count and not pa.types.is_fixed_size_list(chunk.type)


def _offsets(table: pa.Table, name: str) -> Ints:
    offsets = np.zeros(table.num_rows + 1, dtype=np.int64)
    filled = 0
    for chunk in table[name].chunks:
        # A null list is an empty one.
        sizes = (
            np.diff(numbers_of(chunk.offsets))
            if _is_plain(chunk)
            else np.nan_to_num(numbers_of(pc.list_value_length(chunk)))
        )
        offsets[filled + 1 : filled + 1 + len(sizes)] = sizes
        filled += len(sizes)
    return np.cumsum(offsets, out=offsets)
