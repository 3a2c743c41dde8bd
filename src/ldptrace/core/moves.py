"""The moves of a grid as NumPy tables: what the curator and the simulator look up all the time."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ldptrace.protocol import lattice
from ldptrace.protocol.grid import Grid


@lru_cache(maxsize=16)
def grid_moves(n: int) -> NDArray[np.int32]:
    """Feasible moves of the n x n lattice, one row (cell, direction, target) each; the row number is the item number.

    >>> grid_moves(6).shape
    (220, 3)
    """
    return _fixed(np.array(list(lattice.moves(n)), dtype=np.int32))


@lru_cache(maxsize=16)
def move_items(n: int) -> NDArray[np.int32]:
    """Item number of the move in direction `k` out of cell `c`, at `8 * c + k`; -1 leaves the map."""
    items = np.full(8 * n * n, -1, dtype=np.int32)
    cell, direction, _ = grid_moves(n).T
    items[8 * cell + direction] = np.arange(len(cell), dtype=np.int32)
    return _fixed(items)


@lru_cache(maxsize=16)
def link_items(n: int) -> NDArray[np.int32]:
    """Item number of that move's link, direction left open; -1 leaves the map."""
    items = np.full(8 * n * n, -1, dtype=np.int32)
    for cell, direction, target in grid_moves(n).tolist():
        items[8 * cell + direction] = lattice.link_item(cell, target, n)
    return _fixed(items)


def inside(grid: Grid, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which points lie in the bounds, the border included."""
    x0, y0, x1, y1 = grid.bounds
    return (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)


def _fixed(table: NDArray[np.int32]) -> NDArray[np.int32]:
    """Shared by all callers, so it must not be written to."""
    table.flags.writeable = False
    return table
