"""From regions to places and times: forward filtering, backward sampling over (place, step).

Every completion that is feasible (open places, reachable in time, strictly increasing steps) has its exact
chance; nothing is drawn and rejected. Regions that follow each other in pairs can be impossible together:
then the hours of the regions are widened, and in the end places may change between them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats, Ints32
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace_lab.ngram.cells import Sizes
from ldptrace_lab.ngram.full.regions import Regions

# Few trajectories per chunk: each of them is worth a millisecond.
CHUNK = 1 << 10


class _World(NamedTuple):
    """The public knowledge as plain arrays for the kernels."""

    x: Floats
    y: Floats
    weight: Floats
    metres_per_step: float
    open: NDArray[np.bool_]
    of: Ints32
    per_interval: int
    offsets: Sizes
    places: Ints32
    first: Ints32
    last: Ints32
    # The place that is open longest.
    longest: int


def complete(
    regions: Regions, found: Ints32, offsets: Sizes, by_popularity: bool, rng: np.random.Generator
) -> tuple[Ints32, Ints32]:
    """Return a place and a step for every region of every trajectory, uniformly among all that are feasible.

    With `by_popularity` the chance of a completion is in proportion to the product of the places' weights.
    """
    weight = regions.pois.popularity if by_popularity else np.ones(len(regions.pois))
    member_offsets, members = regions.members
    world = _World(
        regions.x,
        regions.y,
        np.ascontiguousarray(weight),
        regions.metres_per_step,
        regions.open,
        regions.of,
        regions.knowledge.per_interval,
        member_offsets,
        members,
        *regions.spans,
        int(regions.open.sum(axis=1).argmax()),
    )
    poi, step = np.empty(len(found), dtype=np.int32), np.empty(len(found), dtype=np.int32)
    sources = rng.spawn(len(chunks(len(offsets) - 1, CHUNK)))

    def work(number: int, start: int, stop: int) -> None:
        complete_places(world, found, offsets[start : stop + 1], sources[number], poi, step)

    map_chunks(work, len(offsets) - 1, CHUNK)
    return poi, step


@kernel
def complete_places(world, found, offsets, rng, poi, step):  # type: ignore[no-untyped-def]
    longest, most = 1, 1
    for k in range(len(offsets) - 1):
        longest = max(longest, offsets[k + 1] - offsets[k])
    for r in range(len(world.offsets) - 1):
        most = max(most, world.offsets[r + 1] - world.offsets[r])
    steps = world.open.shape[1]
    ways = np.empty((longest, most, steps))
    for k in range(len(offsets) - 1):
        first, last = offsets[k], offsets[k + 1]
        if first == last:
            continue
        widen = 0
        regions = found[first:last]
        pool = world.places[:0]
        while not _forward(world, regions, widen, pool, ways):
            if widen == 0:
                widen = world.per_interval
            elif widen < steps:
                widen *= 2
            elif regions[0] < 0:
                raise ValueError("there are more visits than steps")
            else:
                # Not even at other hours: any of these regions will do, or the place that is open longest.
                pool = _pool(world, regions)
                regions = np.full(last - first, -1, dtype=np.int32)
                if ways.shape[1] < len(pool):
                    ways = np.empty((longest, len(pool), steps))
        _backward(world, regions, pool, ways, rng, poi[first:last], step[first:last])


@kernel
def _pool(world, regions):  # type: ignore[no-untyped-def]
    """Return all places of the regions, and the place that is open longest, where any number of visits is possible."""
    picked = np.zeros(len(world.x), dtype=np.bool_)
    picked[world.longest] = True
    for region in regions:
        for m in range(world.offsets[region], world.offsets[region + 1]):
            picked[world.places[m]] = True
    return np.flatnonzero(picked).astype(np.int32)


@kernel
def _choices(world, region, pool):  # type: ignore[no-untyped-def]
    """Return the places of a region; of no region (-1) those of the pool."""
    return pool if region < 0 else world.places[world.offsets[region] : world.offsets[region + 1]]


@kernel
def _window(world, region, m, widen):  # type: ignore[no-untyped-def]
    """Return the steps [first, end) in which a place of a region may be visited, regardless of opening hours."""
    if region < 0:
        return 0, world.open.shape[1]
    at = world.offsets[region] + m
    return max(0, world.first[at] - widen), min(world.open.shape[1], world.last[at] + widen + 1)


@kernel
def _admits(world, region, place, s, widen):  # type: ignore[no-untyped-def]
    """Whether the place is open, and in the region at that step unless its hours were widened."""
    if not world.open[place, s]:
        return False
    return region < 0 or widen > 0 or world.of[place, s // world.per_interval] == region


@kernel
def _steps_between(world, a, b):  # type: ignore[no-untyped-def]
    """Return the number of steps that it takes to get from one place to another, at least one."""
    dx, dy = world.x[a] - world.x[b], world.y[a] - world.y[b]
    return max(1, int(np.ceil(np.sqrt(dx * dx + dy * dy) / world.metres_per_step)))


@kernel
def _forward(world, regions, widen, pool, ways):  # type: ignore[no-untyped-def]
    """Compute ways[i, m, s], the weight of all beginnings that reach place m of region i at step s or before; return
    whether there are any.

    Cumulative over steps, so that "left early enough" is one look-up. False when nothing is feasible.
    """
    steps = world.open.shape[1]
    for i in range(len(regions)):
        places = _choices(world, regions[i], pool)
        total = 0.0
        for m in range(len(places)):
            row = ways[i, m]
            row[:] = 0.0
            begin, end = _window(world, regions[i], m, widen)
            if i == 0:
                row[begin:end] = 1.0
            else:
                before = _choices(world, regions[i - 1], pool)
                for b in range(len(before)):
                    if ways[i - 1, b, steps - 1] == 0.0:
                        continue
                    walk = _steps_between(world, before[b], places[m])
                    for s in range(max(begin, walk), end):
                        row[s] += ways[i - 1, b, s - walk]
            running = 0.0
            for s in range(steps):
                if begin <= s < end and row[s] > 0.0 and _admits(world, regions[i], places[m], s, widen):
                    running += row[s] * world.weight[places[m]]
                row[s] = running
            total += running
        if total == 0.0:
            return False
        for m in range(len(places)):
            ways[i, m] /= total
    return True


@kernel
def _backward(world, regions, pool, ways, rng, poi, step):  # type: ignore[no-untyped-def]
    """Draw the last place and step, then what came before, each by the weight of all beginnings."""
    steps = world.open.shape[1]
    for i in range(len(regions) - 1, -1, -1):
        places = _choices(world, regions[i], pool)
        latest = np.full(len(places), steps - 1)
        if i < len(regions) - 1:
            for m in range(len(places)):
                latest[m] = step[i + 1] - _steps_between(world, places[m], poi[i + 1])
        total = 0.0
        for m in range(len(places)):
            if latest[m] >= 0:
                total += ways[i, m, latest[m]]
        rest = rng.random() * total
        pick = -1
        for m in range(len(places)):
            if latest[m] >= 0 and ways[i, m, latest[m]] > 0.0 and rest >= 0.0:
                pick = m
                rest -= ways[i, m, latest[m]]
        poi[i] = places[pick]
        row = ways[i, pick]
        level = rng.random() * row[latest[pick]]
        s = 0
        while row[s] <= level:
            s += 1
        step[i] = s
