"""From points to the cells of the public grid, as section 5.2 and 5.4 of the paper ask, and to the trip's times.

The same path that `ldptrace.core.paths.CellPaths` computes for many trajectories at once, tested to agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import axis_cell, towards
from ldptrace.protocol.trips import Trip, clock

# x and y, and where it is known t: seconds since the beginning of 1970 on the device's own clock.
Point = Sequence[float]


def trip_of(points: Iterable[Point], grid: Grid) -> Trip:
    """All that the questions may look at. Without a time at both ends, or with a broken one, times are unknown.

    >>> trip_of([(0.5, 0.5, 30.0), (2.5, 2.5, 90.0)], Grid((0, 0, 3, 3), 3)).seconds
    60.0
    >>> trip_of([(0.5, 0.5), (2.5, 2.5)], Grid((0, 0, 3, 3), 3)).seconds is None
    True
    """
    track = list(points)
    times = [clock(point[2]) if len(point) > 2 else None for point in (track[:1] + track[-1:])]
    departure, arrival = times if times and None not in times else (None, None)
    return Trip(cell_path(track, grid), [(point[0], point[1]) for point in track], departure, arrival)


def cell_path(points: Iterable[Point], grid: Grid) -> list[int]:
    """Cells of the trajectory: repeats removed, gaps filled by the greedy king path, outsiders clamped.

    >>> cell_path([(0.5, 0.5), (0.6, 0.5), (2.5, 2.5), (99, 2.5)], Grid((0, 0, 3, 3), 3))
    [0, 4, 8]
    """
    (ox, oy), (sx, sy), n = grid.origin, grid.step, grid.n
    path: list[int] = []
    i = j = -1
    for point in points:
        i2, j2 = axis_cell(point[0], ox, sx, n), axis_cell(point[1], oy, sy, n)
        if not path:
            i, j = i2, j2
            path.append(i * n + j)
        while i != i2 or j != j2:
            i, j = towards(i, i2), towards(j, j2)
            path.append(i * n + j)
    return path
