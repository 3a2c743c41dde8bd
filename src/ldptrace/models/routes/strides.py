"""How far apart the fixes of a device are: unknown to the curator, and it decides which corners a path cuts.

A device that records every minute skips cells that one with a fix every second passes through, so the same street
trip has several cell paths. Every route of the library gets one of a few strides at random; how common each is, is
fitted to the answers like everything else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol import lattice
from ldptrace.protocol.grid import Grid
from ldptrace.roads.routes import Routes

_axis_cell = kernel(lattice.axis_cell)

# Points of a trip from one side of the map to the other, at most.
MOST_POINTS = 200
# Mean distance between fixes, in sides of a cell, and how common each is before any answer: dense ones are.
STRIDES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0)
SHARES = (0.29, 0.28, 0.19, 0.12, 0.07, 0.03, 0.02)
# How often each is drawn, in twentieths: few routes need the longest ones, and none may be missing.
DRAWN = (4, 4, 4, 3, 2, 2, 1)


@dataclass(frozen=True, eq=False)
class Strides:
    """The stride of every route: `kind` numbers it, `apart` says it in seconds (`timed`) or units of length."""

    kind: NDArray[np.int8]
    apart: Floats
    timed: bool

    @staticmethod
    def drawn(routes: Routes, grid: Grid, rng: np.random.Generator) -> Strides:
        """Strides as often as they are to be drawn, whatever else routes have in common."""
        pattern = np.repeat(np.arange(len(STRIDES)), DRAWN)
        kind = rng.permutation(pattern[np.arange(len(routes)) % len(pattern)]).astype(np.int8)
        across, up = routes.roads.scale
        side = min(grid.step[0] * across, grid.step[1] * up)
        apart = side * np.array(STRIDES)
        if routes.roads.seconds is not None:
            apart *= float(routes.roads.seconds.sum() / routes.roads.length.sum())
        return Strides(kind, apart, routes.roads.seconds is not None)

    def weighted(self, weights: Floats) -> Floats:
        """Weights of the routes times how common their strides are, over how often they were drawn."""
        tilted = weights * (np.array(SHARES) / np.array(DRAWN))[self.kind]
        return tilted / tilted.sum()

    def points(self, routes: Routes, picked: Ints) -> Trajectories:
        """The fixes of some routes, each at its stride."""
        apart = self.apart[self.kind[picked]]
        return routes.points(picked, interval=apart) if self.timed else routes.points(picked, spacing=apart)

    def trips(self, routes: Routes, picked: Ints, grid: Grid) -> Trajectories:
        """Dense points of some routes that make the same paths on a grid as their fixes do.

        Between two fixes the line of the street is followed, without what lies in cells that the fixes miss: the
        device of such a trip would not have been seen there.
        """
        finest = self.apart[0]
        while finest * MOST_POINTS < self.apart[0] / STRIDES[0] * grid.n:
            finest *= 2
        dense = (
            routes.points(picked, interval=finest) if self.timed else routes.points(picked, spacing=finest)
        )
        steps = np.maximum(np.round(self.apart[self.kind[picked]] / finest), 1).astype(np.int64)
        kept = np.zeros(dense.points, dtype=bool)
        (ox, oy), (sx, sy) = grid.origin, grid.step

        def choose(_: int, start: int, stop: int) -> None:
            _as_fixes(
                dense.x,
                dense.y,
                dense.offsets[start : stop + 1],
                steps[start:stop],
                ox,
                oy,
                sx,
                sy,
                grid.n,
                kept,
            )

        map_chunks(choose, len(dense))
        running = ragged.offsets_of(kept)
        t = None if dense.t is None else dense.t[kept]
        return replace(dense, x=dense.x[kept], y=dense.y[kept], offsets=running[dense.offsets], t=t)

    def cells(self, routes: Routes, grid: Grid) -> CellPaths:
        """The paths of all routes on a grid, as devices with these strides cut them."""
        parts = [
            CellPaths.from_trajectories(self.points(routes, np.arange(start, stop)), grid)
            for start, stop in chunks(len(routes))
        ]
        offsets = ragged.offsets_of(np.concatenate([part.sizes for part in parts]))
        return CellPaths(np.concatenate([part.cells for part in parts]), offsets, grid)


@kernel
def _as_fixes(x, y, offsets, steps, ox, oy, sx, sy, n, kept):  # type: ignore[no-untyped-def]
    """Keep every fix (each n-th point, and the last), and the points between two fixes in the cells of these."""
    for k in range(len(steps)):
        last = offsets[k + 1] - 1
        fix = offsets[k]
        here = _axis_cell(x[fix], ox, sx, n) * n + _axis_cell(y[fix], oy, sy, n)
        kept[fix] = True
        while fix < last:
            next_ = min(fix + steps[k], last)
            there = _axis_cell(x[next_], ox, sx, n) * n + _axis_cell(y[next_], oy, sy, n)
            arrived = False
            for p in range(fix + 1, next_):
                cell = _axis_cell(x[p], ox, sx, n) * n + _axis_cell(y[p], oy, sy, n)
                arrived = arrived or cell == there
                kept[p] = cell == (there if arrived else here)
            kept[next_] = True
            fix, here = next_, there
