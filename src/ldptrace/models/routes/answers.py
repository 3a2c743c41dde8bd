"""What the device of a given path would answer: for every question a table of paths by items.

An entry is the probability that the path's device names the item. A device with more positions than it may name
chooses m of its P positions at random, so an item at c of them is named with probability 1 - C(P - c, m) / C(P, m).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import gammaln

from ldptrace.core.kernels import kernel
from ldptrace.core.paths import CellPaths, direction_of
from ldptrace.core.tables import link_items, move_items
from ldptrace.models.path.graph import TURN
from ldptrace.models.path.potentials import Layout
from ldptrace.protocol.lattice import TURNS, link_count, move_count

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PathTables:
    """Tables of different cell paths, none of them empty; `lengths` is the last number of cells that counts."""

    paths: CellPaths
    lengths: int

    @property
    def layout(self) -> Layout:
        """Where each feature of a path is among its columns: the potentials of the path model."""
        n = self.paths.grid.n
        return Layout(n * n, move_count(n), self.lengths)

    @cached_property
    def features(self) -> csr_array:
        """First and last cell, number of each move and of each turn, number of cells: one row per path."""
        layout, every = self.layout, np.arange(len(self.paths))
        rows = np.concatenate([every, every, self._step_rows, self._bend_rows, every])
        columns = np.concatenate(
            [
                self.paths.starts(),
                layout.end.start + self.paths.ends(),
                layout.move.start + self._moves,
                layout.turn.start + self._bends,
                layout.length.start + self._lengths,
            ]
        )
        return _counted(rows, columns, (len(every), layout.size))

    def answers(self, question: str, most: int) -> csr_array:
        """Probability that the device of a path (row) names an item (column) of the question."""
        n, every, sizes = self.paths.grid.n, np.arange(len(self.paths)), self.paths.sizes
        many, cells = len(every), n * n
        match question:
            case "length":
                return _counted(every, self._lengths, (many, self.lengths))
            case "start":
                return _counted(every, self.paths.starts(), (many, cells))
            case "end":
                return _counted(every, self.paths.ends(), (many, cells))
            case "terminals":
                both = np.concatenate([self.paths.starts(), self.paths.ends()])
                return _named(
                    _counted(np.concatenate([every, every]), both, (many, cells)), sizes, most=2**30
                )
            case "visits":
                return _named(_counted(self._rows, self.paths.cells, (many, cells)), sizes, most)
            case "moves":
                return _named(_counted(self._step_rows, self._moves, (many, move_count(n))), sizes - 1, most)
            case "links":
                return _named(_counted(self._step_rows, self._links, (many, link_count(n))), sizes - 1, most)
            case "turns":
                return _named(_counted(self._bend_rows, self._bends, (many, TURNS)), sizes - 2, most=1)
        raise NotImplementedError(f"the route model does not know the question {question!r}")

    @cached_property
    def _rows(self) -> Ints:
        return np.repeat(np.arange(len(self.paths)), self.paths.sizes)

    @cached_property
    def _lengths(self) -> Ints:
        return np.minimum(self.paths.sizes, self.lengths) - 1

    @cached_property
    def _keys(self) -> Ints:
        """Key 8 * cell + direction of the step from every cell to the next; -1 at the last cell of a path."""
        return _step_keys(self.paths.cells, self.paths.offsets, self.paths.grid.n)

    @cached_property
    def _step_rows(self) -> Ints:
        return self._rows[self._keys >= 0]

    @cached_property
    def _moves(self) -> NDArray[np.int32]:
        return move_items(self.paths.grid.n)[self._keys[self._keys >= 0]]

    @cached_property
    def _links(self) -> NDArray[np.int32]:
        return link_items(self.paths.grid.n)[self._keys[self._keys >= 0]]

    @cached_property
    def _bent(self) -> Ints:
        """Places of the steps that another one follows."""
        return np.flatnonzero((self._keys[:-1] >= 0) & (self._keys[1:] >= 0))

    @cached_property
    def _bend_rows(self) -> Ints:
        return self._rows[self._bent]

    @cached_property
    def _bends(self) -> Ints:
        return TURN[self._keys[self._bent] % 8, self._keys[self._bent + 1] % 8]


def named(positions: NDArray[np.number], held: NDArray[np.number], most: int) -> Floats:
    """Probability that an item at `held` of so many positions is named when `most` of them are chosen.

    >>> named(np.array([3, 10, 10]), np.array([1, 1, 10]), 5).round(9).tolist()
    [1.0, 0.5, 1.0]
    """
    positions, held = np.asarray(positions, dtype=np.float64), np.asarray(held, dtype=np.float64)
    others = positions - held
    certain = (positions <= most) | (others < most)
    left = np.where(certain, 0.0, others - most)
    whole = np.where(certain, 0.0, positions - most)
    missed = gammaln(others + 1) - gammaln(left + 1) - gammaln(positions + 1) + gammaln(whole + 1)
    return np.where(certain, 1.0, -np.expm1(missed))


def different(paths: CellPaths, kinds: NDArray[np.int8]) -> tuple[Ints, Ints]:
    """The different pairs of path and kind: where each is first, and which of them every path is."""
    # 64 bits: two of a million different paths are alike with a probability of one in forty million.
    keys = _hashes(paths.cells, paths.offsets, kinds)
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return first, group.ravel()


def _counted(rows: NDArray[np.integer], columns: NDArray[np.integer], shape: tuple[int, int]) -> csr_array:
    """How often each pair of row and column occurs."""
    table = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    table.sum_duplicates()
    return table


def _named(counts: csr_array, positions: Ints, most: int) -> csr_array:
    """Counts of items to probabilities of naming them."""
    table = counts.copy()
    table.data = named(np.repeat(positions, np.diff(counts.indptr)), counts.data, most)
    return table


@kernel
def _step_keys(cells, offsets, n):  # type: ignore[no-untyped-def]
    keys = np.full(len(cells), -1, dtype=np.int64)
    for path in range(len(offsets) - 1):
        for at in range(offsets[path], offsets[path + 1] - 1):
            here, there = cells[at], cells[at + 1]
            keys[at] = 8 * here + direction_of(there // n - here // n, there % n - here % n)
    return keys


@kernel
def _hashes(cells, offsets, kinds):  # type: ignore[no-untyped-def]
    """A 64-bit hash of every path with its kind (FNV-1a, stirred)."""
    hashes = np.empty(len(kinds), dtype=np.uint64)
    prime = np.uint64(1099511628211)
    for path in range(len(kinds)):
        value = (np.uint64(14695981039346656037) ^ np.uint64(kinds[path] + 1)) * prime
        for at in range(offsets[path], offsets[path + 1]):
            value = (value ^ np.uint64(cells[at] + 1)) * prime
            value ^= value >> np.uint64(29)
        hashes[path] = value
    return hashes
