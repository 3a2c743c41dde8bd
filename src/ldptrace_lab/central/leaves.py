"""A grid of two levels: cells that many trips visit are cut into four or sixteen. A leaf is what is not cut further."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.paths import CellPaths, grid_moves
from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid
from ldptrace_lab.central.curator import Ints

# A cell is cut into at most so many parts a side; sides are powers of two, so that all leaves fit one fine lattice.
FINEST = 4


@dataclass(frozen=True, eq=False)
class Leaves:
    """Leaves of a grid, numbered cell by cell; `sides` are the parts a side of each cell."""

    grid: Grid
    sides: Ints

    @cached_property
    def fine(self) -> Grid:
        """The lattice of the smallest leaves."""
        return Grid(self.grid.bounds, self.grid.n * FINEST)

    @cached_property
    def first(self) -> Ints:
        """The first leaf of each cell, and the number of all."""
        return np.concatenate(([0], np.cumsum(self.sides**2)))

    @property
    def count(self) -> int:
        return int(self.first[-1])

    @cached_property
    def of_fine(self) -> Ints:
        """The leaf of each cell of the fine lattice."""
        i, j = np.divmod(np.arange(self.fine.cells), self.fine.n)
        cell = (i // FINEST) * self.grid.n + j // FINEST
        side = self.sides[cell]
        a, b = (i % FINEST) * side // FINEST, (j % FINEST) * side // FINEST
        return self.first[cell] + a * side + b

    @cached_property
    def edges(self) -> Ints:
        """Pairs of leaves that touch, as from * count + to, ascending."""
        table = grid_moves(self.fine.n)
        here, there = self.of_fine[table[:, 0]], self.of_fine[table[:, 2]]
        return np.unique((here * self.count + there)[here != there])

    def paths(self, real: Trajectories) -> tuple[Ints, Ints]:
        """Return leaves of each trajectory, every step to one that touches, and where each begins."""
        paths = CellPaths.from_trajectories(real, self.fine)
        leaves = self.of_fine[paths.cells]
        owners = np.repeat(np.arange(len(paths)), paths.sizes)
        kept = np.ones(len(leaves), dtype=bool)
        kept[1:] = (leaves[1:] != leaves[:-1]) | (owners[1:] != owners[:-1])
        return leaves[kept], np.searchsorted(owners[kept], np.arange(len(paths) + 1))

    def points(self, leaves: NDArray[np.int32], offsets: Ints, rng: np.random.Generator) -> Trajectories:
        """Return a uniform point in each leaf; a path of one leaf has two."""
        sizes = np.diff(offsets)
        repeats = np.ones(len(leaves), dtype=np.int64)
        repeats[offsets[:-1][sizes == 1]] = 2
        each = np.repeat(leaves, repeats)
        cell = np.searchsorted(self.first, each, "right") - 1
        side = self.sides[cell]
        a, b = np.divmod(each - self.first[cell], side)
        within = rng.random((2, len(each)))
        (ox, oy), (sx, sy), (x0, y0, x1, y1) = self.grid.origin, self.grid.step, self.grid.bounds
        x = ox + sx * (cell // self.grid.n + (a + within[0]) / side)
        y = oy + sy * (cell % self.grid.n + (b + within[1]) / side)
        starts = np.concatenate(([0], np.cumsum(np.where(sizes == 1, 2, sizes))))
        return Trajectories(x.clip(x0, x1), y.clip(y0, y1), starts)
