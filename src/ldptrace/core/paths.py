"""Cell paths: trajectories on the grid, every step to an adjacent cell (sections 5.2 and 5.4); tables of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from ldptrace.core import ragged
from ldptrace.core.arrays import Ints, Ints32, make_columns
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.protocol import lattice
from ldptrace.protocol.grid import Grid


@lru_cache(maxsize=16)
def grid_moves(n: int) -> Ints32:
    """Return the possible moves of the n x n grid, one row (cell, direction, target) each. The row number is the item
    number.

    >>> grid_moves(6).shape
    (220, 3)
    """
    return _fixed(np.array(list(lattice.moves(n)), dtype=np.int32))


@lru_cache(maxsize=16)
def move_items(n: int) -> Ints32:
    """Return, at `8 * c + k`, the item number of the move from cell `c` in direction `k`, or -1 if the move leaves the
    map."""
    items = np.full(8 * n * n, -1, dtype=np.int32)
    cell, direction, _ = grid_moves(n).T
    items[8 * cell + direction] = np.arange(len(cell), dtype=np.int32)
    return _fixed(items)


@lru_cache(maxsize=16)
def link_items(n: int) -> Ints32:
    """Return the item number of the link that a move follows, in either direction, or -1 if the move leaves the map."""
    items = np.full(8 * n * n, -1, dtype=np.int32)
    for cell, direction, target in grid_moves(n).tolist():
        items[8 * cell + direction] = lattice.link_item(cell, target, n)
    return _fixed(items)


@lru_cache(maxsize=16)
def bend_items(n: int) -> Ints32:
    """Return, at `8 * move + k`, the item number of the bend of a move (by its item number) and a next move in
    direction `k`, or -1 if that move leaves the map."""
    _, direction, target = grid_moves(n).T
    outward = move_items(n).reshape(-1, 8)
    first = outward.max(axis=1, initial=-1) + 1
    # The place of each direction among the moves out of a cell.
    place = np.where(outward >= 0, outward - np.r_[0, first[:-1]][:, None], -1)
    before, after = place[target, 7 - direction][:, None], place[target]
    low, high = np.minimum(before, after), np.maximum(before, after)
    around = (place >= 0).sum(axis=1)
    begins = ragged.offsets_of(around * (around + 1) // 2)[:-1]
    items = begins[target][:, None] + high * (high + 1) // 2 + low
    return _fixed(np.where(after >= 0, items, -1).astype(np.int32).ravel())


@lru_cache(maxsize=16)
def districts_of(n: int, districts: int) -> Ints32:
    """Return the district of each cell, of `districts` x `districts`."""
    return _fixed(np.array([lattice.district(cell, n, districts) for cell in range(n * n)], dtype=np.int32))


def _fixed(table: Ints32) -> Ints32:
    """Make an array read-only, because all callers share it."""
    table.flags.writeable = False
    return table


axis_cell = kernel(lattice.axis_cell)
_towards = kernel(lattice.towards)
direction_of = kernel(lattice.direction)


@dataclass(frozen=True, eq=False)
class CellPaths:
    """A set of cell paths: trips as lists of cell numbers.

    Two consecutive cells of a path are neighbours. An empty path stands for a device without a trip.
    """

    cells: Ints32
    offsets: Ints
    grid: Grid

    def __post_init__(self) -> None:
        make_columns(self, np.int32, "cells")
        make_columns(self, np.int64, "offsets")
        if len(self.offsets) == 0 or self.offsets[0] != 0 or self.offsets[-1] != len(self.cells):
            raise InputError(f"offsets must run from 0 to the number of cells, {len(self.cells)}")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        """Number of cells of each path."""
        return np.diff(self.offsets)

    def take(self, indices: ArrayLike) -> CellPaths:
        """Return the paths at these indices (numbers or a mask), in the order of the indices."""
        picked = np.asarray(indices)
        picked = np.flatnonzero(picked) if picked.dtype == np.bool_ else picked.astype(np.int64)
        offsets, source = ragged.taken(self.offsets, picked)
        return CellPaths(self.cells[source], offsets, self.grid)

    def part(self, start: int, stop: int) -> CellPaths:
        """Return the paths from index `start` up to, but not including, `stop`. Cells are not copied."""
        first, last = self.offsets[start], self.offsets[stop]
        return CellPaths(self.cells[first:last], self.offsets[start : stop + 1] - first, self.grid)

    @staticmethod
    def concat(parts: Sequence[CellPaths]) -> CellPaths:
        """Join one or more sets of paths on the same grid, in the given order."""
        offsets = ragged.offsets_of(np.concatenate([part.sizes for part in parts]))
        return CellPaths(np.concatenate([part.cells for part in parts]), offsets, parts[0].grid)

    def coarser(self, blocks: int) -> CellPaths:
        """Return the paths on a coarser grid. Each new cell covers `blocks` x `blocks` old cells.

        >>> CellPaths.from_lists([[0, 1, 5, 10]], Grid((0, 0, 4, 4), 4)).coarser(2).cells.tolist()
        [0, 3]
        """
        n = self.grid.n
        if n % blocks:
            raise InputError(f"{n} cells per side cannot be joined to blocks of {blocks}")
        i, j = np.divmod(self.cells, n)
        joined = i // blocks * (n // blocks) + j // blocks
        kept = np.append(True, joined[1:] != joined[:-1])[: len(joined)]
        kept[self.offsets[:-1][self.sizes > 0]] = True
        coarse = Grid(self.grid.bounds, n // blocks)
        return CellPaths(joined[kept], ragged.kept(self.offsets, kept), coarse)

    def starts(self) -> Ints32:
        """Return the first cell of every path, without empty paths."""
        return self.cells[self.offsets[:-1][self.sizes > 0]]

    def ends(self) -> Ints32:
        """Return the last cell of every path, without empty paths."""
        return self.cells[self.offsets[1:][self.sizes > 0] - 1]

    @staticmethod
    def from_lists(paths: Sequence[Sequence[int]], grid: Grid) -> CellPaths:
        """Make paths from Python lists of cell numbers."""
        offsets = ragged.offsets_of([len(path) for path in paths])
        return CellPaths(np.array([cell for path in paths for cell in path], dtype=np.int32), offsets, grid)

    @staticmethod
    def from_trajectories(trajectories: Trajectories, grid: Grid) -> CellPaths:
        """Find the cells that each trajectory crosses, in order.

        Between two distant points, the path goes from cell to neighbouring cell, also diagonally. A point outside the
        bounds belongs to the nearest cell at the border.

        >>> line = Trajectories.from_lists([[(0.5, 0.5), (0.6, 0.5), (2.5, 2.5)]])
        >>> CellPaths.from_trajectories(line, Grid((0, 0, 3, 3), 3)).cells.tolist()
        [0, 4, 8]
        """
        (ox, oy), (sx, sy) = grid.origin, grid.step
        x, y, offsets, n = trajectories.x, trajectories.y, trajectories.offsets, grid.n
        parts = map_chunks(
            lambda _, start, stop: _discretise(x, y, offsets, start, stop, ox, oy, sx, sy, n),
            len(trajectories),
        )
        return CellPaths(*ragged.joined(parts), grid)


@kernel
def _discretise(x, y, offsets, start, stop, ox, oy, sx, sy, n):  # type: ignore[no-untyped-def]
    """Return the cells of the trajectories start to stop - 1, and the number of cells of each."""
    cells = np.empty(min(offsets[stop] - offsets[start], 1024) + 16, dtype=np.int32)
    sizes = np.zeros(stop - start, dtype=np.int64)
    # Most points are well inside the cell of the point before, by more than any rounding: no division is needed.
    rim_x, rim_y = 1e-9 * sx + 1e-14 * (abs(ox) + n * sx), 1e-9 * sy + 1e-14 * (abs(oy) + n * sy)
    filled = 0
    for k in range(start, stop):
        first = filled
        i = j = -1
        left = low = np.inf
        right = high = -np.inf
        for p in range(offsets[k], offsets[k + 1]):
            if left < x[p] < right and low < y[p] < high:
                continue
            i2 = axis_cell(x[p], ox, sx, n)
            j2 = axis_cell(y[p], oy, sy, n)
            left, right = ox + sx * i2 + rim_x, ox + sx * (i2 + 1) - rim_x
            low, high = oy + sy * j2 + rim_y, oy + sy * (j2 + 1) - rim_y
            if i == -1:
                i, j = i2, j2
                if filled == len(cells):
                    cells = grown(cells)
                cells[filled] = i * n + j
                filled += 1
            while i != i2 or j != j2:
                i = _towards(i, i2)
                j = _towards(j, j2)
                if filled == len(cells):
                    cells = grown(cells)
                cells[filled] = i * n + j
                filled += 1
        sizes[k - start] = filled - first
    return cells[:filled], sizes


@kernel
def grown(cells):  # type: ignore[no-untyped-def]
    """Return an array of twice the size that begins with these values."""
    # In loops, not slices: what numba compiles to complain of slices takes seconds.
    larger = np.empty(2 * len(cells), dtype=cells.dtype)
    for k in range(len(cells)):
        larger[k] = cells[k]
    return larger
