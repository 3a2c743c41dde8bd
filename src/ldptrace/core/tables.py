"""Tables as ragged columns: one row per trajectory, whose x and y are lists, or one row per point.

Both are read in the same steps: find the columns, read positions and times, group points, assign ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pyarrow as pa

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Floats, Ints
from ldptrace.core.columns import Columns
from ldptrace.core.positions import ROW, positioned
from ldptrace.core.reading import Names
from ldptrace.core.times import Times, read_times, stated_zone
from ldptrace.core.values import (
    codes,
    flat_lists,
    is_list,
    is_text,
    list_offsets,
    lists_of_numbers,
    numbers,
    numbers_of,
    pc,
    split_ids,
    without_rows,
)
from ldptrace.errors import FormatError, NothingUsable

# Seconds that are added to the times of a trajectory.
START = "t0"
NO_TIMES = Times(None)


@dataclass(frozen=True)
class RaggedTable:
    """The columns of the trajectories of a table, as `Trajectories` needs them, and notes for the user.

    `without_id` counts points without a trajectory. `unzoned` counts times without a zone in a column where others
    have one. `timezone` is the zone that the type of the column of times states. `trips` are the rows of lines of
    several parts.
    """

    x: Floats
    y: Floats
    offsets: Ints
    t: Floats | None
    ids: Ints | None
    crs: str | None
    extra: pa.Table | None
    user: str | None
    notes: tuple[str, ...]
    without_id: int = 0
    unzoned: int = 0
    timezone: str | None = None
    trips: Ints | None = None


# Reads the times of a column, to which a column of dates may belong.
Clock = Callable[..., Times]


def read_table(
    table: pa.Table,
    *,
    names: Names | None = None,
    timezone: str | None = None,
    single: bool = False,
    month_first: bool = False,
    place: str = "row",
    first: int = 1,
) -> RaggedTable:
    """Read the trajectories of a table. Columns have their usual names, or the names in `names`.

    Points are grouped by trip (and by user, if both are known) and ordered by time or number. If no column names the
    trajectory and `single` is true, all points are one trajectory. `month_first` says how dates such as 05/04/2026 are
    written. An error message names the `place` (row or line), counted from `first`.

    There are times if and only if there is a column of times: a time that is missing or not understood is NaN.
    """
    table, columns = positioned(table, names, place=place, first=first)
    of_lists = columns.x is not None and is_list(table.schema.field(columns.x).type)
    columns, notes = _with_moments(table.schema, columns, of_lists)
    stated = _zone_of(table.schema, columns)
    clock = partial(read_times, timezone=timezone or stated, month_first=month_first)
    if of_lists:
        return replace(_of_lists(table, columns, clock, notes), timezone=stated)
    if columns.id is None and not single:
        raise FormatError(
            "no column says which trajectory a point belongs to (traj_id, trip_id, track_id, ..., user_id); the "
            f"columns are {', '.join(table.column_names)}; name it with id (--id{_suggested(table, columns)}), or cut "
            "one log at its gaps with split_gap (--split-gap)"
        )
    return replace(_of_points(table, columns, clock, notes, (place, first)), timezone=stated)


def _suggested(table: pa.Table, columns: Columns) -> str:
    """Return the column with the most runs of equal values, for a message, or nothing: trips have shorter runs than
    users."""
    runs = {}
    for name in table.column_names:
        if name not in columns.used and not pa.types.is_nested(table[name].type):
            values = codes(table[name])
            changes = values[1:] != values[:-1]
            if _in_runs(table[name].type, values, changes):
                runs[name] = np.count_nonzero(changes)
    return f" {max(runs, key=runs.__getitem__)}, which repeats in runs" if runs else ""


def stated_timezone(schema: pa.Schema, names: Names | None = None) -> str | None:
    """Return the time zone that the types of the columns of times state."""
    table, columns = positioned(without_rows(schema), names)
    of_lists = columns.x is not None and is_list(table.schema.field(columns.x).type)
    return _zone_of(table.schema, _with_moments(table.schema, columns, of_lists)[0])


def _zone_of(schema: pa.Schema, columns: Columns) -> str | None:
    """Return the zone of the times, or that of the start times that are added to them."""
    kinds = [schema.field(name).type for name in (columns.t, START) if name in schema.names]
    return next((zone for zone in map(stated_zone, kinds) if zone is not None), None) if columns.t else None


def _with_moments(schema: pa.Schema, columns: Columns, of_lists: bool) -> tuple[Columns, list[str]]:
    """If no column has a usual name of times, but exactly one column holds date-times, use this column."""
    if columns.t is not None and (not of_lists or is_list(schema.field(columns.t).type)):
        return columns, []
    kinds = {
        field.name: (field.type.value_type if is_list(field.type) else None) if of_lists else field.type
        for field in schema
    }
    moments = [name for name, kind in kinds.items() if kind is not None and pa.types.is_timestamp(kind)]
    if len(moments) != 1:
        return replace(columns, t=None), []
    return replace(columns, t=moments[0]), [f"times taken from column {moments[0]}"]


def _of_lists(table: pa.Table, columns: Columns, clock: Clock, notes: list[str]) -> RaggedTable:
    """Read a table with one row per trajectory."""
    assert columns.x is not None
    assert columns.y is not None
    x, y = (lists_of_numbers(table[name], name) for name in (columns.x, columns.y))
    offsets = list_offsets(table[columns.x])
    for name in (columns.y, columns.t):
        if name is None:
            continue
        sizes = np.diff(list_offsets(table[name]))
        unlike = sizes != np.diff(offsets)
        if name == columns.t and table[name].null_count:
            # A trajectory may have no times at all.
            unlike &= pc.is_valid(table[name]).to_numpy()
        if unlike.any():
            row = int(np.flatnonzero(unlike)[0])
            have = np.diff(offsets)[row]
            raise NothingUsable(f"row {row + 1} has {have} values in {columns.x} and {sizes[row]} in {name}")
    times = NO_TIMES
    if columns.t is not None:
        times = _times(columns.t, _in_every_point(table[columns.t], offsets), None, clock, notes)
    t = _since_start(times.seconds, table, clock, ragged.owners(offsets))
    used = {columns.x, columns.y, columns.id, ROW, *((columns.t, START) if t is not None else ())}
    rest = {name: table[name] for name in table.column_names if name not in used}
    ids, extra = _named(table, columns, None, rest, notes)
    trips = ragged.pieces(numbers_of(table[ROW])) if ROW in table.column_names else None
    trajectories = RaggedTable(x, y, offsets, t, ids, columns.crs, extra, columns.user, tuple(notes))
    return replace(trajectories, unzoned=times.unzoned, trips=trips)


def _in_every_point(lists: pa.ChunkedArray, offsets: Ints) -> pa.ChunkedArray:
    """Return the values of lists with these offsets, as a column. A missing list is one of missing values."""
    values = flat_lists(lists)
    if not lists.null_count:
        return values
    given = np.repeat(pc.is_valid(lists).to_numpy(), np.diff(offsets))
    return values.take(pa.array(np.cumsum(given) - 1, mask=~given))


def _of_points(
    table: pa.Table, columns: Columns, clock: Clock, notes: list[str], where: tuple[str, int]
) -> RaggedTable:
    """Read a table with one row per point."""
    assert columns.x is not None
    assert columns.y is not None
    x, y = (numbers(table[name], name, *where) for name in (columns.x, columns.y))
    times = NO_TIMES
    if columns.t is not None:
        date = None if columns.date is None else table[columns.date]
        times = _times(columns.t, table[columns.t], date, clock, notes)
    t = times.seconds if columns.t == START else _since_start(times.seconds, table, clock)
    rank = numbers(table[columns.order], columns.order, *where) if t is None and columns.order else t
    missing = 0
    if columns.id is not None and table[columns.id].null_count:
        known = named(table, columns)
        missing = int(np.count_nonzero(~known))
        table, rank = table.filter(pa.array(known)), None if rank is None else rank[known]
        x, y, t = x[known], y[known], None if t is None else t[known]
    keys = dict.fromkeys(name for name in (columns.user, columns.id) if name is not None)
    order, offsets = _grouped(_trip_codes([table[name] for name in keys], table.num_rows))
    sorting = None if rank is None else _ordered(rank if order is None else rank[order], offsets)
    if sorting is not None:
        notes.append(f"points sorted by {'time' if t is not None else columns.order}")
        order = sorting if order is None else order[sorting]
    heads = offsets[:-1] if order is None else order[offsets[:-1]]
    if order is not None:
        x, y, t = x[order], y[order], None if t is None else t[order]
    used = columns.used | ({START} if t is not None else set())
    rest = _constant(table, used, heads, order, offsets, notes)
    ids, extra = _named(table, columns, heads, rest, notes)
    trajectories = RaggedTable(x, y, offsets, t, ids, columns.crs, extra, columns.user, tuple(notes))
    return replace(trajectories, without_id=missing, unzoned=times.unzoned)


def named(table: pa.Table, columns: Columns) -> Flags:
    """Return which points belong to a trajectory. Points of a known user without a trip are a trajectory."""
    assert columns.id is not None
    known = pc.is_valid(table[columns.id])
    if columns.user is not None:
        known = pc.or_(known, pc.is_valid(table[columns.user]))
    return known.to_numpy()


def _times(
    name: str, clocks: pa.ChunkedArray, date: pa.ChunkedArray | None, clock: Clock, notes: list[str]
) -> Times:
    """Return the times of all points, and note how they were read."""
    times = clock(clocks, date=date)
    notes += times.notes
    known = len(clocks) - clocks.null_count
    if 0 < known == times.unread:
        sample = clocks.drop_null()[0].as_py()
        notes.append(f"column {name}: no value is understood as a time, such as {sample!r}")
    return times


def _since_start(t: Floats | None, table: pa.Table, clock: Clock, rows: Ints | None = None) -> Floats | None:
    """Add the start time of its row to each time, if there is a column of start times. `rows` has the row of each
    time."""
    if t is None or START not in table.column_names:
        return t
    start = clock(table[START]).seconds
    if start is None:
        return t
    return t + (start if rows is None else start[rows])


def _named(
    table: pa.Table, columns: Columns, heads: Ints | None, rest: dict[str, pa.ChunkedArray], notes: list[str]
) -> tuple[Ints | None, pa.Table | None]:
    """Return ids and further columns of the trajectories, taken from the rows `heads` (None: from all rows)."""

    def of_trips(name: str) -> pa.ChunkedArray:
        return table[name] if heads is None else table[name].take(pa.array(heads))

    ids: Ints | None = None
    extra: dict[str, pa.ChunkedArray] = {}
    if columns.id is not None:
        ids, extra = split_ids(of_trips(columns.id), columns.id)
    shared = columns.user not in {None, columns.id}
    if ids is not None and (shared or columns.id != "traj_id") and len(np.unique(ids)) < len(ids):
        # Users count their own trips, or vehicles have several; the number alone is not a name.
        if shared:
            notes.append(
                f"{columns.id} repeats between users, so user and trip together identify a trajectory"
            )
        name = "trip" if columns.id == "traj_id" else str(columns.id)
        ids, extra = None, {name: pa.chunked_array([ids])}
    extra |= {name: column for name, column in rest.items() if name not in extra}
    if columns.user is not None and columns.user not in extra:
        extra[columns.user] = of_trips(columns.user)
    return ids, pa.table(extra) if extra else None


def _trip_codes(columns: Sequence[pa.ChunkedArray], rows: int) -> Ints:
    """Return a whole number for each distinct row of the columns. A missing value is a value of its own."""
    if len(columns) == 1:
        return codes(columns[0])
    combined = np.zeros(rows, dtype=np.int64)
    for column in columns:
        own = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
        combined = combined * len(own.dictionary) + own.indices.to_numpy()
    return combined


def _grouped(trips: Ints) -> tuple[Ints | None, Ints]:
    """Return the order that groups equal codes (None if they are grouped already), and the offsets of the groups."""
    if len(trips) == 0:
        return None, np.zeros(1, dtype=np.int64)
    starts = np.concatenate(([0], np.flatnonzero(trips[1:] != trips[:-1]) + 1))
    lengths = np.diff(starts, append=len(trips))
    _, first_run, inverse = np.unique(trips[starts], return_index=True, return_inverse=True)
    if len(first_run) == len(starts):
        return None, np.append(starts, len(trips))
    rank = np.empty(len(first_run), dtype=np.int64)
    rank[np.argsort(first_run)] = np.arange(len(first_run))
    group = np.repeat(rank[inverse], lengths)
    return np.argsort(group, kind="stable"), ragged.offsets_of(np.bincount(group))


def _ordered(rank: Floats, offsets: Ints) -> Ints | None:
    """Return the order by rank within each trajectory, or None if the points are already in this order.

    A trajectory with a point without a rank keeps its order, whether or not others are sorted.
    """
    if not np.any((rank[1:] < rank[:-1]) & ragged.inner_steps(offsets)):
        return None
    if (missing := np.isnan(rank)).any():
        broken = np.repeat(ragged.holders(offsets, missing), np.diff(offsets))
        rank = np.where(broken, 0.0, rank)
    return np.lexsort((rank, ragged.owners(offsets)))


def _constant(
    table: pa.Table, used: set[str], heads: Ints, order: Ints | None, offsets: Ints, notes: list[str]
) -> dict[str, pa.ChunkedArray]:
    """Return the further columns with one value per trajectory. Columns that change within a trajectory are noted."""
    inner = ragged.inner_steps(offsets)
    same: dict[str, pa.ChunkedArray] = {}
    varying = []
    for name in table.column_names:
        if name in used:
            continue
        values = None if pa.types.is_nested(table[name].type) else codes(table[name])
        if values is not None:
            values = values if order is None else values[order]
            changes = (values[1:] != values[:-1]) & inner
            if not changes.any():
                same[name] = table[name].take(pa.array(heads))
                continue
            if _in_runs(table[name].type, values, changes | ~inner):
                notes.append(f"column {name} repeats in runs: does it name trips? (--id {name})")
        varying.append(name)
    if varying:
        listed = ", ".join(name or "(no name)" for name in varying)
        notes.append(f"columns omitted, because they change within a trajectory: {listed}")
    return same


def _in_runs(kind: pa.DataType, values: Ints, changes: Flags) -> bool:
    """Whether values repeat as the names of trips do: in runs of three or more on average, and none in a second run
    of the same trajectory or user."""
    if not (pa.types.is_integer(kind) or is_text(kind)):
        return False
    starts = np.concatenate(([0], np.flatnonzero(changes) + 1))
    return 3 * len(starts) <= len(values) and len(np.unique(values[starts])) == len(starts)
