"""The moves of a grid as the states of a chain: where each comes from, where it leads, what may follow it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldptrace.core.arrays import Flags, Floats, Ints
from ldptrace.core.paths import grid_moves, move_items
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import move_count, turn

TURN = np.array([[turn(before, after) for after in range(8)] for before in range(8)], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class MoveGraph:
    """Moves are numbered as the grid numbers them, so the moves out of one cell are consecutive.

    The moves that may follow move `e` are `first[target[e]] .. first[target[e] + 1]`.

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

    @cached_property
    def following(self) -> Ints:
        """The moves that may follow each move, one row of eight; -1 where there are fewer."""
        count = np.diff(self.first)[self.target]
        table = self.first[self.target][:, None] + np.arange(8)
        return np.where(np.arange(8) < count[:, None], table, -1)

    @cached_property
    def turns(self) -> Ints:
        """The turn that each following move makes; 0 where there is none."""
        after = self.direction[np.maximum(self.following, 0)]
        return np.where(self.following >= 0, TURN[self.direction[:, None], after], 0)

    def by_source(self, of_moves: Floats, axis: int = -1) -> Floats:
        """Values of moves (along one axis, by default the last) summed over the moves out of each cell."""
        return np.add.reduceat(of_moves, self.first[:-1], axis=axis)

    def by_target(self, of_moves: Floats, axis: int = -1) -> Floats:
        """Values of moves summed over the moves into each cell."""
        return self.by_source(of_moves.take(self.reverse, axis), axis)

    def by_link(self, of_moves: Floats, axis: int = -1) -> Floats:
        """Values of moves summed over the two directions of each link."""
        return of_moves.take(self._lower, axis) + of_moves.take(self.reverse[self._lower], axis)

    @cached_property
    def back(self) -> Ints:
        """Position of the move back among the moves that may follow."""
        return self.reverse - self.first[self.target]
