"""How far a trajectory goes: travel distance and diameter, in the units of the plane or in metres."""

from __future__ import annotations

import math

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.core.crs import METRES_PER_DEGREE
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid

# Up to this many points all pairs are cheaper than finding those that can be an end.
FEW = 24


def metric_scale(grid: Grid, *, geographic: bool) -> tuple[float, float]:
    """Metres per unit of x and y: the equirectangular plane at the centre of the bounds; (1, 1) when planar.

    >>> metric_scale(Grid((0, 0, 1, 1), 2), geographic=False)
    (1.0, 1.0)
    """
    if not geographic:
        return 1.0, 1.0
    _, south, _, north = grid.bounds
    return METRES_PER_DEGREE * math.cos(math.radians((south + north) / 2)), METRES_PER_DEGREE


def travel_distances(trajectories: Trajectories, scale: tuple[float, float] = (1.0, 1.0)) -> Floats:
    """Sum of the distances between consecutive points of each trajectory.

    >>> travel_distances(Trajectories.from_lists([[(0, 0), (3, 4), (3, 5)], [(1, 1)]])).tolist()
    [6.0, 0.0]
    """
    return _per_trajectory(_travel_distances, trajectories, scale)


def diameters(trajectories: Trajectories, scale: tuple[float, float] = (1.0, 1.0)) -> Floats:
    """Largest distance between any two points of each trajectory.

    >>> diameters(Trajectories.from_lists([[(0, 0), (3, 4), (0, 1)], [(1, 1)]])).tolist()
    [5.0, 0.0]
    """
    return _per_trajectory(_diameters, trajectories, scale)


def _per_trajectory(kernel, trajectories: Trajectories, scale: tuple[float, float]) -> Floats:  # type: ignore[no-untyped-def]
    out = np.empty(len(trajectories))

    def work(_: int, start: int, stop: int) -> None:
        kernel(trajectories.x, trajectories.y, trajectories.offsets, start, stop, scale[0], scale[1], out)

    map_chunks(work, len(trajectories))
    return out


@kernel
def _travel_distances(x, y, offsets, start, stop, kx, ky, out):  # type: ignore[no-untyped-def]
    for k in range(start, stop):
        total = 0.0
        for p in range(offsets[k] + 1, offsets[k + 1]):
            dx = (x[p] - x[p - 1]) * kx
            dy = (y[p] - y[p - 1]) * ky
            total += math.sqrt(dx * dx + dy * dy)
        out[k] = total


@kernel
def _diameters(x, y, offsets, start, stop, kx, ky, out):  # type: ignore[no-untyped-def]
    largest = 0
    for k in range(start, stop):
        largest = max(largest, offsets[k + 1] - offsets[k])
    ends = np.empty((2, largest))
    for k in range(start, stop):
        first, last = offsets[k], offsets[k + 1]
        if last - first <= FEW:
            out[k] = _farthest(x[first:last], y[first:last], last - first, kx, ky)
            continue
        size = _possible_ends(x[first:last], y[first:last], kx, ky, ends)
        out[k] = _farthest(ends[0], ends[1], size, kx, ky)


@kernel
def _possible_ends(x, y, kx, ky, ends):  # type: ignore[no-untyped-def]
    """Copy the points that can be an end of the diameter; returns how many.

    Two points are no farther apart than the sum of their distances to the centre, so one that is nearer to it
    than a chord that exists, less the largest distance to the centre, cannot be an end.
    """
    west = east = south = north = 0
    for p in range(1, len(x)):
        west = p if x[p] < x[west] else west
        east = p if x[p] > x[east] else east
        south = p if y[p] < y[south] else south
        north = p if y[p] > y[north] else north
    chord = 0.0
    for a, b in ((west, east), (south, north), (west, north), (west, south), (east, north), (east, south)):
        dx, dy = (x[a] - x[b]) * kx, (y[a] - y[b]) * ky
        chord = max(chord, dx * dx + dy * dy)
    centre_x, centre_y = (x[west] + x[east]) / 2, (y[south] + y[north]) / 2
    farthest = 0.0
    for p in range(len(x)):
        dx, dy = (x[p] - centre_x) * kx, (y[p] - centre_y) * ky
        farthest = max(farthest, dx * dx + dy * dy)
    # A hair less than the bound, against rounding.
    nearest = max(0.0, math.sqrt(chord) * (1.0 - 1e-12) - math.sqrt(farthest))
    size = 0
    for p in range(len(x)):
        dx, dy = (x[p] - centre_x) * kx, (y[p] - centre_y) * ky
        if dx * dx + dy * dy >= nearest * nearest:
            ends[0, size] = x[p]
            ends[1, size] = y[p]
            size += 1
    return size


@kernel
def _farthest(x, y, size, kx, ky):  # type: ignore[no-untyped-def]
    best = 0.0
    for i in range(size):
        for j in range(i):
            dx = (x[i] - x[j]) * kx
            dy = (y[i] - y[j]) * ky
            best = max(best, dx * dx + dy * dy)
    return math.sqrt(best)
