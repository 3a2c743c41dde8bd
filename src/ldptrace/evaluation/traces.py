"""Measure where and when the lines of a set run, on a grid with cells as fine as streets, in tables of fixed size.
Lengths and times are divided at the borders of the fine cells, so that results do not depend on how densely a trip was
sampled. Tables of batches can be added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats
from ldptrace.core.crs import scale_of
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import CHUNK, added, map_chunks
from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid

# Fine cells per side of the map; coarser lattices of 96, 48, 24 and 12 are sums of them.
FINE = 192
BLOCKS, ZONES, HOURS, PERIODS = 24, 12, 24, 6
# Squares per side of the grid of DiffTraj.
SQUARES = 16
DAY = 86_400.0
# Classes of durations and speeds on a logarithmic scale: `PER_DOUBLING` to a doubling, from 2 ** LOWEST.
PER_DOUBLING, LOWEST, CLASSES = 16, -20, 1024
# The tables of a set, with their shapes.
SHAPES = {
    "way": (FINE, FINE),
    "fixes": (FINE, FINE),
    "stay": (FINE, FINE),
    "presence": (BLOCKS, BLOCKS, HOURS),
    "departures": (24 * 60,),
    "origins": (PERIODS, ZONES * ZONES),
    "trips": (ZONES * ZONES, ZONES * ZONES),
    "pairs": (SQUARES * SQUARES, SQUARES * SQUARES),
    **dict.fromkeys(("durations", "speeds", "lengths", "jumps", "radii"), (CLASSES,)),
}


@dataclass(frozen=True, eq=False)
class Traces:
    """The sums over the lines of a set; times are counted if the set has times.

    `way` is the length of the lines in each fine cell, `fixes` the number of points there, `stay` the seconds spent
    there. `presence` is the seconds spent in each of 24 x 24 blocks in each hour of the day, `departures` the trips
    that begin in each minute of the day, `origins` those of each period of four hours by zone. `trips` are pairs of
    zones (12 x 12 of them), `pairs` those of 16 x 16 squares. In fine logarithmic classes are counted `durations`,
    `speeds`, the `lengths` of the lines, `jumps` (distances from the first to the last point), and `radii` (of
    gyration: the root of the mean squared distance of the line from its centre).

    >>> line = Trajectories.from_lists([[(0.0, 0.5), (1.0, 0.5)]])
    >>> once = Traces.of(line, Grid((0, 0, 1, 1), 6))
    >>> round(float(once.way.sum()), 9), int(np.count_nonzero(once.way)), float((once + once).fixes.sum())
    (1.0, 192, 4.0)
    """

    grid: Grid
    trajectories: float
    timed: float
    way: Floats
    fixes: Floats
    stay: Floats
    presence: Floats
    departures: Floats
    origins: Floats
    trips: Floats
    pairs: Floats
    durations: Floats
    speeds: Floats
    lengths: Floats
    jumps: Floats
    radii: Floats

    @staticmethod
    def of(trajectories: Trajectories, grid: Grid, weights: NDArray[np.integer] | None = None) -> Traces:
        """Measure a batch of trajectories, each with its weight."""
        (ox, oy), (sx, sy) = grid.origin, grid.step
        # Origin and width of the fine cells, and what a unit of x and of y is in the unit of lengths.
        cells = (ox, oy, sx * grid.n / FINE, sy * grid.n / FINE)
        frame = np.array([*cells, *scale_of(grid.bounds, trajectories.crs)])
        times = trajectories.t if trajectories.t is not None else np.empty(0)
        weight = np.empty(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        lines = (trajectories.x, trajectories.y, times, trajectories.offsets)

        def work(_: int, start: int, stop: int) -> Traces:
            tables = {name: np.zeros(shape) for name, shape in SHAPES.items()}
            counted, timed = _trace(lines, weight, start, stop, frame, tuple(tables.values()))
            return Traces(grid, float(counted), float(timed), **tables)

        # Tables are large for few trajectories, so a batch has few parts.
        total = work(0, 0, 0)
        for part in map_chunks(work, len(trajectories), max(CHUNK, -(-len(trajectories) // 16))):
            total = total + part
        return total

    def __add__(self, other: Traces) -> Traces:
        return added(self, other, grid=self.grid)

    @property
    def has_times(self) -> bool:
        """Whether most of the trips have times."""
        return self.timed > 0.5 * self.trajectories

    @cached_property
    def has_clock(self) -> bool:
        """Whether times are times of day: not all trips begin in the same minute."""
        return self.has_times and bool(self.departures.max() < self.departures.sum())

    def leaving(self, profile: Floats) -> Traces:
        """Return the set with departures by a given profile of the hours of the day."""
        minutes = np.repeat(profile, len(self.departures) // len(profile))
        return replace(self, departures=minutes / minutes.sum() * self.departures.sum())

    def unlinked(self) -> Traces:
        """Return the set with place and hour made independent."""
        space, hours = self.presence.sum(axis=2), self.presence.sum(axis=(0, 1))
        zones, periods = self.origins.sum(axis=0), self.origins.sum(axis=1)
        return replace(
            self,
            presence=space[:, :, None] * hours / max(self.presence.sum(), 1e-300),
            origins=np.outer(periods, zones) / max(self.origins.sum(), 1e-300),
        )

    @cached_property
    def along(self) -> Floats:
        """The length of the lines in each fine cell, or the number of points if all lengths are 0."""
        return self.way if self.way.any() else self.fixes

    @cached_property
    def whereabouts(self) -> Floats:
        """The distribution of a fix at a random time: by seconds if times are known, otherwise by length."""
        return self.stay if self.has_times and self.stay.any() else self.along


def coarser(table: Floats, side: int) -> Floats:
    """Return a fine table summed to `side` cells per side.

    >>> coarser(np.ones((4, 4)), 2).tolist()
    [[4.0, 4.0], [4.0, 4.0]]
    """
    step = len(table) // side
    return table.reshape(side, step, side, step).sum(axis=(1, 3))


@kernel
def _trace(lines, weights, start, stop, frame, tables):  # type: ignore[no-untyped-def]
    x, y, t, offsets = lines
    way, fixes, stay, presence, departures, origins, trips, pairs = tables[:8]
    durations, speeds, lengths, jumps, radii = tables[8:]
    ox, oy, wide, high, kx, ky = frame
    counted = with_times = 0.0
    zone_step, square_step = FINE // ZONES, FINE // SQUARES
    for k in range(start, stop):
        first, last = offsets[k], offsets[k + 1] - 1
        weight = weights[k] if len(weights) else 1.0
        if last < first or weight == 0.0:
            continue
        counted += weight
        timed = len(t) > 0 and math.isfinite(t[first]) and math.isfinite(t[last]) and t[last] >= t[first]
        # Integrals over the line of its distances from the first point to the east, to the north, and squared.
        length = east = north = squared = 0.0
        a = b = 0.0
        u, v = (x[first] - ox) / wide, (y[first] - oy) / high
        i0, j0 = _cell(u), _cell(v)
        fixes[i0, j0] += weight
        for p in range(first + 1, last + 1):
            u2, v2 = (x[p] - ox) / wide, (y[p] - oy) / high
            fixes[_cell(u2), _cell(v2)] += weight
            dx, dy = (u2 - u) * wide * kx, (v2 - v) * high * ky
            step = math.sqrt(dx * dx + dy * dy)
            length += step
            c, d = (x[p] - x[first]) * kx, (y[p] - y[first]) * ky
            east += step * (a + c) / 2
            north += step * (b + d) / 2
            squared += step * (a * a + a * c + c * c + b * b + b * d + d * d) / 3
            a, b = c, d
            moment, spent = 0.0, 0.0
            if timed and t[p] > t[p - 1]:
                moment, spent = t[p - 1], t[p] - t[p - 1]
            if step > 0.0 or spent > 0.0:
                _segment((u, v, u2, v2), weight, step, moment, spent, (way, stay, presence))
            u, v = u2, v2
        i1, j1 = _cell(u), _cell(v)
        origin = (i0 // zone_step) * ZONES + j0 // zone_step
        trips[origin, (i1 // zone_step) * ZONES + j1 // zone_step] += weight
        square = (i0 // square_step) * SQUARES + j0 // square_step
        pairs[square, (i1 // square_step) * SQUARES + j1 // square_step] += weight
        lengths[_class(length)] += weight
        jumps[_class(math.sqrt(a * a + b * b))] += weight
        spread = 0.0
        if length > 0.0:
            spread = squared / length - (east / length) ** 2 - (north / length) ** 2
        radii[_class(math.sqrt(max(spread, 0.0)))] += weight
        if timed:
            with_times += weight
            minute = int((t[first] % 86400.0) / 60.0) % 1440
            departures[minute] += weight
            origins[minute // (1440 // PERIODS), origin] += weight
            spent = t[last] - t[first]
            durations[_class(spent)] += weight
            speeds[_class(length / spent if spent > 0.0 else 0.0)] += weight
    return counted, with_times


@kernel(inline="always")
def _cell(value):  # type: ignore[no-untyped-def]
    return min(max(math.floor(value), 0), FINE - 1)


@kernel
def _class(value):  # type: ignore[no-untyped-def]
    if value <= 0.0:
        return 0
    return min(max(math.floor((math.log2(value) - LOWEST) * PER_DOUBLING), 0), CLASSES - 1)


@kernel
def _segment(ends, weight, length, moment, spent, tables):  # type: ignore[no-untyped-def]
    """Divide a straight piece at the borders of the fine cells."""
    (u, v, u2, v2), (way, stay, presence) = ends, tables
    i, j = _cell(u), _cell(v)
    last_i, last_j = _cell(u2), _cell(v2)
    du, dv = u2 - u, v2 - v
    step_i, step_j = (1 if du > 0 else -1), (1 if dv > 0 else -1)
    # The share of the piece at which it crosses the next border to the side and the next one up or down.
    next_u = ((i + (1 if du > 0 else 0)) - u) / du if i != last_i else math.inf
    next_v = ((j + (1 if dv > 0 else 0)) - v) / dv if j != last_j else math.inf
    here = 0.0
    while True:
        border = min(next_u, next_v)
        ahead = min(max(border, here), 1.0) if border < math.inf else 1.0
        share = ahead - here
        way[i, j] += weight * length * share
        if spent > 0.0:
            stay[i, j] += weight * spent * share
            _hours(
                presence[i * BLOCKS // FINE, j * BLOCKS // FINE], moment + spent * here, spent * share, weight
            )
        if border == math.inf:
            return
        here = ahead
        if next_u <= next_v:
            i += step_i
            next_u = next_u + abs(1.0 / du) if i != last_i else math.inf
        else:
            j += step_j
            next_v = next_v + abs(1.0 / dv) if j != last_j else math.inf


@kernel
def _hours(row, moment, spent, weight):  # type: ignore[no-untyped-def]
    """Divide seconds from `moment` on into hours of the day."""
    while spent > 0.0:
        second = moment % DAY
        hour = min(int(second / 3600.0), HOURS - 1)
        until = (hour + 1) * 3600.0 - second
        part = spent if spent <= until else until
        row[hour] += weight * part
        if spent <= until or until <= 0.0:
            return
        moment += part
        spent -= part


# Of each user the number of `trips`, of distinct `places` (zones, 12 x 12 of them) where trips begin or end, and the
# radius of gyration of the points where trips begin or end, in `radii`.
Habits = dict[str, NDArray[Any]]


def habits_of(trips: Trajectories, users: NDArray[np.integer], grid: Grid) -> Habits:
    """Return the habits of the users of trips that all have points.

    >>> trips = Trajectories.from_lists([[(0.0, 0.0), (6.0, 0.0)], [(6.0, 0.0), (0.0, 0.0)]])
    >>> {name: each.tolist() for name, each in habits_of(trips, np.array([7, 7]), Grid((0, 0, 12, 12), 6)).items()}
    {'trips': [2], 'places': [2], 'radii': [3.0]}
    """
    scale = scale_of(grid.bounds, trips.crs)
    ends = np.concatenate((trips.offsets[:-1], trips.offsets[1:] - 1))
    _, user = np.unique(np.concatenate((users, users)), return_inverse=True)
    visits = np.bincount(user)
    zone, squared = np.zeros(len(ends), dtype=np.int64), np.zeros(len(visits))
    for axis, origin, step, metres in zip((trips.x, trips.y), grid.origin, grid.step, scale, strict=True):
        place = np.clip(np.floor((axis[ends] - origin) / (step * grid.n) * ZONES), 0, ZONES - 1)
        zone = ZONES * zone + place.astype(np.int64)
        away = axis[ends] - (np.bincount(user, axis[ends]) / visits)[user]
        squared += np.bincount(user, (away * metres) ** 2)
    known = np.unique(user * ZONES * ZONES + zone)
    places = np.bincount(known // (ZONES * ZONES), minlength=len(visits))
    return {"trips": visits // 2, "places": places, "radii": np.sqrt(squared / visits)}


def drawn_again(habits: Habits, rng: np.random.Generator) -> Habits:
    """Return as many of the users, drawn with replacement."""
    users = len(habits["trips"])
    drawn = rng.integers(0, users, users)
    return {name: each[drawn] for name, each in habits.items()}
