"""The moves of a grid as the states of a chain: where each comes from, where it leads, what may follow it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldptrace.core.arrays import Flags, Floats, Ints
from ldptrace.core.paths import bend_items, grid_moves, move_items
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import bend_count, move_count, turn

# The class of the turn out in direction d (row) after direction b in (column).
TURN = np.array([[turn(before, after) for before in range(8)] for after in range(8)], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class MoveGraph:
    """Moves are numbered as the grid numbers them, so the moves out of one cell are consecutive.

    >>> graph = MoveGraph(Grid((0, 0, 1, 1), 2))
    >>> graph.moves, graph.links
    (12, 6)
    """

    grid: Grid
    # Which cells a path may enter, where an area says so; None: all.
    land: Flags | None = None

    @property
    def cells(self) -> int:
        return self.grid.cells

    @property
    def moves(self) -> int:
        return move_count(self.grid.n)

    @property
    def links(self) -> int:
        """Pairs of adjacent cells: a move and its way back are one link."""
        return self.moves // 2

    @cached_property
    def source(self) -> Ints:
        return grid_moves(self.grid.n)[:, 0].astype(np.int64)

    @cached_property
    def direction(self) -> Ints:
        return grid_moves(self.grid.n)[:, 1].astype(np.int64)

    @cached_property
    def target(self) -> Ints:
        return grid_moves(self.grid.n)[:, 2].astype(np.int64)

    @cached_property
    def open_cells(self) -> Floats:
        """1 for cells that a path may enter, 0 for others."""
        return np.ones(self.cells) if self.land is None else self.land.astype(np.float64)

    @cached_property
    def open_moves(self) -> Floats:
        """1 for moves between cells that a path may enter, 0 for others."""
        return self.open_cells[self.source] * self.open_cells[self.target]

    @cached_property
    def first(self) -> Ints:
        """Where the moves out of each cell begin."""
        return np.searchsorted(self.source, np.arange(self.cells + 1)).astype(np.int64)

    @cached_property
    def reverse(self) -> Ints:
        """The move back."""
        return move_items(self.grid.n)[8 * self.target + 7 - self.direction].astype(np.int64)

    @cached_property
    def link(self) -> Ints:
        """Number of each move's link: links are numbered by the lower of their two moves."""
        return np.searchsorted(self._lower, np.minimum(np.arange(self.moves), self.reverse))

    @cached_property
    def _lower(self) -> Ints:
        """The lower move of each link."""
        return np.flatnonzero(np.arange(self.moves) < self.reverse)

    def by_source(self, of_moves: Floats, axis: int = -1) -> Floats:
        """Return values of moves (along one axis, by default the last) summed over the moves out of each cell."""
        return np.add.reduceat(of_moves, self.first[:-1], axis=axis)

    def by_target(self, of_moves: Floats, axis: int = -1) -> Floats:
        """Return values of moves summed over the moves into each cell."""
        return self.by_source(of_moves.take(self.reverse, axis), axis)

    def by_link(self, of_moves: Floats, axis: int = -1) -> Floats:
        """Return values of moves summed over the two directions of each link."""
        return of_moves.take(self._lower, axis) + of_moves.take(self.reverse[self._lower], axis)

    def leaving(self, of_moves: Floats) -> Floats:
        """Return values of moves by direction and the cell they leave; 0 where a move would leave the grid."""
        table = np.zeros((8, self.cells))
        table[self.direction, self.source] = of_moves
        return table

    @cached_property
    def bend(self) -> Ints:
        """Entry (d, b, c): the undirected bend at cell c, out in direction d after direction b in; -1: off the grid."""
        there = move_items(self.grid.n).reshape(-1, 8).T
        items = bend_items(self.grid.n).reshape(-1, 8)
        before = there[::-1]
        into = np.where(before >= 0, self.reverse[before], -1)
        bends = np.where(into[:, :, None] >= 0, items[into], -1)
        return np.ascontiguousarray(bends.transpose(2, 0, 1)).astype(np.int64)

    @cached_property
    def bend_cell(self) -> Ints:
        """The cell of each undirected bend."""
        return self._bends[1]

    @cached_property
    def bend_shape(self) -> Ints:
        """Which directions each undirected bend joins, anywhere on the map: a number below 64."""
        return self._bends[0]

    @cached_property
    def _bends(self) -> tuple[Ints, Ints]:
        """The smaller of both numbers of the directions, and the cell, of each undirected bend."""
        out, into, cell = np.nonzero(self.bend >= 0)
        items = self.bend[out, into, cell]
        shape, where = np.full(self.bends, 64), np.zeros(self.bends, dtype=np.int64)
        np.minimum.at(shape, items, 8 * out + into)
        where[items] = cell
        return shape, where

    @property
    def bends(self) -> int:
        """Number of undirected bends."""
        return bend_count(self.grid.n)

    @cached_property
    def _both_ways(self) -> Ints:
        """The two directed bends of each undirected one; the number of all of them where there is no second one."""
        inside = np.flatnonzero(self.bend.ravel() >= 0)
        items = self.bend.ravel()[inside]
        once, first = np.unique(items, return_index=True)
        both = np.full((2, len(once)), 64 * self.cells)
        both[0] = inside[first]
        second = np.delete(np.arange(len(inside)), first)
        both[1, items[second]] = inside[second]
        return both

    def by_bend(self, of_bends: Floats) -> Floats:
        """Return values of directed bends (along the last axis) summed over both directions of each."""
        first, second = self._both_ways
        padded = np.concatenate([of_bends, np.zeros((*of_bends.shape[:-1], 1))], axis=-1)
        return padded[..., first] + padded[..., second]
