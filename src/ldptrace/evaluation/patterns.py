"""Find frequent patterns: sequences of 2 to 8 consecutive cells of paths, and how often they occur. A pattern is a
first cell and up to seven moves. Patterns are extended by a few moves at a time: a pattern can be among the most
frequent only if its beginning is frequent enough too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Ints
from ldptrace.core.kernels import kernel
from ldptrace.core.paths import CellPaths, direction_of
from ldptrace.protocol import lattice

Codes = NDArray[np.int32]

TOP = 100
LONGEST = 8
# Entries of the table of a pass, and a place behind all others.
_TABLE = 1 << 19
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Patterns:
    """The most frequent patterns, most frequent first; row k of `cells` is padded with -1."""

    cells: Codes
    counts: Ints

    def __len__(self) -> int:
        return len(self.counts)

    def names(self) -> list[bytes]:
        """Return a hashable name for each pattern."""
        return [row.tobytes() for row in self.cells]


# Work on the paths of a block of that number, added up over all blocks, starting from nothing.
Passes = Callable[[Callable[[CellPaths, int], Any], Any], Any]


@dataclass(frozen=True, eq=False)
class _Found:
    """How often each extension of the present patterns occurs, and where it occurs first. Results of blocks can be
    added."""

    counts: Ints
    firsts: Ints

    @staticmethod
    def nothing(size: int) -> _Found:
        return _Found(np.zeros(size, dtype=np.int64), np.full(size, _NEVER))

    def __add__(self, other: _Found) -> _Found:
        return _Found(self.counts + other.counts, np.minimum(self.firsts, other.firsts))


def mine(paths: CellPaths, top: int = TOP) -> Patterns:
    """Return the `top` most frequent patterns. Ties are broken as in the reference code: shorter patterns first, then
    the pattern that occurs first in the data.

    >>> from ldptrace.protocol.grid import Grid
    >>> found = mine(CellPaths.from_lists([[0, 1, 2], [0, 1]], Grid((0, 0, 3, 3), 3)))
    >>> found.cells[:, :3].tolist(), found.counts.tolist()
    ([[0, 1, -1], [1, 2, -1], [0, 1, 2]], [2, 1, 1])
    """
    return mine_passes(lambda work, nothing: nothing + work(paths, 0), paths.grid.n, top)


def mine_passes(passes: Passes, n: int, top: int = TOP) -> Patterns:
    """Do the same as `mine` for paths that are read block by block, in a few passes. A pass counts all extensions of
    the present patterns, by as many moves as a table of `_TABLE` entries can hold.
    """
    # The patterns to extend, as rows of cells: at first every cell by itself.
    rows = np.arange(n * n, dtype=np.int32)[:, None]
    best = Patterns(np.empty((0, LONGEST), dtype=np.int32), np.empty(0, dtype=np.int64))
    firsts, sizes = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    while len(rows) and rows.shape[1] < LONGEST:
        size, levels = rows.shape[1], 1
        while size + levels < LONGEST and len(rows) * 8 ** (levels + 1) <= _TABLE:
            levels += 1
        begins = ragged.offsets_of([len(rows) * 8**level for level in range(1, levels + 1)])
        trie = _trie(Patterns(rows, np.empty(len(rows), dtype=np.int64)), n)
        found = passes(partial(_extensions, trie, size, begins), _Found.nothing(int(begins[-1])))
        for level in range(1, levels + 1):
            counts, seen = (
                column[begins[level - 1] : begins[level]] for column in (found.counts, found.firsts)
            )
            frequent = np.flatnonzero(counts > _least(best, top))
            longer = _extended(rows, frequent, level, n)
            padded = np.pad(longer, ((0, 0), (0, LONGEST - size - level)), constant_values=-1)
            cells, often = (
                np.concatenate((best.cells, padded)),
                np.concatenate((best.counts, counts[frequent])),
            )
            firsts = np.concatenate((firsts, seen[frequent]))
            sizes = np.concatenate((sizes, np.full(len(frequent), size + level)))
            order = np.lexsort((firsts, sizes, -often))[:top]
            best, firsts, sizes = Patterns(cells[order], often[order]), firsts[order], sizes[order]
        rows = longer[counts[frequent] > _least(best, top)]
    return best


def _least(best: Patterns, top: int) -> int:
    """Return the count that a pattern must exceed to be among the most frequent."""
    return int(best.counts[top - 1]) if len(best) >= top else 0


def _extensions(
    trie: tuple[Codes, Codes, Codes], size: int, begins: Ints, paths: CellPaths, number: int
) -> _Found:
    """Count the extensions of the patterns of a trie, of `size` cells each, in one block."""
    found = _Found.nothing(int(begins[-1]))
    _count_extensions(paths.cells, directions(paths), trie, size, begins, found.counts, found.firsts)
    # Blocks come one after the other, so the first in the data is in the first block.
    seen = found.firsts < _NEVER
    found.firsts[seen] += number << 28
    return found


def _extended(rows: Codes, codes: Ints, level: int, n: int) -> Codes:
    """Return the cells of extensions by `level` moves. A code contains the number of a row and the moves, in base
    eight."""
    steps = np.array(lattice.DIRECTION_DI) * n + np.array(lattice.DIRECTION_DJ)
    longer = rows[codes // 8**level]
    for place in range(level - 1, -1, -1):
        after = longer[:, -1] + steps[codes // 8**place % 8]
        longer = np.column_stack((longer, after.astype(np.int32)))
    return longer


def support(paths: CellPaths, patterns: Patterns) -> Ints:
    """Count how often each of `patterns` occurs in `paths`."""
    out = np.zeros(len(patterns), dtype=np.int64)
    _walk(paths.cells, directions(paths), _trie(patterns, paths.grid.n), out)
    return out


def directions(paths: CellPaths) -> NDArray[np.int8]:
    """Return the direction of the move out of every cell of every path, or -1 at the last cell."""
    moves = np.full(len(paths.cells), -1, dtype=np.int8)
    _directions(paths.cells, paths.offsets, paths.grid.n, moves)
    return moves


def _trie(patterns: Patterns, n: int) -> tuple[Codes, Codes, Codes]:
    """Return the trie of patterns: the node of each first cell, the child of each node by move, and the pattern that
    ends in a node (-1: none)."""
    roots = np.full(n * n, -1, dtype=np.int32)
    children, names = [], []

    def node() -> int:
        children.append([-1] * 8)
        names.append(-1)
        return len(names) - 1

    for name, row in enumerate(patterns.cells):
        cells = row[row >= 0].tolist()
        if roots[cells[0]] < 0:
            roots[cells[0]] = node()
        here = int(roots[cells[0]])
        for before, after in itertools.pairwise(cells):
            move = direction_of(after // n - before // n, after % n - before % n)
            if children[here][move] < 0:
                children[here][move] = node()
            here = children[here][move]
        names[here] = name
    return roots, np.array(children, dtype=np.int32).reshape(-1, 8), np.array(names, dtype=np.int32)


@kernel
def _directions(cells, offsets, n, moves):  # type: ignore[no-untyped-def]
    for k in range(len(offsets) - 1):
        for p in range(offsets[k], offsets[k + 1] - 1):
            di = cells[p + 1] // n - cells[p] // n
            moves[p] = direction_of(di, cells[p + 1] - cells[p] - di * n)


@kernel
def _count_extensions(cells, moves, trie, size, begins, counts, firsts):  # type: ignore[no-untyped-def]
    """Count what follows each occurrence of a pattern of the trie, level by level, and record the first occurrence."""
    roots, children, names = trie
    for p in range(len(cells)):
        node = roots[cells[p]]
        step = p
        while node >= 0 and step < p + size - 1:
            node = children[node, moves[step]] if moves[step] >= 0 else -1
            step += 1
        if node < 0:
            continue
        code = np.int64(names[node])
        for level in range(len(begins) - 1):
            if moves[step + level] < 0:
                break
            code = 8 * code + moves[step + level]
            at = begins[level] + code
            if counts[at] == 0:
                firsts[at] = p
            counts[at] += 1


@kernel
def _walk(cells, moves, trie, out):  # type: ignore[no-untyped-def]
    roots, children, names = trie
    for p in range(len(cells)):
        node = roots[cells[p]]
        step = p
        while node >= 0:
            if names[node] >= 0:
                out[names[node]] += 1
            if moves[step] < 0:
                break
            node = children[node, moves[step]]
            step += 1
