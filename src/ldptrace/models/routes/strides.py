"""The distance between the GPS fixes of a device (stride). The curator does not know it, but it decides which cells a
path misses.

A device that records a fix every minute skips cells that a device with a fix every second passes through. So the same
trip can have several cell paths. Each route of the library gets one of seven strides at random, and the share of each
stride is fitted to the answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.core.paths import CellPaths, axis_cell
from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid
from ldptrace.roads.routes import Routes

# Points of a trip from one side of the map to the other, at most.
MOST_POINTS = 200
# Mean distance between fixes, in sides of a cell, and how common each is before any answer: dense ones are.
STRIDES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0)
SHARES = (0.29, 0.28, 0.19, 0.12, 0.07, 0.03, 0.02)
# How often each is drawn before any answer: few routes need the longest ones, and none may be missing.
DRAWN = (0.2, 0.2, 0.2, 0.15, 0.1, 0.1, 0.05)
# Part of the strides that follow a fit, once there is one.
FOLLOWED = 0.9


@dataclass(frozen=True, eq=False)
class Strides:
    """The stride of each route. `kind` is the number of the stride; `apart` are the strides in seconds (if `timed`) or
    in units of length. `chance` is the probability with which the stride of each route was drawn; only a fit needs it.
    """

    kind: NDArray[np.int8]
    apart: Floats
    timed: bool
    chance: Floats | None = None

    @staticmethod
    def drawn(routes: Routes, grid: Grid, rng: np.random.Generator, fitted: Floats | None = None) -> Strides:
        """Draw a stride for each route, with fixed shares and independent of the route. Most of them follow the shares
        that a fit has found, if there is one: routes with strides that no device has carry no weight."""
        shares = np.array(DRAWN)
        if fitted is not None:
            shares = FOLLOWED * fitted + (1 - FOLLOWED) * shares
        even = (np.arange(len(routes)) + 0.5) / max(len(routes), 1)
        kind = rng.permutation(np.searchsorted(np.cumsum(shares)[:-1], even, side="right")).astype(np.int8)
        across, up = routes.roads.scale
        side = min(grid.step[0] * across, grid.step[1] * up)
        apart = side * np.array(STRIDES)
        if routes.roads.seconds is not None:
            apart *= float(routes.roads.seconds.sum() / routes.roads.length.sum())
        return Strides(kind, apart, routes.roads.seconds is not None, shares[kind])

    def joined(self, later: Strides) -> Strides:
        """Return the strides of these routes and of later ones of the same network."""
        assert self.chance is not None
        assert later.chance is not None
        kind, chance = np.append(self.kind, later.kind), np.append(self.chance, later.chance)
        return replace(self, kind=kind, chance=chance)

    def take(self, picked: Ints) -> Strides:
        """Return the strides of some routes."""
        assert self.chance is not None
        return replace(self, kind=self.kind[picked], chance=self.chance[picked])

    def shares(self, weights: Floats) -> Floats:
        """Return the share of each stride among routes of these weights."""
        totals = np.bincount(self.kind, weights, len(self.apart))
        return totals / totals.sum()

    def weighted(self, weights: Floats) -> Floats:
        """Return the weights of the routes, corrected for strides that were drawn more or less often than they are
        expected."""
        tilted = weights * np.array(SHARES)[self.kind] / self.chance
        return tilted / tilted.sum()

    def points(self, routes: Routes, picked: Ints) -> Trajectories:
        """Return the fixes of some routes, each with its stride."""
        apart = self.apart[self.kind[picked]]
        return routes.points(picked, interval=apart) if self.timed else routes.points(picked, spacing=apart)

    def trips(self, routes: Routes, picked: Ints, grid: Grid) -> Trajectories:
        """Return dense points of some routes that have the same cell paths as their fixes.

        Between two fixes, the points follow the street, but omit cells that the fixes miss.
        """
        finest = self.apart[0]
        while finest * MOST_POINTS < self.apart[0] / STRIDES[0] * grid.n:
            finest *= 2
        dense = (
            routes.points(picked, interval=finest) if self.timed else routes.points(picked, spacing=finest)
        )
        steps = np.maximum(np.round(self.apart[self.kind[picked]] / finest), 1).astype(np.int64)
        kept, frame = np.zeros(dense.points, dtype=bool), (*grid.origin, *grid.step, grid.n)

        def choose(_: int, start: int, stop: int) -> None:
            offsets = dense.offsets[start : stop + 1]
            _as_fixes(dense.x, dense.y, offsets, steps[start:stop], frame, kept)

        map_chunks(choose, len(dense))
        return dense.keep_points(kept)

    def cells(self, routes: Routes, grid: Grid) -> CellPaths:
        """Return the cell paths of all routes, as devices with these strides would record them."""
        return CellPaths.concat(
            [
                CellPaths.from_trajectories(self.points(routes, np.arange(start, stop)), grid)
                for start, stop in chunks(len(routes))
            ]
        )


@kernel
def _as_fixes(x, y, offsets, steps, frame, kept):  # type: ignore[no-untyped-def]
    """Keep every fix (each n-th point, and the last point), and those points between two fixes that lie in a cell of
    one of the two. The frame of the grid is its origin, its steps and its number of cells."""
    ox, oy, sx, sy, n = frame
    for k in range(len(steps)):
        last = offsets[k + 1] - 1
        fix = offsets[k]
        here = axis_cell(x[fix], ox, sx, n) * n + axis_cell(y[fix], oy, sy, n)
        kept[fix] = True
        while fix < last:
            next_ = min(fix + steps[k], last)
            there = axis_cell(x[next_], ox, sx, n) * n + axis_cell(y[next_], oy, sy, n)
            arrived = False
            for p in range(fix + 1, next_):
                cell = axis_cell(x[p], ox, sx, n) * n + axis_cell(y[p], oy, sy, n)
                arrived = arrived or cell == there
                kept[p] = cell == (there if arrived else here)
            kept[next_] = True
            fix, here = next_, there
