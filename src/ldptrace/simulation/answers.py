"""The answers of many paths at once: the compiled counterpart of `ldptrace.protocol.questions`.

Answers are an integer array with one row per slot and one column per item of the slot; -1 is an empty place.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Ints, Ints32
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.core.paths import CellPaths, bend_items, districts_of, link_items, move_items
from ldptrace.core.timing import Timing
from ldptrace.protocol import lattice
from ldptrace.protocol.questions import (
    Bends,
    CombinedSteps,
    CutEnd,
    Departure,
    End,
    Length,
    Links,
    Moves,
    Pace,
    Pairs,
    Question,
    Start,
    Steps,
    Terminals,
    Tides,
    Turns,
    Visits,
)
from ldptrace.protocol.questions.times import CLASSES, PART_OF_HOUR, edge
from ldptrace.protocol.questions.times import Trips as TripCount
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip

Rows = NDArray[np.int32]

_turn = kernel(lattice.turn)


def answers(
    question: Question,
    paths: CellPaths,
    users: Ints,
    rng: np.random.Generator,
    timing: Timing | None = None,
    trips: Ints | None = None,
) -> Rows:
    """Return the rows of the given users' answers; `users` are path numbers, each with `question.slots` rows.

    Without a `timing`, questions about time get null answers, as from devices without a clock. `trips` says how many
    trips each path was drawn from (None: it is the only one).
    """
    if isinstance(question, Departure | Pace | Tides):
        return _timed(question, paths.take(users), None if timing is None else timing.take(users))
    first, last = paths.offsets[users], paths.offsets[users + 1]
    here = last > first
    match question:
        case TripCount():
            counts = np.ones(len(users), dtype=np.int64) if trips is None else trips[users]
            return _column(np.where(here, np.searchsorted(CLASSES, counts, side="right") - 1, -1))
        case Length(cap=cap):
            return _column(np.minimum(last - first, cap) - 1)
        case Start():
            return _cells_at(paths, first, here)
        case End():
            return _cells_at(paths, last - 1, here)
        case CutEnd(cells=cells):
            return _cells_at(paths, np.minimum(last, first + cells) - 1, here)
        case Turns():
            rows = np.full((len(users), 1), -1, dtype=np.int32)
            return _filled(_turns, rows, len(users), rng, (moves_of(paths) - 1, first, last))
        case Terminals():
            begin, end = _cells_at(paths, first, here), _cells_at(paths, last - 1, here)
            return np.concatenate([begin, np.where(end == begin, -1, end)], axis=1)
        case Pairs(districts=districts):
            district = districts_of(paths.grid.n, districts)
            begin, end = _cells_at(paths, first, here), _cells_at(paths, last - 1, here)
            return np.where(begin >= 0, district[begin] * districts**2 + district[end], -1).astype(np.int32)
        case Visits(most=most):
            return _chosen(paths.cells, first, last, most, rng)
        case Moves(most=most):
            return _chosen(_items_of_steps(paths, move_items(paths.grid.n)), first, last - 1, most, rng)
        case Links(most=most):
            return _chosen(_items_of_steps(paths, link_items(paths.grid.n)), first, last - 1, most, rng)
        case Bends(most=most):
            return _chosen(_items_of_bends(paths), first, last - 2, most, rng)
        case Steps(count=count):
            return _steps(paths, first, last, count).reshape(-1, 1)
        case CombinedSteps(count=count):
            cut = np.minimum(last, first + count + 1) - 1
            begin, end = _cells_at(paths, first, here), _cells_at(paths, cut, here)
            moves, cells = lattice.move_count(paths.grid.n), paths.grid.cells
            begin = np.where(begin >= 0, begin + moves, -1)
            end = np.where(end >= 0, end + moves + cells, -1)
            steps = _steps(paths, first, last, count)
            return np.concatenate([begin, steps, end], axis=1).astype(np.int32).reshape(-1, 1)
    return _as_on_the_device(question, paths, users, rng, timing, trips)


def _as_on_the_device(
    question: Question,
    paths: CellPaths,
    users: Ints,
    rng: np.random.Generator,
    timing: Timing | None,
    trips: Ints | None,
) -> Rows:
    """Ask every device, path by path, for a new question without a compiled counterpart."""
    source = Source(rng.bytes)
    rows = np.full((len(users) * question.slots, question.capacity), -1, dtype=np.int32)
    for number, user in enumerate(users.tolist()):
        occasion = Occasion(_trip(paths, user, timing), 1 if trips is None else int(trips[user]))
        for slot, items in enumerate(question.answer(occasion, source)):
            rows[number * question.slots + slot, : len(items)] = items
    return rows


def _trip(paths: CellPaths, user: int, timing: Timing | None) -> Trip:
    path = paths.cells[paths.offsets[user] : paths.offsets[user + 1]].tolist()
    if timing is None:
        return Trip(path)
    whole = timing.trajectories
    part = slice(whole.offsets[user], whole.offsets[user + 1])
    points = list(zip(whole.x[part].tolist(), whole.y[part].tolist(), strict=True))
    times = (float(column[user]) for column in (timing.departure, timing.arrival))
    return Trip(path, points, *(None if np.isnan(time) else time for time in times))


def _timed(question: Departure | Pace | Tides, paths: CellPaths, timing: Timing | None) -> Rows:
    """Return everybody's answer to a question about time."""
    here = np.diff(paths.offsets) > 0
    if timing is None or not here.any():
        return np.full((len(paths), question.capacity), -1, dtype=np.int32)
    if isinstance(question, Pace):
        speeds = timing.ways(question.x_scale, question.y_scale) * 3.6 / timing.seconds
        edges = np.array([edge(number, question.slowest) for number in range(question.classes - 1)])
        items = np.searchsorted(edges, speeds, side="right")
        return _nearby(items, here & np.isfinite(speeds), question.reach, question.domain)
    hours, known = timing.hours, here & ~np.isnan(timing.departure)
    if isinstance(question, Departure):
        # Day 0 was a Thursday.
        days = (hours // 24 + 3) % 7 if question.days > 1 else 0
        return _nearby(24 * days + hours % 24, known, question.reach, question.domain)
    first, last = (paths.cells[np.where(here, at, 0)] for at in (paths.offsets[:-1], paths.offsets[1:] - 1))
    i, j = (np.array([first, last]) // paths.grid.n, np.array([first, last]) % paths.grid.n)
    before, after = (i - question.centre // paths.grid.n) ** 2 + (j - question.centre % paths.grid.n) ** 2
    items = 2 * np.array(PART_OF_HOUR)[hours % 24] + (after > before)
    return _column(np.where(known & (before != after), items, -1))


def _nearby(items: Ints, known: Flags, reach: int, domain: int) -> Rows:
    """Return each item with its neighbours, going round; nothing where it is not known."""
    near = (items[:, None] + np.arange(-reach, reach + 1)) % domain
    return np.where(known[:, None], near, -1).astype(np.int32)


def _column(items: Ints) -> Rows:
    return items.astype(np.int32).reshape(-1, 1)


def _cells_at(paths: CellPaths, positions: Ints, here: Flags) -> Rows:
    """Return one cell of each user, at these positions; nothing where a user is not `here`."""
    if len(paths.cells) == 0:
        return np.full((len(positions), 1), -1, dtype=np.int32)
    return _column(np.where(here, paths.cells[np.where(here, positions, 0)], -1))


# The number of the move of (di, dj), at [di + 1, dj + 1].
_MOVE = np.zeros((3, 3), dtype=np.int64)
_MOVE[np.array(lattice.DIRECTION_DI) + 1, np.array(lattice.DIRECTION_DJ) + 1] = np.arange(1, 9)


def moves_of(paths: CellPaths) -> Ints:
    """Return the move out of each cell, from 1 to 8 in the order of the directions, or 0 at the last cell of a path."""
    i, j = np.divmod(paths.cells, paths.grid.n)
    inner = np.flatnonzero(ragged.inner_steps(paths.offsets))
    moves = np.zeros(len(paths.cells), dtype=np.int64)
    moves[inner] = _MOVE[i[inner + 1] - i[inner] + 1, j[inner + 1] - j[inner] + 1]
    return moves


def _items_of_steps(paths: CellPaths, table: Ints32) -> Ints32:
    """Return the item of the step from every cell to the next one; meaningless at the last cell of a path."""
    return table[8 * paths.cells + moves_of(paths) - 1]


def _items_of_bends(paths: CellPaths) -> Ints32:
    """Return the item of the bend after the move at every cell; meaningless at the last two cells of a path."""
    moves = _items_of_steps(paths, move_items(paths.grid.n))
    return bend_items(paths.grid.n)[8 * moves + np.roll(moves_of(paths), -1) - 1]


def _steps(paths: CellPaths, first: Ints, last: Ints, count: int) -> Ints32:
    """Return the items of the first steps of each user, `count` at the most."""
    items = np.append(_items_of_steps(paths, move_items(paths.grid.n)), np.int32(-1))
    at = first[:, None] + np.arange(count)
    return np.where(at + 1 < last[:, None], items[np.minimum(at, len(items) - 1)], -1).astype(np.int32)


def _chosen(
    items: Ints32,
    first: Ints,
    last: Ints,
    most: int,
    rng: np.random.Generator,
) -> Rows:
    """Draw for each user at most `most` different ones of items[first:last], as a device draws them."""
    rows = np.full((len(first), most), -1, dtype=np.int32)
    return _filled(_choose, rows, len(first), rng, (items, first, last))


def _filled(
    kernel: Callable[..., None], rows: Rows, n: int, rng: np.random.Generator, arguments: tuple[object, ...]
) -> Rows:
    """Run a random kernel over chunks of the rows, each with its own child of the source."""
    sources = rng.spawn(len(chunks(n)))
    map_chunks(lambda number, start, stop: kernel(rows, start, stop, sources[number], *arguments), n)
    return rows


@kernel
def _choose(rows, start, stop, rng, items, first, last):  # type: ignore[no-untyped-def]
    """Draw items at random positions of each path by a reservoir, then remove repeats."""
    most = rows.shape[1]
    kept = np.empty(most, dtype=np.int32)
    for user in range(start, stop):
        size = 0
        for at in range(first[user], last[user]):
            place = size if size < most else int(rng.random() * (size + 1))
            if place < most:
                kept[place] = items[at]
            size += 1
        different = 0
        for position in range(min(size, most)):
            new = True
            for earlier in range(different):
                if rows[user, earlier] == kept[position]:
                    new = False
            if new:
                rows[user, different] = kept[position]
                different += 1


@kernel
def _turns(rows, start, stop, rng, directions, first, last):  # type: ignore[no-untyped-def]
    for user in range(start, stop):
        bends = last[user] - first[user] - 2
        if bends > 0:
            at = first[user] + int(rng.random() * bends)
            rows[user, 0] = _turn(directions[at], directions[at + 1])
