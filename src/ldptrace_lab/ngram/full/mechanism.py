"""NGRAM with all its public knowledge: visits -> regions -> perturbed bigrams -> regions -> visits.

From regions to places and times: forward filtering, backward sampling over (place, step). Every completion that is
feasible (open places, reachable in time, strictly increasing steps) has its exact chance; nothing is drawn and
rejected. Regions that follow each other in pairs can be impossible together: then the hours of the regions are widened,
and in the end places may change between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints32
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.errors import InputError
from ldptrace.options import option
from ldptrace_lab.campus.pois import DAY, Visits
from ldptrace_lab.ngram.cells import (
    LONGEST_DISTANCE,
    UNREACHABLE,
    Hiding,
    Sizes,
    least,
    pick,
    randomized_sizes,
    stretched,
)
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
    regions: Regions, visits: Ints32, offsets: Sizes, by_popularity: bool, rng: np.random.Generator
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
    poi, step = np.empty(len(visits), dtype=np.int32), np.empty(len(visits), dtype=np.int32)
    _each(len(offsets) - 1, rng, partial(complete_places, world, visits, offsets, poi, step))
    return poi, step


def _each(many: int, rng: np.random.Generator, work: Callable[[int, int, np.random.Generator], None]) -> None:
    """Do the work for chunks of trajectories, each with random numbers of its own."""
    sources = rng.spawn(len(chunks(many, CHUNK)))
    map_chunks(lambda number, start, stop: work(start, stop, sources[number]), many, CHUNK)


@kernel
def complete_places(world, visits, offsets, poi, step, start, stop, rng):  # type: ignore[no-untyped-def]
    longest, steps = np.diff(offsets[start : stop + 1]).max(), world.open.shape[1]
    ways = np.empty((longest, np.diff(world.offsets).max(), steps))
    for k in range(start, stop):
        first, last = offsets[k], offsets[k + 1]
        if first == last:
            continue
        widen = 0
        regions = visits[first:last]
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


@dataclass(frozen=True, kw_only=True)
class Drawing(Hiding):
    """How visits are drawn from what was perturbed."""

    by_popularity: bool = option(
        False, help="Whether places of a region are drawn by their weight instead of evenly."
    )
    longest: int = option(8, help="With hide_length, the most visits.", least=1)


@dataclass(frozen=True, eq=False)
class NgramFull(Drawing):
    """The mechanism of one table of places and one budget, with bigrams.

    `hide_length` sends the number of visits through randomized response over 1..`longest`.
    """

    regions: Regions
    epsilon: float = option(help="The budget of one trajectory.", above=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.longest > self.most_visits:
            raise InputError(
                f"longest must be a number of visits from 1 to {self.most_visits}, got {self.longest!r}"
            )

    @property
    def most_visits(self) -> int:
        """Steps that the place with the longest hours is open: for so many visits there is always room."""
        return int(self.regions.open.sum(axis=1).max())

    @cached_property
    def distances(self) -> NDArray[np.int64]:
        """Distances between regions as whole numbers."""
        apart = self.regions.distances
        return np.rint(apart / max(apart.max(), 1e-300) * LONGEST_DISTANCE).astype(np.int64)

    def perturb(self, visits: Visits, rng: np.random.Generator) -> Visits:
        """Return one perturbed trajectory of visits per trajectory: open places, reachable, in increasing time."""
        true, offsets = self.true_regions(visits)
        epsilon = self.epsilon
        if self.hide_length:
            share = self.length_share * epsilon
            epsilon *= 1 - self.length_share
            sizes = randomized_sizes(np.diff(offsets), self.longest, share, rng)
            positions, offsets = stretched(offsets, sizes)
            # A trajectory without visits counts as one visit in region 0.
            true = np.append(true, np.int32(0))[positions]
        drawn = self.draw(true, offsets, epsilon, rng)
        perturbed = self.reconstruct(drawn, offsets, rng)
        poi, step = complete(self.regions, perturbed, offsets, self.by_popularity, rng)
        return Visits(poi, step.astype(np.float64) * (60 * self.regions.knowledge.step), offsets)

    def true_regions(self, visits: Visits) -> tuple[Ints32, Sizes]:
        """Return the region of each visit; visits beyond what a day has room for are omitted."""
        if len(visits.poi) and not 0 <= visits.poi.min() <= visits.poi.max() < len(self.regions.pois):
            raise InputError(f"visits must name places from 0 to {len(self.regions.pois) - 1}")
        sizes = np.minimum(np.diff(visits.offsets), self.most_visits)
        offsets, at = ragged.ranges(visits.offsets[:-1], sizes)
        interval = (visits.t[at] % DAY / (60.0 * self.regions.knowledge.interval)).astype(np.int64)
        return self.regions.nearest[visits.poi[at], interval], offsets

    def draw(self, true: Ints32, offsets: Sizes, epsilon: float, rng: np.random.Generator) -> Ints32:
        """Return two draws per visit from the exponential mechanism over regions and feasible pairs of regions.

        The weights depend on the true region and on the number of visits, so they are tabled for each number.
        """
        drawn = np.empty((len(true), 2), dtype=np.int32)
        follows, sizes = self.regions.follows, np.diff(offsets)
        for size in np.unique(sizes[sizes > 0]):
            firsts = offsets[:-1][sizes == size]
            rate = epsilon / (int(size) + 1) / (2 * LONGEST_DISTANCE)
            # Rows of the true regions that occur; ahead[w, x] is the weight of all regions that can follow x when
            # the true next region is w.
            occurring, row = np.unique(true[firsts[:, None] + np.arange(size)], return_inverse=True)
            rows = row.reshape(len(firsts), size)
            apart = self.distances[occurring]
            single, weight = np.exp(-rate * apart), np.exp(-rate / 2 * apart)
            ahead = weight @ follows.T.astype(np.float64)
            tables = (single, weight, ahead, follows)
            _each(len(firsts), rng, partial(draw_regions, rows, firsts, tables, drawn))
        return drawn

    def reconstruct(self, drawn: Ints32, offsets: Sizes, rng: np.random.Generator) -> Ints32:
        """Return for each trajectory the feasible regions closest to all draws; ties are broken uniformly."""
        tables = (self.distances, np.ascontiguousarray(self.regions.follows.T))
        space, nearest = (self.regions.boxes, self.regions.centres), np.empty(len(drawn), dtype=np.int32)
        _each(len(offsets) - 1, rng, partial(reconstruct_regions, drawn, offsets, tables, space, nearest))
        return nearest


@kernel
def draw_regions(rows, firsts, tables, drawn, start, stop, rng):  # type: ignore[no-untyped-def]
    """Draw for the trajectories that begin at `firsts`: both ends alone, then all pairs of neighbours.

    `rows[k]` are the rows of the tables for the visits of trajectory k. Column 1 of a visit is drawn with the
    visit before it, column 0 with the one after it.
    """
    single, weight, ahead, follows = tables
    size = rows.shape[1]
    for k in range(start, stop):
        drawn[firsts[k], 1] = _pick(single[rows[k, 0]], rng)
        drawn[firsts[k] + size - 1, 0] = _pick(single[rows[k, size - 1]], rng)
        for p in range(size - 1):
            here, there, at = rows[k, p], rows[k, p + 1], firsts[k] + p
            drawn[at, 0] = _pick(weight[here] * ahead[there], rng)
            drawn[at + 1, 1] = _pick(np.where(follows[drawn[at, 0]], weight[there], 0.0), rng)


@kernel
def _pick(weights, rng):  # type: ignore[no-untyped-def]
    """Return one index in proportion to the weights."""
    rest = rng.random() * weights.sum()
    pick = -1
    for x in range(len(weights)):
        if weights[x] > 0.0 and rest >= 0.0:
            pick = x
            rest -= weights[x]
    return pick


@kernel
def reconstruct_regions(drawn, offsets, tables, space, regions, start, stop, rng):  # type: ignore[no-untyped-def]
    """Find the shortest paths through layers of regions; inner visits count twice, as bigrams are added up.

    Candidates are the regions whose centre lies in the bounding box of all that was drawn. Where no feasible
    path exists in it, the box grows by a tenth of the map at a time.
    """
    (distances, precedes), (boxes, centres) = tables, space
    longest = np.diff(offsets[start : stop + 1]).max()
    cost = np.empty((longest, len(distances)), dtype=np.int64)
    ways = np.empty((longest, len(distances)))
    ring = 0.1 * max(boxes[:, 2].max() - boxes[:, 0].min(), boxes[:, 3].max() - boxes[:, 1].min())
    for k in range(start, stop):
        first, last = offsets[k], offsets[k + 1]
        if first == last:
            continue
        margin = 0.0
        while True:
            near = _candidates(drawn[first:last], boxes, centres, margin)
            if _layers(drawn[first:last], near, distances, precedes, cost, ways):
                break
            margin += max(ring, 1.0)
        allowed = np.ones(len(distances), dtype=np.bool_)
        for p in range(last - first - 1, -1, -1):
            regions[first + p] = pick(cost[p], ways[p], near, allowed, rng)
            allowed = precedes[regions[first + p]]


@kernel
def _candidates(drawn, boxes, centres, margin):  # type: ignore[no-untyped-def]
    x0, y0, x1, y1 = np.inf, np.inf, -np.inf, -np.inf
    for z in drawn.flat:
        x0, y0 = min(x0, boxes[z, 0]), min(y0, boxes[z, 1])
        x1, y1 = max(x1, boxes[z, 2]), max(y1, boxes[z, 3])
    inside = (centres[:, 0] >= x0 - margin) & (centres[:, 0] <= x1 + margin)
    return np.flatnonzero(inside & (centres[:, 1] >= y0 - margin) & (centres[:, 1] <= y1 + margin))


@kernel
def _layers(drawn, near, distances, precedes, cost, ways):  # type: ignore[no-untyped-def]
    """Compute the least cost of feasible paths to each candidate, layer by layer, and their number; False if none."""
    size = len(drawn)
    for p in range(size):
        times = 1 if p in (0, size - 1) else 2
        most = 0.0
        for r in near:
            own = times * (distances[r, drawn[p, 0]] + distances[r, drawn[p, 1]])
            behind, count = np.int64(0), 1.0
            if p > 0:
                behind, count = least(cost[p - 1], ways[p - 1], near, precedes[r])
            cost[p, r] = own + behind if count > 0.0 else UNREACHABLE
            ways[p, r] = count
            most = max(most, count)
        if most == 0.0:
            return False
        for r in near:
            ways[p, r] /= most
    return True
