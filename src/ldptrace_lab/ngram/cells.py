"""NGRAM with physical distance only, as section 6.1 of the paper compares with it.

Cunningham et al. (PVLDB 14(11), 2021) perturb overlapping n-grams of a trajectory with the exponential
mechanism and then look for the trajectory that is closest to all that was drawn. Here regions are cells.
Two things are done differently and exactly: an n-gram is drawn position by position with backward sums, so
that the pairs are never listed, and the integer program of the reconstruction is solved as what it is, a
shortest path through layers.

The number of cells of a trajectory is public in this method: the output shows it. `hide_length`
spends a share of the budget on it instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.core.paths import CellPaths
from ldptrace.options import option, settle
from ldptrace.protocol.grid import Grid

Sizes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Hiding:
    """Whether the length is part of the secret, and what that costs."""

    hide_length: bool = option(False, help="Whether lengths are randomised, too.")
    length_share: float = option(0.1, help="Share of epsilon for the length.", above=0, below=1)

    def __post_init__(self) -> None:
        settle(self)


def randomized_sizes(sizes: Sizes, longest: int, epsilon: float, rng: np.random.Generator) -> Sizes:
    """Draw sizes from 1 to `longest` by randomized response; a smaller or larger true size counts as the nearest of
    them.

    >>> randomized_sizes(np.array([0, 3, 9]), 5, 1e9, np.random.default_rng(1)).tolist()
    [1, 3, 5]
    """
    chance = 1.0 / (1.0 + (longest - 1) * np.exp(-epsilon))
    true = np.clip(sizes, 1, longest)
    other = rng.integers(1, max(longest, 2), size=len(sizes))
    return np.where(rng.random(len(sizes)) < chance, true, other + (other >= true))


def stretched(offsets: Sizes, sizes: Sizes) -> tuple[Sizes, Sizes]:
    """Return which values to take so that the parts of a ragged array get new sizes, and the new offsets.

    Each new position takes the old one at the same share of the way, so some repeat or are left out. A part
    that was empty takes the position just behind all values: put there what it should count as.

    >>> positions, offsets = stretched(np.array([0, 3, 3]), np.array([5, 1]))
    >>> positions.tolist(), offsets.tolist()
    ([0, 0, 1, 2, 2, 3], [0, 5, 6])
    """
    old = np.diff(offsets)
    resized = ragged.offsets_of(sizes)
    within = ragged.places(resized)
    share = np.repeat(np.maximum(old - 1, 0) / np.maximum(sizes - 1, 1), sizes)
    positions = np.repeat(offsets[:-1], sizes) + np.rint(within * share).astype(np.int64)
    return np.where(np.repeat(old == 0, sizes), offsets[-1], positions), resized


# Distances are whole numbers, the longest one being this: sums are exact and a tie is a tie.
LONGEST_DISTANCE = 1 << 32


@dataclass(frozen=True, kw_only=True)
class Options(Hiding):
    """The options of the method. Defaults are those of the literature where it tells them."""

    order: int = option(2, help="The n of the n-grams.", least=1)
    stay: bool = option(
        True, help="Whether consecutive cells of an n-gram may be equal; repeats are removed afterwards."
    )
    metric: Literal["plane", "cells"] = option(
        "plane", help="Whether distances between the centres of cells are in units of the plane or in cells."
    )
    longest: int | None = option(
        None, help="With hide_length, the most cells; by default three times the side of the grid.", least=1
    )


@dataclass(frozen=True)
class Ngram(Options):
    """The mechanism of one grid and one budget.

    `hide_length` sends the number of cells through randomized response over 1..`longest` and stretches the path to
    the answer; an empty trajectory then counts as one cell in the middle of the map.

    >>> paths = CellPaths.from_lists([[0, 4, 8]], Grid((0, 0, 3, 3), 3))
    >>> len(Ngram(paths.grid, 1.0).perturb(paths, np.random.default_rng(1)))
    1
    """

    grid: Grid
    epsilon: float = option(help="The budget of one trajectory.", above=0)

    def distances(self) -> NDArray[np.int64]:
        """Return the distance between the centres of two cells that are `i` columns and `j` rows apart, at [i, j]."""
        n = self.grid.n
        width, height = self.grid.step if self.metric == "plane" else (1.0, 1.0)
        apart = np.hypot(np.arange(n)[:, None] * width, np.arange(n)[None, :] * height)
        return np.rint(apart / apart[-1, -1] * LONGEST_DISTANCE).astype(np.int64)

    def perturb(self, paths: CellPaths, rng: np.random.Generator) -> CellPaths:
        """Return one perturbed path per path, repeats removed."""
        epsilon, n = self.epsilon, self.grid.n
        if self.hide_length:
            share, longest = self.length_share * epsilon, self.longest or 3 * n
            epsilon *= 1 - self.length_share
            positions, offsets = stretched(paths.offsets, randomized_sizes(paths.sizes, longest, share, rng))
            middle = (n // 2) * (n + 1)
            paths = CellPaths(np.append(paths.cells, middle)[positions], offsets, self.grid)
        distances = self.distances()
        sources = rng.spawn(len(chunks(len(paths))))
        drawn: NDArray[np.int32] = np.empty((len(paths.cells), self.order), dtype=np.int32)
        cells = np.empty_like(paths.cells)

        def work(number: int, start: int, stop: int) -> None:
            part, source = paths.offsets[start : stop + 1], sources[number]
            draw_grams(paths.cells, part, distances, n, self.stay, epsilon, source, drawn)
            reconstruct(drawn, part, distances, n, self.stay, source, cells)

        map_chunks(work, len(paths))
        kept = ragged.first_values(paths.offsets)
        kept[1:] |= cells[1:] != cells[:-1]
        return CellPaths(cells[kept], ragged.kept(paths.offsets, kept), self.grid)


@kernel
def draw_grams(cells, offsets, distances, n, stay, epsilon, rng, drawn):  # type: ignore[no-untyped-def]
    """Draw the n-grams of the paths by the exponential mechanism; row p of `drawn` gets the draws of cell p.

    A window of `order` positions slides from before the first cell to behind the last one; where it hangs
    over, the gram is shorter. So each cell is drawn exactly `order` times, by l + order - 1 draws that share
    the budget.
    """
    order = drawn.shape[1]
    weights = np.empty((order + 1, n, n))
    sums = np.empty((order, n * n))
    size = -1
    for k in range(len(offsets) - 1):
        first, last = offsets[k], offsets[k + 1]
        if last - first != size:
            size = last - first
            for length in range(1, order + 1):
                # Another gram of this length scores differently by at most length * the longest distance.
                rate = epsilon / (size + order - 1) / (2 * length * LONGEST_DISTANCE)
                weights[length] = np.exp(-rate * distances)
        for at in range(first - order + 1, last):
            begin, end = max(at, first), min(at + order, last)
            if begin < end:
                _draw(
                    cells[begin:end], weights[end - begin], n, stay, rng, sums, drawn[begin:end], begin - at
                )


@kernel
def _draw(true, weight, n, stay, rng, sums, drawn, column):  # type: ignore[no-untyped-def]
    """Draw one n-gram without listing all of them: backward sums over the positions, then forward draws.

    `sums[p, x]` is the weight of all ways to go on from cell x at position p. Position p fills column
    `column + p` of its row, so that the draws of one cell lie side by side.
    """
    last = len(true) - 1
    everywhere = (0, n, 0, n)
    for p in range(last, -1, -1):
        i_true, j_true = true[p] // n, true[p] % n
        for i in range(n):
            for j in range(n):
                here = i * n + j
                sums[p, here] = weight[abs(i - i_true), abs(j - j_true)]
                if p < last:
                    sums[p, here] *= _total(
                        sums[p + 1], _around(here, n, everywhere), n, -1 if stay else here
                    )
    box, here = everywhere, -1
    for p in range(last + 1):
        avoid = -1 if stay else here
        rest = rng.random() * _total(sums[p], box, n, avoid)
        for i in range(box[0], box[1]):
            for j in range(box[2], box[3]):
                if rest >= 0.0 and i * n + j != avoid:
                    here = i * n + j
                    rest -= sums[p, here]
        drawn[p, column + p] = here
        box = _around(here, n, everywhere)


@kernel
def _around(cell, n, box):  # type: ignore[no-untyped-def]
    """Return the cells of the box that are at most one step away, as a box (rows from, to, columns from, to)."""
    i, j = cell // n, cell % n
    return max(box[0], i - 1), min(box[1], i + 2), max(box[2], j - 1), min(box[3], j + 2)


@kernel
def _total(values, box, n, avoid):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(box[0], box[1]):
        for j in range(box[2], box[3]):
            if i * n + j != avoid:
                total += values[i * n + j]
    return total


@kernel
def reconstruct(drawn, offsets, distances, n, stay, rng, cells):  # type: ignore[no-untyped-def]
    """Find for each path the cells closest to all draws, each step to an adjacent cell; ties are broken uniformly.

    The cost of a cell at a position is the sum of its distances to the draws of that position. The integer
    program adds up bigrams, so the inner positions count twice. Only cells in the bounding box of the draws
    may be used.
    """
    longest = 0
    for k in range(len(offsets) - 1):
        longest = max(longest, offsets[k + 1] - offsets[k])
    cost = np.empty((longest, n * n), dtype=np.int64)
    ways = np.empty((longest, n * n))
    for k in range(len(offsets) - 1):
        first, size = offsets[k], offsets[k + 1] - offsets[k]
        if size == 0:
            continue
        box = _bounding_box(drawn[first : first + size], n)
        if not stay and size > 1 and box[1] - box[0] == 1 and box[3] - box[2] == 1:
            # A single cell leaves no way to move: one ring more does.
            box = _around(box[0] * n + box[2], n, (0, n, 0, n))
        for p in range(size):
            _layer(drawn[first + p], distances, p in (0, size - 1), p, (box, n, stay), (cost, ways))
        here = -1
        for p in range(size - 1, -1, -1):
            near = box if here < 0 else _around(here, n, box)
            here = _pick(cost[p], ways[p], near, n, -1 if stay else here, rng)
            cells[first + p] = here


@kernel
def _bounding_box(drawn, n):  # type: ignore[no-untyped-def]
    low_i, high_i, low_j, high_j = n, 0, n, 0
    for z in drawn.flat:
        low_i, high_i = min(low_i, z // n), max(high_i, z // n + 1)
        low_j, high_j = min(low_j, z % n), max(high_j, z % n + 1)
    return low_i, high_i, low_j, high_j


@kernel
def _layer(drawn, distances, outer, p, room, tables):  # type: ignore[no-untyped-def]
    """Compute the least cost of a path that ends in each cell at position p, and the number of paths that have it.

    Only the proportions of these numbers matter; dividing keeps them finite on long paths.
    """
    (box, n, stay), (cost, ways) = room, tables
    most = 0.0
    for i in range(box[0], box[1]):
        for j in range(box[2], box[3]):
            here = i * n + j
            own = 0
            for z in drawn:
                own += distances[abs(i - z // n), abs(j - z % n)]
            cost[p, here] = own if outer else 2 * own
            ways[p, here] = 1.0
            if p > 0:
                near = _around(here, n, box)
                least, ways[p, here] = _least(cost[p - 1], ways[p - 1], near, n, -1 if stay else here)
                cost[p, here] += least
            most = max(most, ways[p, here])
    for i in range(box[0], box[1]):
        for j in range(box[2], box[3]):
            ways[p, i * n + j] /= most


@kernel
def _least(cost, ways, box, n, avoid):  # type: ignore[no-untyped-def]
    """Return the least cost in the box, and the number of ways with this cost."""
    least, count = np.int64(np.iinfo(np.int64).max), 0.0
    for i in range(box[0], box[1]):
        for j in range(box[2], box[3]):
            x = i * n + j
            if x == avoid:
                continue
            if cost[x] < least:
                least, count = cost[x], ways[x]
            elif cost[x] == least:
                count += ways[x]
    return least, count


@kernel
def _pick(cost, ways, box, n, avoid, rng):  # type: ignore[no-untyped-def]
    """Return one of the cheapest cells of the box, in proportion to its ways."""
    least, total = _least(cost, ways, box, n, avoid)
    rest, pick = rng.random() * total, -1
    for i in range(box[0], box[1]):
        for j in range(box[2], box[3]):
            x = i * n + j
            if x != avoid and cost[x] == least and rest >= 0.0:
                pick = x
                rest -= ways[x]
    return pick
