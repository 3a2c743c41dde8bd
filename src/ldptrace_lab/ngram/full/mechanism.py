"""NGRAM with all its public knowledge: visits -> regions -> perturbed bigrams -> regions -> visits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Ints32
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.errors import InputError
from ldptrace.options import option
from ldptrace_lab.campus.pois import DAY, Visits
from ldptrace_lab.ngram.cells import LONGEST_DISTANCE, Hiding, Sizes, randomized_sizes, stretched
from ldptrace_lab.ngram.full.places import CHUNK, complete
from ldptrace_lab.ngram.full.regions import Regions

UNREACHABLE = np.int64(np.iinfo(np.int64).max)


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
        sizes = np.diff(offsets)
        for size in np.unique(sizes[sizes > 0]):
            self._draw_size(true, offsets[:-1][sizes == size], int(size), epsilon, rng, drawn)
        return drawn

    def _draw_size(
        self, true: Ints32, firsts: Sizes, size: int, epsilon: float, rng: np.random.Generator, drawn: Ints32
    ) -> None:
        rate = epsilon / (size + 1) / (2 * LONGEST_DISTANCE)
        distances, follows = self.distances, self.regions.follows
        # Rows of the true regions that occur; ahead[w, x] is the weight of all regions that can follow x when
        # the true next region is w.
        occurring, row = np.unique(true[firsts[:, None] + np.arange(size)], return_inverse=True)
        rows = row.reshape(len(firsts), size)
        single, weight = np.exp(-rate * distances[occurring]), np.exp(-rate / 2 * distances[occurring])
        ahead = weight @ follows.T.astype(np.float64)
        sources = rng.spawn(len(chunks(len(firsts), CHUNK)))

        def work(number: int, start: int, stop: int) -> None:
            mine = (rows[start:stop], firsts[start:stop])
            draw_regions(*mine, single, weight, ahead, follows, sources[number], drawn)

        map_chunks(work, len(firsts), CHUNK)

    def reconstruct(self, drawn: Ints32, offsets: Sizes, rng: np.random.Generator) -> Ints32:
        """Return for each trajectory the feasible regions closest to all draws; ties are broken uniformly."""
        space = (self.regions.boxes, self.regions.centres)
        distances, follows = self.distances, self.regions.follows
        sources = rng.spawn(len(chunks(len(offsets) - 1, CHUNK)))
        nearest = np.empty(len(drawn), dtype=np.int32)

        def work(number: int, start: int, stop: int) -> None:
            reconstruct_regions(
                drawn, offsets[start : stop + 1], distances, follows, *space, sources[number], nearest
            )

        map_chunks(work, len(offsets) - 1, CHUNK)
        return nearest


@kernel
def draw_regions(rows, firsts, single, weight, ahead, follows, rng, drawn):  # type: ignore[no-untyped-def]
    """Draw for the trajectories that begin at `firsts`: both ends alone, then all pairs of neighbours.

    `rows[k]` are the rows of the tables for the visits of trajectory k. Column 1 of a visit is drawn with the
    visit before it, column 0 with the one after it.
    """
    product = np.empty(len(follows))
    size = rows.shape[1]
    for k in range(len(firsts)):
        drawn[firsts[k], 1] = _pick(single[rows[k, 0]], rng)
        drawn[firsts[k] + size - 1, 0] = _pick(single[rows[k, size - 1]], rng)
        for p in range(size - 1):
            here, there, at = rows[k, p], rows[k, p + 1], firsts[k] + p
            for x in range(len(product)):
                product[x] = weight[here, x] * ahead[there, x]
            drawn[at, 0] = _pick(product, rng)
            for x in range(len(product)):
                product[x] = weight[there, x] if follows[drawn[at, 0], x] else 0.0
            drawn[at + 1, 1] = _pick(product, rng)


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
def reconstruct_regions(drawn, offsets, distances, follows, boxes, centres, rng, found):  # type: ignore[no-untyped-def]
    """Find the shortest paths through layers of regions; inner visits count twice, as bigrams are added up.

    Candidates are the regions whose centre lies in the bounding box of all that was drawn. Where no feasible
    path exists in it, the box grows by a tenth of the map at a time.
    """
    longest = 1
    for k in range(len(offsets) - 1):
        longest = max(longest, offsets[k + 1] - offsets[k])
    cost = np.empty((longest, len(distances)), dtype=np.int64)
    ways = np.empty((longest, len(distances)))
    ring = 0.1 * max(boxes[:, 2].max() - boxes[:, 0].min(), boxes[:, 3].max() - boxes[:, 1].min())
    for k in range(len(offsets) - 1):
        first, last = offsets[k], offsets[k + 1]
        if first == last:
            continue
        margin = 0.0
        while True:
            near = _candidates(drawn[first:last], boxes, centres, margin)
            if _layers(drawn[first:last], near, distances, follows, cost, ways):
                break
            margin += max(ring, 1.0)
        here = -1
        for p in range(last - first - 1, -1, -1):
            here = _best(cost[p], ways[p], near, follows, here, rng)
            found[first + p] = here


@kernel
def _candidates(drawn, boxes, centres, margin):  # type: ignore[no-untyped-def]
    x0, y0, x1, y1 = np.inf, np.inf, -np.inf, -np.inf
    for z in drawn.flat:
        x0, y0 = min(x0, boxes[z, 0]), min(y0, boxes[z, 1])
        x1, y1 = max(x1, boxes[z, 2]), max(y1, boxes[z, 3])
    inside = (centres[:, 0] >= x0 - margin) & (centres[:, 0] <= x1 + margin)
    return np.flatnonzero(inside & (centres[:, 1] >= y0 - margin) & (centres[:, 1] <= y1 + margin))


@kernel
def _layers(drawn, near, distances, follows, cost, ways):  # type: ignore[no-untyped-def]
    """Compute the least cost of feasible paths to each candidate, layer by layer, and their number; False if none."""
    size = len(drawn)
    for p in range(size):
        times = 1 if p in (0, size - 1) else 2
        most = 0.0
        for r in near:
            own = times * (distances[r, drawn[p, 0]] + distances[r, drawn[p, 1]])
            least, count = (
                (np.int64(0), 1.0) if p == 0 else _least(cost[p - 1], ways[p - 1], near, follows, r)
            )
            cost[p, r] = own + least if count > 0.0 else UNREACHABLE
            ways[p, r] = count
            most = max(most, count)
        if most == 0.0:
            return False
        for r in near:
            ways[p, r] /= most
    return True


@kernel
def _least(cost, ways, near, follows, then):  # type: ignore[no-untyped-def]
    """Return the least cost of the candidates that `then` can follow (-1: any), and the number of ways with it."""
    least, count = UNREACHABLE, 0.0
    for r in near:
        if cost[r] <= least and ways[r] > 0.0 and (then < 0 or follows[r, then]):
            count = ways[r] + (count if cost[r] == least else 0.0)
            least = cost[r]
    return least, count


@kernel
def _best(cost, ways, near, follows, then, rng):  # type: ignore[no-untyped-def]
    """Return one of the cheapest candidates that `then` can follow, in proportion to its ways."""
    least, total = _least(cost, ways, near, follows, then)
    rest, pick = rng.random() * total, -1
    for r in near:
        if cost[r] == least and ways[r] > 0.0 and rest >= 0.0 and (then < 0 or follows[r, then]):
            pick = r
            rest -= ways[r]
    return pick
