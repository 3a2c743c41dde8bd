"""From points to the cells of the public grid, as section 5.2 and 5.4 of the paper ask.

The same path that `ldptrace.core.paths.CellPaths` computes for many trajectories at once, tested to agree.
"""

from __future__ import annotations

from collections.abc import Iterable

from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import axis_cell, towards


def cell_path(points: Iterable[tuple[float, float]], grid: Grid) -> list[int]:
    """Cells of the trajectory: repeats removed, gaps filled by the greedy king path, outsiders clamped.

    >>> cell_path([(0.5, 0.5), (0.6, 0.5), (2.5, 2.5), (99, 2.5)], Grid((0, 0, 3, 3), 3))
    [0, 4, 8]
    """
    (ox, oy), (sx, sy), n = grid.origin, grid.step, grid.n
    path: list[int] = []
    i = j = -1
    for x, y in points:
        i2, j2 = axis_cell(x, ox, sx, n), axis_cell(y, oy, sy, n)
        if not path:
            i, j = i2, j2
            path.append(i * n + j)
        while i != i2 or j != j2:
            i, j = towards(i, i2), towards(j, j2)
            path.append(i * n + j)
    return path
