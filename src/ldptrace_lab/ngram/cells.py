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
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.core.paths import CellPaths, grid_moves
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
UNREACHABLE = np.int64(np.iinfo(np.int64).max)


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

    @cached_property
    def distances(self) -> NDArray[np.int64]:
        """The distance between the centres of two cells that are `i` columns and `j` rows apart, at [i, j]."""
        n = self.grid.n
        width, height = self.grid.step if self.metric == "plane" else (1.0, 1.0)
        apart = np.hypot(np.arange(n)[:, None] * width, np.arange(n)[None, :] * height)
        return np.rint(apart / apart[-1, -1] * LONGEST_DISTANCE).astype(np.int64)

    @cached_property
    def near(self) -> NDArray[np.int64]:
        """The cells that can follow each cell, ascending; -1 where there are fewer than nine."""
        moves = grid_moves(self.grid.n)[:, [0, 2]]
        if self.stay:
            moves = np.concatenate([moves, np.repeat(np.arange(self.grid.cells)[:, None], 2, axis=1)])
        cell, follower = moves[np.lexsort(moves.T[::-1])].T
        table = np.full((self.grid.cells, 9), -1)
        counts = np.bincount(cell, minlength=self.grid.cells)
        table[cell, ragged.places(ragged.offsets_of(counts))] = follower
        return table

    def perturb(self, paths: CellPaths, rng: np.random.Generator) -> CellPaths:
        """Return one perturbed path per path, repeats removed."""
        epsilon, n = self.epsilon, self.grid.n
        if self.hide_length:
            share, longest = self.length_share * epsilon, self.longest or 3 * n
            epsilon *= 1 - self.length_share
            positions, offsets = stretched(paths.offsets, randomized_sizes(paths.sizes, longest, share, rng))
            middle = (n // 2) * (n + 1)
            paths = CellPaths(np.append(paths.cells, middle)[positions], offsets, self.grid)
        sources = rng.spawn(len(chunks(len(paths))))
        drawn: NDArray[np.int32] = np.empty((len(paths.cells), self.order), dtype=np.int32)
        cells = np.empty_like(paths.cells)

        def work(number: int, start: int, stop: int) -> None:
            part, source = paths.offsets[start : stop + 1], sources[number]
            draw_grams(paths.cells, part, self.distances, self.near, epsilon, source, drawn)
            reconstruct(drawn, part, self.distances, self.near, source, cells)

        map_chunks(work, len(paths))
        kept = ragged.first_values(paths.offsets)
        kept[1:] |= cells[1:] != cells[:-1]
        return CellPaths(cells[kept], ragged.kept(paths.offsets, kept), self.grid)


@kernel
def draw_grams(cells, offsets, distances, near, epsilon, rng, drawn):  # type: ignore[no-untyped-def]
    """Draw the n-grams of the paths by the exponential mechanism; row p of `drawn` gets the draws of cell p.

    A window of `order` positions slides from before the first cell to behind the last one; where it hangs
    over, the gram is shorter. So each cell is drawn exactly `order` times, by l + order - 1 draws that share
    the budget.
    """
    order, n = drawn.shape[1], len(distances)
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
                _draw(cells[begin:end], weights[end - begin], near, rng, sums, drawn[begin:end], begin - at)


@kernel
def _draw(true, weight, near, rng, sums, drawn, column):  # type: ignore[no-untyped-def]
    """Draw one n-gram without listing all of them: backward sums over the positions, then forward draws.

    `sums[p, x]` is the weight of all ways to go on from cell x at position p. Position p fills column
    `column + p` of its row, so that the draws of one cell lie side by side.
    """
    last, n = len(true) - 1, len(weight)
    for p in range(last, -1, -1):
        i_true, j_true = true[p] // n, true[p] % n
        for i in range(n):
            for j in range(n):
                sums[p, i * n + j] = weight[abs(i - i_true), abs(j - j_true)]
                if p < last:
                    sums[p, i * n + j] *= _total(sums[p + 1], near[i * n + j])
    candidates, here = np.arange(n * n), np.int64(-1)
    for p in range(last + 1):
        rest = rng.random() * _total(sums[p], candidates)
        for x in candidates:
            if x >= 0 and rest >= 0.0:
                here = x
                rest -= sums[p, x]
        drawn[p, column + p] = here
        candidates = near[here]


@kernel
def _total(values, candidates):  # type: ignore[no-untyped-def]
    total = 0.0
    for x in candidates:
        if x >= 0:
            total += values[x]
    return total


@kernel
def reconstruct(drawn, offsets, distances, near, rng, cells):  # type: ignore[no-untyped-def]
    """Find for each path the cells closest to all draws, each step to an adjacent cell; ties are broken uniformly.

    The cost of a cell at a position is the sum of its distances to the draws of that position. The integer
    program adds up bigrams, so the inner positions count twice. Only cells in the bounding box of the draws
    may be used. Of the numbers of cheapest paths only the proportions matter; dividing keeps them finite on long paths.
    """
    n, longest = len(distances), np.diff(offsets).max()
    cost = np.empty((longest, n * n), dtype=np.int64)
    ways = np.empty((longest, n * n))
    for k in range(len(offsets) - 1):
        first, size = offsets[k], offsets[k + 1] - offsets[k]
        if size == 0:
            continue
        inside = _bounding_box(drawn[first : first + size], near)
        members = np.flatnonzero(inside)
        for p in range(size):
            times, most = 1 if p in (0, size - 1) else 2, 0.0
            for here in members:
                own = 0
                for z in drawn[first + p]:
                    own += distances[abs(here // n - z // n), abs(here % n - z % n)]
                behind, ways[p, here] = np.int64(0), 1.0
                if p > 0:
                    behind, ways[p, here] = least(cost[p - 1], ways[p - 1], near[here], inside)
                cost[p, here] = times * own + behind
                most = max(most, ways[p, here])
            for here in members:
                ways[p, here] /= most
        candidates = members
        for p in range(size - 1, -1, -1):
            cells[first + p] = pick(cost[p], ways[p], candidates, inside, rng)
            candidates = near[cells[first + p]]


@kernel
def _bounding_box(drawn, near):  # type: ignore[no-untyped-def]
    """Return which cells are in the bounding box of the draws."""
    n = int(np.sqrt(len(near)))
    i, j = drawn // n, drawn % n
    low_i, high_i, low_j, high_j = i.min(), i.max() + 1, j.min(), j.max() + 1
    if near[0, 0] != 0 and len(drawn) > 1 and high_i - low_i == 1 and high_j - low_j == 1:
        # A single cell leaves no way to move: one ring more does.
        low_i, high_i, low_j, high_j = max(low_i - 1, 0), high_i + 1, max(low_j - 1, 0), high_j + 1
    inside = np.zeros((n, n), dtype=np.bool_)
    inside[low_i:high_i, low_j:high_j] = True
    return inside.ravel()


@kernel
def least(cost, ways, candidates, allowed):  # type: ignore[no-untyped-def]
    """Return the least cost of the allowed candidates, and the number of ways with it; no candidate is below zero."""
    lowest, count = UNREACHABLE, 0.0
    for x in candidates:
        if x >= 0 and allowed[x] and ways[x] > 0.0 and cost[x] <= lowest:
            count = ways[x] + (count if cost[x] == lowest else 0.0)
            lowest = cost[x]
    return lowest, count


@kernel
def pick(cost, ways, candidates, allowed, rng):  # type: ignore[no-untyped-def]
    """Return one of the cheapest of the allowed candidates, in proportion to its ways."""
    lowest, total = least(cost, ways, candidates, allowed)
    rest, picked = rng.random() * total, -1
    for x in candidates:
        if x >= 0 and allowed[x] and ways[x] > 0.0 and cost[x] == lowest and rest >= 0.0:
            picked = x
            rest -= ways[x]
    return picked
