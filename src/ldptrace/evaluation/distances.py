"""Compute travel distances and diameters of trajectories, in metres if coordinates are degrees, and distances by
dynamic time warping (DTW). As in the reference code, the DTW distance is the sum of Euclidean distances along the
cheapest alignment. Bounds that need one pass over the points decide most pairs without the full table.
"""

from __future__ import annotations

import math

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.trajectories import Trajectories

# Up to this many points all pairs are cheaper than finding those that can be an end.
FEW = 24


def travel_distances(trajectories: Trajectories, scale: tuple[float, float] = (1.0, 1.0)) -> Floats:
    """Return the sum of the distances between consecutive points of each trajectory.

    >>> travel_distances(Trajectories.from_lists([[(0, 0), (3, 4), (3, 5)], [(1, 1)]])).tolist()
    [6.0, 0.0]
    """
    dx, dy = np.diff(trajectories.x) * scale[0], np.diff(trajectories.y) * scale[1]
    inner = ragged.inner_steps(trajectories.offsets)
    owner = ragged.owners(trajectories.offsets)[1:]
    steps = np.sqrt(dx * dx + dy * dy)[inner]
    return np.bincount(owner[inner], steps, len(trajectories)).astype(np.float64)


def diameters(trajectories: Trajectories, scale: tuple[float, float] = (1.0, 1.0)) -> Floats:
    """Return the largest distance between any two points of each trajectory.

    >>> diameters(Trajectories.from_lists([[(0, 0), (3, 4), (0, 1)], [(1, 1)]])).tolist()
    [5.0, 0.0]
    """
    out = np.empty(len(trajectories))

    def work(_: int, start: int, stop: int) -> None:
        _diameters(trajectories.x, trajectories.y, trajectories.offsets, start, stop, *scale, out)

    map_chunks(work, len(trajectories))
    return out


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
    """Copy the points that can be an end of the diameter, and return their number.

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


_CHUNK = 2048


def count_near(
    queries: Trajectories, published: Trajectories, threshold: float, most: int, *, itself: bool = False
) -> Ints:
    """Count the trajectories of `published` that are within `threshold` of each query, up to `most`. With `itself`,
    both sets are the same, and a trajectory does not match itself.
    """
    # A query meets those with similar ends first: it finds enough matches early, or there are few to find.
    labels = _end_labels(published, published)
    order = np.argsort(labels, kind="stable")
    first = np.searchsorted(labels[order], _end_labels(queries, published))
    boxes = _boxes(published.x, published.y, published.offsets)
    limits = (threshold, most, itself)
    longest = int(published.sizes.max(initial=0))
    out = np.zeros(len(queries), dtype=np.int64)
    ours, theirs = ((item.x, item.y, item.offsets) for item in (queries, published))

    def work(_: int, start: int, stop: int) -> None:
        near = out[start:stop]
        row: Floats = np.empty(longest)
        _count_near(ours, start, theirs, (boxes, order, first), limits, row, near)

    if len(published):
        map_chunks(work, len(queries), _CHUNK)
    return out


def largest_distance(trajectories: Trajectories) -> float:
    """Return the largest DTW distance between any two trajectories, computed exactly by branch and bound.

    >>> largest_distance(Trajectories.from_lists([[(0, 0)], [(3, 4)], [(3, 4), (3, 4)]]))
    10.0
    """
    x, y, offsets = trajectories.x, trajectories.y, trajectories.offsets
    boxes = _boxes(x, y, offsets)
    reach = _reach(x, y, offsets)
    order = np.argsort(-reach, kind="stable")
    best = np.zeros(1)
    most = int(trajectories.sizes.max())

    def work(_: int, start: int, stop: int) -> float:
        row: Floats = np.empty(most)
        return float(_largest((x, y, offsets), (boxes, reach, order), start, stop, row, best))

    # The first one raises `best`; then only those that reach farther are computed.
    first = work(0, 0, 1)
    return max([first, *map_chunks(work, int(np.count_nonzero(reach > first)), 16)])


def _end_labels(trajectories: Trajectories, frame: Trajectories) -> Ints:
    """Return a label for each trajectory: the boxes (4 x 4 over `frame`) of its first and last point."""
    labels = np.zeros(len(trajectories), dtype=np.int64)
    for ends in (trajectories.offsets[:-1], trajectories.offsets[1:] - 1):
        for values, framed in ((trajectories.x, frame.x), (trajectories.y, frame.y)):
            low, high = framed.min(initial=np.inf), framed.max(initial=-np.inf)
            width = high - low if high > low else 1.0
            labels = 4 * labels + np.clip(4 * (values[ends] - low) / width, 0, 3).astype(np.int64)
    return labels


@kernel
def _distance(ours, theirs, row, limit):  # type: ignore[no-untyped-def]
    """Return the DTW distance of two trajectories (x, y, first point, point after the last), or infinity if it exceeds
    `limit`."""
    (ax, ay, a0, a1), (bx, by, b0, b1) = ours, theirs
    size = b1 - b0
    for i in range(a0, a1):
        lowest = np.inf
        diagonal = 0.0 if i == a0 else np.inf
        left = np.inf
        for j in range(size):
            dx = ax[i] - bx[b0 + j]
            dy = ay[i] - by[b0 + j]
            above = row[j] if i > a0 else np.inf
            cost = math.sqrt(dx * dx + dy * dy) + min(left, min(diagonal, above))
            diagonal = above
            row[j] = cost
            left = cost
            lowest = min(lowest, cost)
        if lowest > limit:
            return np.inf
    return row[size - 1]


@kernel
def _straight(ax, ay, a0, a1, bx, by, b0, b1):  # type: ignore[no-untyped-def]
    """Return the cost of the even alignment, an upper bound of the DTW distance. `a` must not have fewer points than
    `b`."""
    long, short = a1 - a0, b1 - b0
    total = 0.0
    for i in range(long):
        dx = ax[a0 + i] - bx[b0 + i * short // long]
        dy = ay[a0 + i] - by[b0 + i * short // long]
        total += math.sqrt(dx * dx + dy * dy)
    return total


def _boxes(x: Floats, y: Floats, offsets: Ints) -> Floats:
    """Return the smallest x and y and the largest x and y of each trajectory, which all have points."""
    low, high = np.minimum.reduceat, np.maximum.reduceat
    first = offsets[:-1]
    return np.stack((low(x, first), low(y, first), high(x, first), high(y, first)), axis=1)


@kernel
def _outside(x, y, first, last, box, limit):  # type: ignore[no-untyped-def]
    """Whether the distances of the points to the box, a lower bound of DTW, already exceed `limit`."""
    total = 0.0
    for p in range(first, last):
        dx = max(0.0, max(box[0] - x[p], x[p] - box[2]))
        dy = max(0.0, max(box[1] - y[p], y[p] - box[3]))
        total += math.sqrt(dx * dx + dy * dy)
        if total > limit:
            return True
    return False


@kernel
def _count_near(ours, start, theirs, index, limits, row, out):  # type: ignore[no-untyped-def]
    (ax, ay, a_offsets), (bx, by, b_offsets) = ours, theirs
    (boxes, order, first), (threshold, most, itself) = index, limits
    for number in range(len(out)):
        q = start + number
        a0, a1 = a_offsets[q], a_offsets[q + 1]
        near = 0
        for step in range(len(order)):
            if near == most:
                break
            k = order[(first[q] + step) % len(order)]
            if itself and k == q:
                continue
            b0, b1 = b_offsets[k], b_offsets[k + 1]
            if a1 - a0 >= b1 - b0:
                cheap = _straight(ax, ay, a0, a1, bx, by, b0, b1)
            else:
                cheap = _straight(bx, by, b0, b1, ax, ay, a0, a1)
            if cheap <= threshold:
                near += 1
            elif not _outside(ax, ay, a0, a1, boxes[k], threshold):
                near += _distance((ax, ay, a0, a1), (bx, by, b0, b1), row, threshold) <= threshold
        out[number] = near


def _reach(x: Floats, y: Floats, offsets: Ints) -> Floats:
    """Return an upper bound of the DTW distance to any trajectory with no more points: the sum of the distances to the
    farthest corner, and a hair more against rounding."""
    far = np.hypot(np.maximum(x - x.min(), x.max() - x), np.maximum(y - y.min(), y.max() - y))
    return np.add.reduceat(far, offsets[:-1]) * (1 + 1e-12)


@kernel
def _largest(lines, index, start, stop, row, shared):  # type: ignore[no-untyped-def]
    """Return the largest distance of the trajectories order[start:stop] to all others with no more points. `shared` is
    the largest distance that any thread has found so far; it only skips work, so a lost update does not change the
    result.
    """
    (x, y, offsets), (boxes, reach, order) = lines, index
    best = shared[0]
    for rank in range(start, stop):
        a = order[rank]
        best = max(best, shared[0])
        if reach[a] <= best:
            break
        a0, a1 = offsets[a], offsets[a + 1]
        for b in range(len(reach)):
            b0, b1 = offsets[b], offsets[b + 1]
            if b1 - b0 > a1 - a0:
                continue
            dx = max(boxes[a, 2] - boxes[b, 0], boxes[b, 2] - boxes[a, 0])
            dy = max(boxes[a, 3] - boxes[b, 1], boxes[b, 3] - boxes[a, 1])
            if (a1 - a0) * math.sqrt(dx * dx + dy * dy) <= best:
                continue
            if _straight(x, y, a0, a1, x, y, b0, b1) > best:
                best = max(best, _distance((x, y, a0, a1), (x, y, b0, b1), row, np.inf))
        shared[0] = max(shared[0], best)
    return best
