"""Find frequent patterns: sequences of 2 to 8 consecutive cells of paths, and how often they occur.

A pattern is one number, its code: the first cell, then seven digits to the base nine. Digits are moves from 1 to 8, and
0 behind the last cell. So the code of a pattern is also that of its beginning, with more digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Ints, Ints32
from ldptrace.core.parallel import NOTHING
from ldptrace.core.paths import CellPaths
from ldptrace.protocol import lattice
from ldptrace.simulation.answers import moves_of

TOP = 100
LONGEST = 8
# Cells of the patterns of the first pass over the data, at most. Longer ones that are frequent begin with one of them
# that is frequent too, so the second pass counts few different patterns.
HALF = 4
# The value of the digit behind each number of cells.
_VALUE = 9 ** np.arange(LONGEST - 1, -1, -1)
_DI, _DJ = np.array(lattice.DIRECTION_DI), np.array(lattice.DIRECTION_DJ)

# Adds up, over all blocks, work on the paths of a block with its number.
Passes = Callable[[Callable[[CellPaths, int], Any]], Any]


@dataclass(frozen=True, eq=False)
class Patterns:
    """The codes of patterns on a grid with `n` cells per side, how often each occurs, and where it occurs first. Those
    of blocks can be added."""

    codes: Ints
    counts: Ints
    firsts: Ints
    n: int

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def cells(self) -> Ints32:
        """The cells of each pattern, a row padded with -1."""
        digits = self.codes[:, None] // _VALUE % 9
        steps = np.append(0, _DI * self.n + _DJ)[digits]
        steps[:, 0] = self.codes // _VALUE[0]
        behind = digits == 0
        behind[:, 0] = False
        return np.where(behind, -1, steps.cumsum(axis=1)).astype(np.int32)

    def __add__(self, other: Patterns) -> Patterns:
        codes, place = np.unique(np.concatenate((self.codes, other.codes)), return_inverse=True)
        counts, firsts = np.zeros(len(codes), dtype=np.int64), np.full(len(codes), np.iinfo(np.int64).max)
        np.add.at(counts, place, np.concatenate((self.counts, other.counts)))
        np.minimum.at(firsts, place, np.concatenate((self.firsts, other.firsts)))
        return Patterns(codes, counts, firsts, self.n)

    def most_frequent(self) -> Patterns:
        """Return the hundred most frequent patterns, most frequent first. Ties are broken as in the reference code:
        shorter patterns first, then the pattern that occurs first in the data."""
        sizes = np.count_nonzero(self.codes[:, None] % _VALUE[:-1], axis=1)
        order = np.lexsort((self.firsts, sizes, -self.counts))[:TOP]
        return Patterns(self.codes[order], self.counts[order], self.firsts[order], self.n)


def mine(passes: Passes) -> Patterns:
    """Return the most frequent patterns of paths that are read block by block, in two passes.

    >>> from ldptrace.protocol.grid import Grid
    >>> paths = CellPaths.from_lists([[0, 1, 2], [0, 1]], Grid((0, 0, 3, 3), 3))
    >>> patterns = mine(lambda work: work(paths, 0))
    >>> patterns.cells[:, :3].tolist(), patterns.counts.tolist()
    ([[0, 1, -1], [1, 2, -1], [0, 1, 2]], [2, 1, 1])
    """
    short: Patterns = passes(partial(_counted, range(2, HALF + 1), None))
    best = short.most_frequent()
    least = best.counts[-1] if len(best.counts) == TOP else 0
    middle = (short.codes % _VALUE[HALF - 1] == 0) & (short.codes % _VALUE[HALF - 2] > 0)
    beginnings = short.codes[middle & (short.counts > least)]
    if len(beginnings):
        longer = passes(partial(_counted, range(HALF + 1, LONGEST + 1), beginnings))
        best = (best + longer).most_frequent()
    return best


def support(paths: CellPaths, patterns: Patterns) -> Ints:
    """Count how often each of `patterns` occurs in `paths`."""
    out = np.zeros(len(patterns), dtype=np.int64)
    order = np.argsort(patterns.codes)
    known = patterns.codes[order]
    for codes, _ in _occurring(paths, range(2, LONGEST + 1)) if len(patterns) else ():
        place = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        out[order] += np.bincount(place[known[place] == codes], minlength=len(known))
    return out


def _counted(sizes: range, beginnings: Ints | None, paths: CellPaths, number: int) -> Patterns:
    """Count the patterns of these sizes in one block; of longer ones, those that begin with one of `beginnings`."""
    total: Patterns = NOTHING
    for codes, at in _occurring(paths, sizes, beginnings):
        codes, first, counts = np.unique(codes, return_index=True, return_counts=True)
        # Blocks come one after the other, so the first in the data is in the first block.
        total = total + Patterns(codes, counts, at[first] + (number << 28), paths.grid.n)
    return total


def _occurring(
    paths: CellPaths, sizes: range, beginnings: Ints | None = None
) -> Iterator[tuple[NDArray[np.int64], Ints]]:
    """Yield for each size the codes of all patterns in the order of the paths, and where each begins."""
    moves = moves_of(paths)
    at, codes = np.arange(len(paths.cells)), paths.cells * _VALUE[0]
    for size in range(2, sizes.stop):
        move = moves[at + size - 2]
        goes_on = move > 0
        at, codes = at[goes_on], (codes + move * _VALUE[size - 1])[goes_on]
        if size in sizes:
            yield codes, at
        elif beginnings is not None and size == sizes.start - 1:
            kept = np.isin(codes, beginnings)
            at, codes = at[kept], codes[kept]
