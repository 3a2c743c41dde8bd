"""The answers of devices with given cell paths: for every question a table with a row for each path and a column for
each item.

An entry is the probability that the device names the item. A device whose trip has P positions, more than it may name,
chooses m of them at random. An item that occurs c times is then named with probability 1 - C(P - c, m) / C(P, m).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import gammaln

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints, Ints32
from ldptrace.core.kernels import kernel
from ldptrace.core.paths import CellPaths, bend_items, direction_of, districts_of, link_items, move_items
from ldptrace.models.path.graph import TURN
from ldptrace.models.path.potentials import Layout
from ldptrace.protocol.lattice import TURNS, bend_count, link_count, move_count


@dataclass(frozen=True, eq=False)
class PathTables:
    """Tables for distinct cell paths, none of them empty. Paths longer than `lengths` cells count as this long.
    `districts` per side are those of the question `pairs`; 0 if nobody was asked it.
    """

    paths: CellPaths
    lengths: int
    districts: int = 0

    @property
    def layout(self) -> Layout:
        """The columns of each kind of feature, as in the potentials of the path model."""
        n = self.paths.grid.n
        return Layout(n * n, move_count(n), self.lengths)

    @cached_property
    def features(self) -> csr_array:
        """First and last cell, number of each move and each turn, number of cells: one row per path."""
        layout, every = self.layout, self.every
        rows = np.concatenate([every, every, self.step_rows, self.bend_rows, every])
        columns = np.concatenate(
            [
                self.paths.starts(),
                layout.end.start + self.paths.ends(),
                layout.move.start + self.moves,
                layout.turn.start + self.bends,
                layout.length.start + self.length_items,
            ]
        )
        return _counted(rows, columns, (len(every), layout.size))

    @cached_property
    def passed(self) -> csr_array:
        """How often each path (row) passes each cell (column)."""
        return _table(self, self.rows, self.paths.cells, self.paths.grid.cells)

    @cached_property
    def pairs(self) -> csr_array:
        """The pair of districts (column) of the ends of each path (row)."""
        if self.districts == 0:
            return csr_array((len(self.paths), 0))
        district, places = districts_of(self.paths.grid.n, self.districts), self.districts**2
        items = district[self.paths.starts()].astype(np.int64) * places + district[self.paths.ends()]
        return _table(self, self.every, items, places**2)

    def answers(self, question: str, most: int) -> csr_array:
        """Return the probability that the device of a path (row) names an item (column) of the question."""
        return ANSWERS[question](self, most)

    @property
    def every(self) -> Ints:
        """All paths by their numbers."""
        return np.arange(len(self.paths))

    @cached_property
    def rows(self) -> Ints:
        """The number of the path that each cell belongs to."""
        return ragged.owners(self.paths.offsets)

    @cached_property
    def length_items(self) -> Ints:
        """Item of every path's number of cells."""
        return np.minimum(self.paths.sizes, self.lengths) - 1

    @cached_property
    def _keys(self) -> Ints:
        """Key 8 * cell + direction of the step from every cell to the next; -1 at the last cell of a path."""
        return _step_keys(self.paths.cells, self.paths.offsets, self.paths.grid.n)

    @cached_property
    def step_rows(self) -> Ints:
        """The number of the path that each step between cells belongs to; `moves` and `links` have the items of these
        steps."""
        return self.rows[self._keys >= 0]

    @cached_property
    def moves(self) -> Ints32:
        return move_items(self.paths.grid.n)[self._keys[self._keys >= 0]]

    @cached_property
    def links(self) -> Ints32:
        return link_items(self.paths.grid.n)[self._keys[self._keys >= 0]]

    @cached_property
    def _bent(self) -> Ints:
        """Indices of the steps that another step follows."""
        return np.flatnonzero((self._keys[:-1] >= 0) & (self._keys[1:] >= 0))

    @cached_property
    def bend_rows(self) -> Ints:
        """The number of the path that each turn between two steps belongs to. `bends` are the classes of the turns."""
        return self.rows[self._bent]

    @cached_property
    def bends(self) -> Ints:
        return TURN[self._keys[self._bent] % 8, self._keys[self._bent + 1] % 8]

    @property
    def bend_items(self) -> Ints32:
        """The undirected bend at each turn between two steps."""
        moves = move_items(self.paths.grid.n)[self._keys[self._bent]]
        return bend_items(self.paths.grid.n)[8 * moves + self._keys[self._bent + 1] % 8]


def named(positions: NDArray[np.number], held: NDArray[np.number], most: int) -> Floats:
    """Return the probability that an item at `held` of the positions is named if `most` positions are chosen.

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


def different(paths: CellPaths, kinds: NDArray[np.int8]) -> tuple[Ints, Ints, Ints]:
    """Find the distinct pairs of path and kind. Return the index of the first path of each pair, all paths in an order
    in which equal pairs stand together, and the number of the pair of each path in that order."""
    # 64 bits: two of a million different paths are alike with a probability of one in forty million.
    keys = _hashes(paths.cells, paths.offsets, kinds)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    another = np.append(True, ordered[1:] != ordered[:-1])[: len(order)]
    return order[another], order, np.cumsum(another) - 1


def _terminals(tables: PathTables, _: int) -> csr_array:
    both = np.concatenate([tables.paths.starts(), tables.paths.ends()])
    counts = _table(tables, np.concatenate([tables.every, tables.every]), both, tables.paths.grid.cells)
    # Both are named.
    return _named(counts, np.full(len(tables.paths), 2), most=2)


# The questions that the route model uses: what the devices of paths answer when they may name a few items only.
ANSWERS: dict[str, Callable[[PathTables, int], csr_array]] = {
    "length": lambda tables, _: _table(tables, tables.every, tables.length_items, tables.lengths),
    "start": lambda tables, _: _table(tables, tables.every, tables.paths.starts(), tables.paths.grid.cells),
    "end": lambda tables, _: _table(tables, tables.every, tables.paths.ends(), tables.paths.grid.cells),
    "terminals": _terminals,
    "visits": lambda tables, most: _named(tables.passed, tables.paths.sizes, most),
    "moves": lambda tables, most: _named(
        _table(tables, tables.step_rows, tables.moves, move_count(tables.paths.grid.n)),
        tables.paths.sizes - 1,
        most,
    ),
    "links": lambda tables, most: _named(
        _table(tables, tables.step_rows, tables.links, link_count(tables.paths.grid.n)),
        tables.paths.sizes - 1,
        most,
    ),
    "turns": lambda tables, _: _named(
        _table(tables, tables.bend_rows, tables.bends, TURNS), tables.paths.sizes - 2, most=1
    ),
    "pairs": lambda tables, _: tables.pairs,
    "bends": lambda tables, most: _named(
        _table(tables, tables.bend_rows, tables.bend_items, bend_count(tables.paths.grid.n)),
        tables.paths.sizes - 2,
        most,
    ),
}


def _table(
    tables: PathTables, rows: NDArray[np.integer], items: NDArray[np.integer], domain: int
) -> csr_array:
    """Return how often each path (row) has each item (column)."""
    return _counted(rows, items, (len(tables.paths), domain))


def _counted(rows: NDArray[np.integer], columns: NDArray[np.integer], shape: tuple[int, int]) -> csr_array:
    """Return how often each pair of row and column occurs."""
    table = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    table.sum_duplicates()
    return table


def _named(counts: csr_array, positions: Ints, most: int) -> csr_array:
    """Turn counts of items into probabilities of naming them."""
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
    """Return a 64-bit hash of every path with its kind (FNV-1a with extra mixing)."""
    hashes = np.empty(len(kinds), dtype=np.uint64)
    prime = np.uint64(1099511628211)
    for path in range(len(kinds)):
        value = (np.uint64(14695981039346656037) ^ np.uint64(kinds[path] + 1)) * prime
        for at in range(offsets[path], offsets[path + 1]):
            value = (value ^ np.uint64(cells[at] + 1)) * prime
            value ^= value >> np.uint64(29)
        hashes[path] = value
    return hashes
