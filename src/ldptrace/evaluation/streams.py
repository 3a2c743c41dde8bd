"""Count positions and moves of trips at each tick, for the metrics of streams.

A trip has one position in each tick from the one it begins in to the one it ends in, interpolated along its line, so
results do not depend on how densely the trip was sampled. Tables of blocks can be added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.crs import scale_of
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import Each, added
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.distances import travel_distances
from ldptrace.evaluation.patterns import TOP
from ldptrace.protocol.grid import Grid

# RetraSyn's: ticks of a window, random windows, squares of a third of each side, cells of a pattern.
WINDOW, WINDOWS = 20, 100
SIDE = 1 / 3
LONGEST = 5
# Entries up to which a table is counted without sorting.
_DENSE = 1 << 22


@dataclass(frozen=True)
class Clock:
    """Ticks of `tick` seconds from `origin` on. Ticks before `start` are not compared."""

    tick: float
    origin: float
    ticks: int
    start: int = 0

    @staticmethod
    def of(spans: Sequence[Span], tick: float, start: int) -> Clock:
        """Make the clock of a real set, from its first departure to its last arrival."""
        origin = min(float(departures.min()) for departures, _ in spans)
        ticks = int(_floor((max(last for _, last in spans) - origin) / tick)) + 1
        if not 0 <= start < ticks - 1:
            raise InputError(
                f"the real set has {ticks:,} ticks of {tick:g} s: compare from tick 0 to {ticks - 2:,} on, got {start}"
            )
        return Clock(tick, origin, ticks, start)

    def at(self, times: Floats) -> Ints:
        return _floor((times - self.origin) / self.tick)

    @property
    def window(self) -> int:
        """The number of ticks of a time window, smaller in a short stream."""
        return min(WINDOW, self.ticks - self.start)


# When the trips of a block begin, and when the last of them ends.
Span = tuple[Floats, float]


def spans(trips: Trajectories) -> list[Span]:
    """Return the span of a block in a list, so that those of blocks can be joined; none without times."""
    trips = trips.with_all_times()
    if trips.t is None or len(trips) == 0:
        return []
    return [(trips.t[trips.offsets[:-1]], float(trips.t[trips.offsets[1:] - 1].max()))]


@dataclass(frozen=True, eq=False)
class Counts:
    """Weighted counts of items by tick, without zeros, ordered by key = tick * base + item. Counts of blocks can be
    added.

    >>> both = Counts.of(10, np.array([3, 14]), np.ones(2)) + Counts.of(10, np.array([14]), np.ones(1))
    >>> both.keys.tolist(), both.values.tolist()
    ([3, 14], [1.0, 2.0])
    """

    base: int
    keys: Ints
    values: Floats

    @staticmethod
    def of(base: int, keys: Ints, weight: Floats) -> Counts:
        """Add up the weights of equal keys."""
        if len(keys) and keys.max() < _DENSE:
            total = bins(keys, weight)
            used = np.flatnonzero(total)
            return Counts(base, used, total[used])
        used, place = np.unique(keys, return_inverse=True)
        return Counts(base, used, bins(place, weight, len(used)))

    def __add__(self, other: Counts) -> Counts:
        keys = np.concatenate((self.keys, other.keys))
        return Counts.of(self.base, keys, np.concatenate((self.values, other.values)))

    def totals(self, ticks: int) -> Floats:
        """Return the sum of each tick."""
        return bins(self.keys // self.base, self.values, ticks)

    def between(self, first: int, beyond: int) -> tuple[Ints, Floats]:
        """Return the items of the ticks from `first` up to, but not including, `beyond`, in order, and their counts."""
        low, high = np.searchsorted(self.keys, (first * self.base, max(beyond, first) * self.base))
        items, place = np.unique(self.keys[low:high] % self.base, return_inverse=True)
        return items, bins(place, self.values[low:high], len(items))


def bins(items: Ints, weights: Floats, size: int = 0) -> Floats:
    """Return the sum of the weights of each item."""
    return np.bincount(items, weights=weights, minlength=size).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Frame:
    """The common frame of all sets of a stream: cells, ticks, random boxes inside the map (left, right, bottom, top)
    with the `first` tick of a time window for each, and the first ticks of more `windows`, for hotspots and
    patterns."""

    grid: Grid
    clock: Clock
    boxes: Floats
    first: Ints
    windows: Ints

    @staticmethod
    def of(grid: Grid, clock: Clock, rng: np.random.Generator) -> Frame:
        if clock.ticks * grid.cells**LONGEST >= 1 << 62:
            most = math.isqrt(math.floor(((1 << 62) / clock.ticks) ** (1 / LONGEST)))
            raise InputError(
                f"streams of {clock.ticks:,} ticks are compared on at most {most} cells per side, got {grid.n}"
            )
        x0, y0, x1, y1 = grid.bounds
        width, height = SIDE * (x1 - x0), SIDE * (y1 - y0)
        left = x0 + rng.random(WINDOWS) * (x1 - x0 - width)
        bottom = y0 + rng.random(WINDOWS) * (y1 - y0 - height)
        boxes = np.stack((left, left + width, bottom, bottom + height), axis=1)
        latest = clock.ticks - clock.window
        first, windows = (rng.integers(clock.start, latest, WINDOWS, endpoint=True) for _ in range(2))
        return Frame(grid, clock, boxes, first, windows)


@dataclass(frozen=True, eq=False)
class StreamTables:
    """The sums over the trips of a stream.

    `density` counts positions by tick, `patterns` pieces of 2 to 5 positions by the tick they begin in (longer than two
    only where every step changes the cell), `answers` positions in each box. The other tables count whole trips that
    begin in the compared ticks: `coverage` of the cells, `ends` (first cell, last cell), `lengths` with their weights.
    """

    density: Counts
    patterns: Each[Counts]
    answers: Floats
    coverage: Floats
    ends: Counts
    lengths: tuple[Floats, ...]
    weights: tuple[Floats, ...]
    # Trips of the whole history, by weight.
    trips: float
    _frequent: dict[tuple[int, int], set[tuple[int, int]]] = field(default_factory=dict)

    @staticmethod
    def of(trips: Trajectories, frame: Frame, weights: Floats | None = None) -> StreamTables:
        """Count a block of trips, each with its weight."""
        weight = np.ones(len(trips)) if weights is None else weights.astype(np.float64)
        if weights is not None:
            trips, weight = trips.take(weight > 0), weight[weight > 0]
        return StreamTables.of_positions(Positions.of(trips, frame.clock), frame, weight)

    @staticmethod
    def of_positions(positions: Positions, frame: Frame, weight: Floats) -> StreamTables:
        """Count positions by tick."""
        clock, cells = frame.clock, frame.grid.cells
        cell, trip = positions.cells(frame.grid), positions.trip
        here = (positions.tick >= clock.start) & (positions.tick < clock.ticks)
        begun = positions.tick[positions.offsets[:-1]]
        whole = (begun >= clock.start) & (begun < clock.ticks)
        patterns = [
            Counts.of(cells**size, positions.tick[at] * cells**size + code, weight[trip[at]])
            for size, (at, code) in enumerate(_pieces(positions, cell, cells, clock), start=2)
        ]
        first, last = cell[positions.offsets[:-1]][whole], cell[positions.offsets[1:] - 1][whole]
        # Every trip counts once in each cell that it passes.
        passing, passed = np.divmod(np.unique(trip * cells + cell), cells)
        scale = scale_of(frame.grid.bounds, positions.crs)
        lengths = travel_distances(Trajectories(positions.x, positions.y, positions.offsets), scale)[whole]
        return StreamTables(
            Counts.of(cells, (positions.tick * cells + cell)[here], weight[trip[here]]),
            Each(patterns),
            _answers(positions, frame, weight),
            bins(passed, (weight * whole)[passing], cells),
            Counts.of(cells**2, first * cells + last, weight[whole]),
            (lengths,),
            (weight[whole],),
            float(weight.sum()),
        )

    def __add__(self, other: StreamTables) -> StreamTables:
        return added(self, other, _frequent={})

    def frequent(self, first: int, wide: int) -> set[tuple[int, int]]:
        """Return the most frequent patterns in a window of ticks, as (size, cells). Ties go to the shorter pattern,
        then to the lower cells.
        """
        if (first, wide) not in self._frequent:
            tables = [
                table.between(first, first + wide - size + 1)
                for size, table in enumerate(self.patterns[: max(wide - 2, 0)], start=2)
            ]
            size = np.repeat(np.arange(2, 2 + len(tables)), [len(items) for items, _ in tables])
            item, count = (
                np.concatenate([each[k] for each in tables] or [np.empty(0, dtype=np.int64)]) for k in (0, 1)
            )
            top = np.argsort(-count, kind="stable")[:TOP]
            self._frequent[first, wide] = set(zip(size[top].tolist(), item[top].tolist(), strict=True))
        return self._frequent[first, wide]


@dataclass(frozen=True, eq=False)
class Positions:
    """The position of each trip in each tick."""

    x: Floats
    y: Floats
    tick: Ints
    offsets: Ints
    crs: str | None

    @staticmethod
    def of(trips: Trajectories, clock: Clock) -> Positions:
        """Interpolate positions along the lines. In its first tick, a trip is at its first point.

        >>> trip = Trajectories([0.0, 6.0], [0.0, 0.0], [0, 2], t=[5.0, 35.0])
        >>> positions = Positions.of(trip, Clock(10.0, 0.0, 4))
        >>> positions.tick.tolist(), positions.x.tolist()
        ([0, 1, 2, 3], [0.0, 1.0, 3.0, 5.0])
        """
        times: Any = trips.t
        first = clock.at(times[trips.offsets[:-1]])
        sizes = clock.at(times[trips.offsets[1:] - 1]) - first + 1
        offsets = ragged.offsets_of(np.maximum(sizes, 1))
        x, y, tick = np.empty(offsets[-1]), np.empty(offsets[-1]), np.empty(offsets[-1], dtype=np.int64)
        lines = (trips.x, trips.y, times, trips.offsets)
        _positions(lines, first, offsets, clock.origin, clock.tick, (x, y, tick))
        return Positions(x, y, tick, offsets, trips.crs)

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)

    @property
    def trip(self) -> Ints:
        return ragged.owners(self.offsets)

    def cells(self, grid: Grid) -> Ints:
        """Return the cell of each position. A point on a border belongs to the lower cell."""
        (ox, oy), (sx, sy) = grid.origin, grid.step
        i, j = (
            np.clip(np.ceil((values - origin) / step).astype(np.int64) - 1, 0, grid.n - 1)
            for values, origin, step in ((self.x, ox, sx), (self.y, oy, sy))
        )
        return i * grid.n + j

    def begun_at(self, ticks: Ints) -> Positions:
        """Return the same trips with other first ticks."""
        moved = np.repeat(ticks - self.tick[self.offsets[:-1]], self.sizes)
        return replace(self, tick=self.tick + moved)

    def wandering(self, grid: Grid, rng: np.random.Generator) -> Positions:
        """Return as many positions at the same ticks, from random walks that move to any of nine cells in each tick."""
        start = self.offsets[:-1]
        x0, y0, x1, y1 = grid.bounds
        places = []
        for low, high in ((x0, x1), (y0, y1)):
            step = rng.integers(-1, 2, len(self.x))
            step[start] = rng.integers(0, grid.n, len(start))
            total = np.cumsum(step)
            along = total - np.repeat(total[start] - step[start], self.sizes)
            # Reflected at the borders.
            along = along % (2 * grid.n)
            along = np.minimum(along, 2 * grid.n - 1 - along)
            places.append(low + (along + rng.random(len(along))) * (high - low) / grid.n)
        return replace(self, x=places[0], y=places[1])


def _floor(values: Any) -> Any:
    """Round down to whole ticks, but treat a value just below a whole tick as that tick."""
    return np.floor(np.asarray(values) + 1e-6).astype(np.int64)


def _pieces(positions: Positions, cell: Ints, cells: int, clock: Clock) -> list[tuple[Ints, Ints]]:
    """Yield for 2 to 5 positions where a pattern begins, and its cells as one number."""
    end = np.repeat(positions.offsets[1:], positions.sizes)
    inner = np.arange(len(cell)) + 1 < end
    at = np.flatnonzero(inner & (positions.tick >= clock.start) & (positions.tick + 1 < clock.ticks))
    code = cell[at] * cells + cell[at + 1]
    pieces = [(at, code)]
    changes = np.zeros(len(cell), dtype=bool)
    changes[:-1] = cell[1:] != cell[:-1]
    code, at = code[changes[at]], at[changes[at]]
    for size in range(3, LONGEST + 1):
        goes_on = (at + size - 1 < end[at]) & changes[at + size - 2]
        at, code = at[goes_on], code[goes_on]
        code = code * cells + cell[at + size - 1]
        pieces.append((at, code))
    return pieces


def _answers(positions: Positions, frame: Frame, weight: Floats) -> Floats:
    """Count the positions in each box during its time window."""
    clock, tick = frame.clock, positions.tick
    # Whether a tick is in a window; the last two places are for ticks before and after the stream.
    covered = np.zeros(clock.ticks + 2, dtype=bool)
    covered[np.add.outer(frame.first, np.arange(clock.window))] = True
    order = np.flatnonzero(covered[np.clip(tick, -1, clock.ticks)])
    order = order[np.argsort(tick[order], kind="stable")]
    x, y, weights = positions.x[order], positions.y[order], weight[positions.trip[order]]
    windows = np.searchsorted(tick[order], (frame.first, frame.first + clock.window)).T
    answers = np.empty(WINDOWS)
    for number, (low, high) in enumerate(windows.tolist()):
        left, right, bottom, top = frame.boxes[number]
        part = slice(low, high)
        inside = (left <= x[part]) & (x[part] <= right) & (bottom <= y[part]) & (y[part] <= top)
        answers[number] = bins(inside.astype(np.int64), weights[part], 2)[1]
    return answers


@kernel
def _positions(lines, first, begins, origin, tick, out):  # type: ignore[no-untyped-def]
    (x, y, t, offsets), (xs, ys, ticks) = lines, out
    for k in range(len(first)):
        p, last = offsets[k], offsets[k + 1] - 1
        for place in range(begins[k], begins[k + 1]):
            number = first[k] + place - begins[k]
            moment = min(max(origin + number * tick, t[offsets[k]]), t[last])
            while p < last and t[p + 1] <= moment:
                p += 1
            share = 0.0
            if p < last and t[p + 1] > t[p]:
                share = (moment - t[p]) / (t[p + 1] - t[p])
            other = min(p + 1, last)
            xs[place] = x[p] + share * (x[other] - x[p])
            ys[place] = y[p] + share * (y[other] - y[p])
            ticks[place] = number
