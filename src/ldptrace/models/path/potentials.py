"""The log-potentials x of the path model, whose vector has a place for each kind (`Layout`), and the weights they make.

The weight of a path is a product: its first cell, its first move, every later move given the one before, its last cell
given the district of the first one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldptrace.core.arrays import Floats, Ints32
from ldptrace.core.paths import districts_of
from ldptrace.models.path.features import Features, turn_classes
from ldptrace.models.path.graph import MoveGraph
from ldptrace.protocol.lattice import TURNS


@dataclass(frozen=True)
class Layout:
    """Where each kind of log-potential is in the vector of all.

    Pairs of the districts of both ends and bends (undirected, cell by cell) have potentials where they were asked
    about: with `districts` per side, and that number of `bends`.
    """

    cells: int
    moves: int
    lengths: int
    districts: int = 0
    bends: int = 0

    @property
    def start(self) -> slice:
        return slice(0, self.cells)

    @property
    def end(self) -> slice:
        return slice(self.cells, 2 * self.cells)

    @property
    def move(self) -> slice:
        return slice(2 * self.cells, 2 * self.cells + self.moves)

    @property
    def turn(self) -> slice:
        return slice(self.move.stop, self.move.stop + TURNS)

    @property
    def length(self) -> slice:
        return slice(self.turn.stop, self.turn.stop + self.lengths)

    @property
    def pair(self) -> slice:
        return slice(self.length.stop, self.length.stop + self.districts**4)

    @property
    def bend(self) -> slice:
        return slice(self.pair.stop, self.pair.stop + self.bends)

    @property
    def size(self) -> int:
        return self.bend.stop

    def along(self, graph: MoveGraph, potentials: Floats) -> Features:
        """Return what each feature of a path adds to the sum of its potentials, lengths apart."""
        bends = potentials[self.turn][turn_classes()][:, :, None] + np.zeros((8, 8, graph.cells))
        if self.bends:
            bends += np.where(graph.bend >= 0, potentials[self.bend][graph.bend], 0.0)
        pairs = np.zeros((1, 1))
        if self.districts:
            pairs = potentials[self.pair].reshape(self.districts**2, -1)
        return Features(potentials[self.start], potentials[self.end], potentials[self.move], bends, pairs)

    def gathered(self, graph: MoveGraph, features: Features) -> Floats:
        """Return the transpose of `along`: zero for lengths."""
        found = np.zeros(self.size)
        found[self.start], found[self.end], found[self.move] = features.start, features.end, features.moves
        found[self.turn] = features.turns()
        if self.districts:
            found[self.pair] = features.pairs.ravel()
        if self.bends:
            found[self.bend] = graph.by_bend(features.bends)
        return found

    def district(self, n: int) -> Ints32:
        """Return the district of each cell; one for all where pairs have no potentials."""
        return districts_of(n, max(self.districts, 1))


@dataclass(frozen=True, eq=False)
class Weights:
    """Factors of a path's weight.

    Rows of `start` and `end` are for the districts of the first cell, those of `move` for the directions out of a cell;
    `step[d, b]` is for the direction d out of a cell that was entered in direction b.
    """

    start: Floats
    end: Floats
    move: Floats
    step: Floats

    @staticmethod
    def of(graph: MoveGraph, layout: Layout, potentials: Floats) -> Weights:
        """Return the base measure (an equal chance of all moves out of a cell) times the exponentials of the
        potentials.
        """
        x = layout.along(graph, potentials)
        district = layout.district(graph.grid.n)
        out = np.maximum(graph.by_source(graph.open_moves), 1.0)
        move = graph.leaving(graph.open_moves * np.exp(shifted(x.moves)) / out[graph.source])
        step = np.exp(shifted(x.bends)) * move[:, None]
        start = np.where(
            district == np.arange(len(x.pairs))[:, None],
            graph.open_cells * np.exp(shifted(x.start)),
            0.0,
        )
        end = graph.open_cells * np.exp(shifted(x.end) + shifted(x.pairs)[:, district])
        return Weights(start, end, move, step)


def base_length(n: int, lengths: int) -> Floats:
    """Log-probability, up to a constant, of 1, 2, ... cells before anything is known: mean about two thirds of n."""
    return -1.5 / n * np.arange(lengths, dtype=np.float64)


def shifted(values: Floats) -> Floats:
    """Remove a common factor, which changes nothing, so that exponentials stay in range."""
    return values - values.max()
