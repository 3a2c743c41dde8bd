"""PrivTrace (Wang et al., USENIX Security'23): a chain of first and second order, by a trusted curator.

Three parts, each with its share of epsilon: visits, which say how finely cells are cut; the chain of first order with a
virtual start and end; the chain of second order for busy leaves, where what comes next depends on what came before.
Trips weigh one together, so long trips count less at their ends; the starts are calibrated for that by a table of
trips that fits the starts and the ends (the least informative one, by iterative fitting).

The published program is not differentially private: the support of the raw transitions, the number of points and the
bounds enter it. Here transitions are counted between all leaves that touch, the grid is a public choice, and noise is
exact. Of its rejections of walks only one is used: walks that do not end.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.kernels import kernel
from ldptrace.core.paths import CellPaths, grid_moves, grown
from ldptrace.core.placement import cells_of_points
from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid
from ldptrace_lab.central.curator import TrustedCurator, central_method, drawn, on_simplex, points_in_parts

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
        return ragged.offsets_of(self.sides**2)

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

    @cached_property
    def begin(self) -> Ints:
        """Leaf s touches the leaves `to[begin[s]:begin[s + 1]]`."""
        return np.searchsorted(self.edges, np.arange(self.count + 1) * self.count)

    @cached_property
    def to(self) -> Ints:
        """The second leaf of each edge."""
        return self.edges % self.count

    def paths(self, real: Trajectories) -> tuple[Ints, Ints]:
        """Return the leaves of each trajectory, where each step leads to a leaf that touches, and the offsets."""
        paths = CellPaths.from_trajectories(real, self.fine)
        leaves = self.of_fine[paths.cells]
        kept = ragged.first_values(paths.offsets)
        kept[1:] |= leaves[1:] != leaves[:-1]
        return leaves[kept], ragged.kept(paths.offsets, kept)

    def points(self, leaves: NDArray[np.int32], offsets: Ints, rng: np.random.Generator) -> Trajectories:
        """Draw a uniform point in each leaf; a path of one leaf gets two points."""
        each, offsets = cells_of_points(CellPaths(leaves, offsets, self.fine))
        cell = np.searchsorted(self.first, each, "right") - 1
        return points_in_parts(self.grid, cell, each - self.first[cell], self.sides[cell], offsets, rng)


# Shares of epsilon as in the paper: visits, first order, second order.
VISITS, FIRST, SECOND = Fraction(1, 5), Fraction(2, 5), Fraction(2, 5)
# Trips to a leaf, about; cells with less than this share of an even spread are not cut.
PER_LEAF, RARE = 200.0, 0.05
# What makes a leaf busy: a share of all that leave, begin or end; two ways on that are not too different.
BUSY, ALIKE = 0.02, 5.0
# Ending is less likely before half of the way to the end that was drawn, and a little less likely always.
EARLY, LATE = 0.2, 0.8
# Walks of this many leaves are caught between leaves, and are drawn anew, so often.
LONGEST, TRIES = 200, 20


@dataclass(frozen=True, eq=False)
class Features:
    """What the curator learns: everything here is private, and synthesis reads nothing else.

    `onward` is the weight of each edge between leaves, and `leave` that of ending in each leaf. `second` holds, for a
    busy leaf, a table (came from, goes to) at `table[s]`; -1 elsewhere. The last row of a table is a start, its last
    column an end.
    """

    leaves: Leaves
    onward: Floats
    leave: Floats
    table: Ints
    second: Floats
    # Chances of the pairs (first leaf, last leaf), and leaves of the shortest way between them.
    trips: Floats
    ways: Ints


def learn(real: Trajectories, grid: Grid, curator: TrustedCurator) -> Features:
    """Return everything that is published of the trajectories, with all of epsilon."""
    real = real.take(real.sizes > 0)
    leaves = _adaptive(real, grid, curator)
    path, offsets = leaves.paths(real)
    onward, start, leave = _first_order(path, offsets, leaves, curator)
    rows = np.repeat(np.arange(leaves.count), np.diff(leaves.begin))
    busy = _busy(onward, start, leave, rows, leaves.count, float(curator.epsilon))
    table, second = _second_order(path, offsets, leaves, busy, curator)
    graph = csr_array((np.ones(len(rows)), (rows, leaves.to)), shape=(leaves.count, leaves.count))
    # Leaves on the shortest way between each pair, both ends included.
    ways = shortest_path(graph, unweighted=True).astype(np.int64) + 1
    return Features(leaves, onward, leave, table, second, calibrated(start, leave, ways), ways)


def _adaptive(real: Trajectories, grid: Grid, curator: TrustedCurator) -> Leaves:
    """Return how finely each cell is cut: by its noisy visits, in powers of two."""
    whole = Leaves(grid, np.ones(grid.cells, dtype=np.int64))
    path, offsets = whole.paths(real)
    visits = on_simplex(curator.histogram(path, ragged.owners(offsets), grid.cells, VISITS))
    wanted = np.sqrt(visits / PER_LEAF)
    wanted[visits < RARE * visits.sum() / grid.cells] = 1.0
    return Leaves(grid, 2 ** np.floor(np.log2(np.clip(wanted, 1.0, FINEST))).astype(np.int64))


def _first_order(
    path: Ints, offsets: Ints, leaves: Leaves, curator: TrustedCurator
) -> tuple[Floats, Floats, Floats]:
    """Return the weights of steps, starts and ends; those of one trajectory add up to one."""
    people, at = np.arange(len(offsets) - 1), np.flatnonzero(ragged.inner_steps(offsets)) + 1
    step = np.searchsorted(leaves.edges, path[at - 1] * leaves.count + path[at])
    edges = len(leaves.edges)
    items = np.concatenate([step, edges + path[offsets[:-1]], edges + leaves.count + path[offsets[1:] - 1]])
    owners = np.concatenate([ragged.owners(offsets)[at], people, people])
    counts = curator.histogram(items, owners, edges + 2 * leaves.count, FIRST)
    steps, start, leave = np.split(counts, [edges, edges + leaves.count])
    start, leave = norm_cut(start), norm_cut(leave)
    for first, last in pairwise(leaves.begin):
        steps[first:last] = norm_cut(steps[first:last])
    return steps, start, leave


def norm_cut(values: Floats) -> Floats:
    """Set negative values to zero, and take their sum from the smallest positive values, so that the total stays.

    >>> norm_cut(np.array([5.0, 1.0, -2.0, 3.0])).tolist()
    [5.0, 0.0, 0.0, 2.0]
    """
    kept = np.maximum(values, 0.0)
    lack = kept.sum() - max(float(values.sum()), 0.0)
    order = np.argsort(kept)
    taken = np.minimum(np.cumsum(kept[order]), lack)
    kept[order] -= np.diff(taken, prepend=0.0)
    return np.maximum(kept, 0.0)


def _busy(
    onward: Floats, start: Floats, leave: Floats, rows: Ints, count: int, epsilon: float
) -> NDArray[np.bool_]:
    """Return the leaves whose second order is worth its noise."""
    out = np.bincount(rows, weights=onward, minlength=count)
    most, second = np.zeros(count), np.zeros(count)
    np.maximum.at(most, rows, onward)
    np.maximum.at(second, rows, np.where(onward < most[rows], onward, 0.0))
    several = (out > count * 2**0.5 / (epsilon * float(FIRST))) & (most < ALIKE * second)
    large = [part > BUSY * max(part.sum(), 1e-9) for part in (out, start, leave)]
    return several | np.any(large, axis=0)


def _second_order(
    path: Ints, offsets: Ints, leaves: Leaves, busy: NDArray[np.bool_], curator: TrustedCurator
) -> tuple[Ints, Floats]:
    """Count the steps through busy leaves: for each, a noisy table of where a trip came from (row) and goes to
    (column)."""
    wide = np.diff(leaves.begin) + 1
    sizes = np.where(busy, wide**2, 0)
    table = np.where(busy, ragged.offsets_of(sizes)[:-1], -1)
    at = np.flatnonzero(busy[path])
    here = path[at]
    sides = []
    for shift, ends in ((-1, offsets[:-1]), (1, offsets[1:] - 1)):
        other = path[np.clip(at + shift, 0, len(path) - 1)]
        place = np.searchsorted(leaves.edges, here * leaves.count + other) - leaves.begin[here]
        outer = np.zeros(len(path), dtype=bool)
        outer[ends] = True
        sides.append(np.where(outer[at], wide[here] - 1, place))
    items = table[here] + sides[0] * wide[here] + sides[1]
    counts = curator.histogram(items, ragged.owners(offsets)[at], max(int(sizes.sum()), 1), SECOND)
    for leaf in np.flatnonzero(busy):
        own = counts[table[leaf] : table[leaf] + sizes[leaf]].reshape(wide[leaf], wide[leaf])
        own[:] = [norm_cut(row) for row in own]
    return table, counts


def calibrated(start: Floats, leave: Floats, ways: Ints, rounds: int = 30) -> Floats:
    """Return probabilities of trips, such that weights of 1 / (leaves + 1) add up to the counted starts and ends."""
    start, leave = (
        side / side.sum() if side.sum() > 0 else np.full(len(side), 1 / len(side)) for side in (start, leave)
    )
    weights = 1.0 / (ways + 1.0)
    table = weights.copy()
    for _ in range(rounds):
        table *= (start / np.maximum(table.sum(axis=1), 1e-300))[:, None]
        table *= leave / np.maximum(table.sum(axis=0), 1e-300)
    table /= weights
    return table / table.sum()


def synthetic(features: Features, count: int, rng: np.random.Generator) -> Trajectories:
    """Draw trips: two ends from the calibrated table, then steps of the chain from the first end until it stops.

    Noise can leave two leaves whose only ways lead to each other; walks that are caught there are drawn anew.
    """
    cells, sizes = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
    for tries in range(TRIES, 0, -1):
        walked, steps = _walked(features, count - len(sizes), rng)
        kept = steps < LONGEST if tries > 1 else np.ones(len(steps), dtype=bool)
        cells = np.concatenate([cells, walked[np.repeat(kept, steps)]])
        sizes = np.concatenate([sizes, steps[kept]])
        if len(sizes) == count:
            break
    return features.leaves.points(cells, ragged.offsets_of(sizes), rng)


def _walked(features: Features, count: int, rng: np.random.Generator) -> tuple[NDArray[np.int32], Ints]:
    """Return the leaves of this many walks, one after the other, and the size of each."""
    pair = drawn(np.cumsum(features.trips.ravel()), count, rng)
    first, last = np.divmod(pair, features.leaves.count)
    sizes = np.zeros(count, dtype=np.int64)
    once = (features.leaves.begin, features.leaves.to, features.onward, features.leave)
    twice = (features.table, features.second)
    return _walks(first, features.ways[first, last], once, twice, sizes, rng), sizes


@kernel
def _walks(first, way, once, twice, sizes, rng):  # type: ignore[no-untyped-def]
    """Draw walks by the chains of first and second order."""
    (begin, to, onward, leave), (table, second) = once, twice
    cells = np.empty(16 * len(first) + LONGEST, dtype=np.int32)
    filled = 0
    for k in range(len(first)):
        while filled + LONGEST > len(cells):
            cells = grown(cells)
        here, came = first[k], -1
        size = 0
        while size < LONGEST:
            cells[filled + size] = here
            size += 1
            degree = begin[here + 1] - begin[here]
            weights, ending = onward[begin[here] : begin[here + 1]], leave[here]
            if table[here] >= 0:
                place = degree
                if came >= 0:
                    place = 0
                    while to[begin[here] + place] != came:
                        place += 1
                row = table[here] + place * (degree + 1)
                # The row of a busy leaf, if anything is known of those who came that way.
                if second[row : row + degree].sum() > 0.0:
                    weights, ending = second[row : row + degree], second[row + degree]
            moving = weights.sum()
            ending *= LATE if 2 * size >= way[k] else EARLY
            u = rng.random() * (moving + ending)
            if u >= moving:
                break
            chosen = degree - 1
            for d in range(degree):
                u -= weights[d]
                if u < 0.0:
                    chosen = d
                    break
            came, here = here, to[begin[here] + chosen]
        filled += size
        sizes[k] = size
    return cells[:filled].copy()


NOTE = (
    "PrivTrace's differential privacy holds for the published trips, against readers who are not the curator; the raw "
    "support of the transitions, which its program uses, is not used here."
)
PRIVTRACE = central_method(
    "privtrace",
    "PrivTrace (USENIX Security'23): noisy chain of first and second order, adaptive grid",
    lambda job, curator: learn(job.real, job.grid, curator),
    synthetic,
    note=NOTE,
)
