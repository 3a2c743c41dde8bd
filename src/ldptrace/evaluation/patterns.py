"""Frequent patterns: contiguous pieces of 2 to 8 cells of the paths, and how often they occur.

A pattern is a first cell and up to seven moves. Patterns are mined level by level: a piece can be among the
most frequent only if it occurs more often than the least of those found so far, and so must its beginning.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.paths import CellPaths, direction_of

Codes = NDArray[np.int32]

TOP = 100
SHORTEST, LONGEST = 2, 8


@dataclass(frozen=True, eq=False)
class Patterns:
    """The most frequent patterns, most frequent first; row k of `cells` is padded with -1."""

    cells: Codes
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    def names(self) -> list[bytes]:
        """One hashable name per pattern."""
        return [row.tobytes() for row in self.cells]


def mine(paths: CellPaths, top: int = TOP) -> Patterns:
    """The `top` most frequent patterns.

    Ties are broken as in the reference: shorter patterns first, then the one seen first in the data.

    >>> from ldptrace.protocol.grid import Grid
    >>> found = mine(CellPaths.from_lists([[0, 1, 2], [0, 1]], Grid((0, 0, 3, 3), 3)))
    >>> found.cells[:, :3].tolist(), found.counts.tolist()
    ([[0, 1, -1], [1, 2, -1], [0, 1, 2]], [2, 1, 1])
    """
    cells, offsets = paths.cells, paths.offsets
    moves = directions(paths)
    nodes = cells.copy()
    children = 8 * paths.grid.cells
    counts = np.empty(0, dtype=np.int64)
    sizes, firsts = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    for size in range(SHORTEST, LONGEST + 1):

        def count(_: int, start: int, stop: int, size: int = size, children: int = children):  # type: ignore[no-untyped-def]
            found = np.zeros(children, dtype=np.int64)
            seen = np.zeros(children, dtype=np.int64)
            _count_children(nodes, moves, offsets[start], offsets[stop], size, found, seen)
            return found, seen

        found = np.zeros(children, dtype=np.int64)
        seen = np.zeros(children, dtype=np.int64)
        for part, part_seen in map_chunks(count, len(paths)):
            seen = np.where(found == 0, part_seen, seen)
            found += part
        frequent = np.flatnonzero(found > (counts[top - 1] if len(counts) >= top else 0))
        counts = np.concatenate((counts, found[frequent]))
        sizes = np.concatenate((sizes, np.full(len(frequent), size)))
        firsts = np.concatenate((firsts, seen[frequent]))
        best = np.lexsort((firsts, sizes, -counts))[:top]
        counts, sizes, firsts = counts[best], sizes[best], firsts[best]
        extended = frequent[found[frequent] > (counts[top - 1] if len(counts) >= top else 0)]
        if len(extended) == 0:
            break
        renumber = np.full(children, -1, dtype=np.int32)
        renumber[extended] = np.arange(len(extended), dtype=np.int32)

        def descend(_: int, start: int, stop: int, size: int = size, renumber: Codes = renumber) -> None:
            _descend(nodes, moves, offsets[start], offsets[stop], size, renumber)

        map_chunks(descend, len(paths))
        children = 8 * len(extended)
    rows = np.full((len(counts), LONGEST), -1, dtype=np.int32)
    for row, (first, length) in enumerate(zip(firsts, sizes, strict=True)):
        rows[row, :length] = cells[first : first + length]
    return Patterns(rows, counts)


def support(paths: CellPaths, patterns: Patterns) -> NDArray[np.int64]:
    """How often each of `patterns` occurs in `paths`."""
    roots, children, names = _trie(patterns, paths.grid.n)
    moves = directions(paths)

    def work(_: int, start: int, stop: int) -> NDArray[np.int64]:
        out = np.zeros(len(patterns), dtype=np.int64)
        _walk(paths.cells, moves, paths.offsets[start], paths.offsets[stop], roots, children, names, out)
        return out

    total = np.zeros(len(patterns), dtype=np.int64)
    for part in map_chunks(work, len(paths)):
        total += part
    return total


def directions(paths: CellPaths) -> NDArray[np.int8]:
    """Number of the move out of every cell of every path, -1 at its last cell."""
    moves = np.full(len(paths.cells), -1, dtype=np.int8)

    def work(_: int, start: int, stop: int) -> None:
        _directions(paths.cells, paths.offsets, start, stop, paths.grid.n, moves)

    map_chunks(work, len(paths))
    return moves


def _trie(patterns: Patterns, n: int) -> tuple[Codes, Codes, Codes]:
    """Node of each first cell, child of each node by move, and the pattern that ends in a node (-1: none)."""
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
def _directions(cells, offsets, start, stop, n, moves):  # type: ignore[no-untyped-def]
    for k in range(start, stop):
        for p in range(offsets[k], offsets[k + 1] - 1):
            di = cells[p + 1] // n - cells[p] // n
            moves[p] = direction_of(di, cells[p + 1] - cells[p] - di * n)


@kernel
def _count_children(nodes, moves, start, stop, size, found, seen):  # type: ignore[no-untyped-def]
    """Count the patterns of `size` cells by beginning (a node) and last move; note the first of each."""
    for p in range(start, stop - size + 1):
        if nodes[p] >= 0 and moves[p + size - 2] >= 0:
            child = 8 * nodes[p] + moves[p + size - 2]
            if found[child] == 0:
                seen[child] = p
            found[child] += 1


@kernel
def _descend(nodes, moves, start, stop, size, renumber):  # type: ignore[no-untyped-def]
    """Replace each node by its child; -1 where the path ends or the child is not frequent."""
    for p in range(start, stop):
        if nodes[p] >= 0:
            inside = p + size <= stop and moves[p + size - 2] >= 0
            nodes[p] = renumber[8 * nodes[p] + moves[p + size - 2]] if inside else -1


@kernel
def _walk(cells, moves, start, stop, roots, children, names, out):  # type: ignore[no-untyped-def]
    for p in range(start, stop):
        node = roots[cells[p]]
        step = p
        while node >= 0:
            if names[node] >= 0:
                out[names[node]] += 1
            if moves[step] < 0:
                break
            node = children[node, moves[step]]
            step += 1
