"""The log-potentials x of the path model, whose vector has a place for each kind (`Layout`), and the weights they make.

The weight of a path is a product: its first cell, its first move, every later move given the one before, its last cell
given the district of the first one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldptrace.core.arrays import Floats, Ints, Ints32
from ldptrace.core.paths import districts_of
from ldptrace.models.path.graph import TURN, MoveGraph
from ldptrace.protocol.lattice import TURNS

# The rate of long paths is that of this part of the lengths before the last. The longest path that is drawn, in
# multiples of the last length, and how rare a length may be.
TAIL, LONGEST, SELDOM = 4, 3, 1e-3
# Which turn (column) each pair of directions is.
_OF_TURN = (TURN.reshape(-1, 1) == np.arange(TURNS)).astype(np.float64)


@dataclass(frozen=True)
class Features:
    """Where each feature of a path is in the vector of all.

    The features are first cells, last cells, moves, bends (direction out of a cell, direction into it, cell) and pairs
    of the districts of both ends. Without districts there is one pair.

    >>> Features(4, 12).bend, Features(4, 12, 2).size
    (slice(20, 276, None), 292)
    """

    cells: int
    moves: int
    districts: int = 0

    @cached_property
    def start(self) -> slice:
        return slice(0, self.cells)

    @cached_property
    def end(self) -> slice:
        return slice(self.cells, 2 * self.cells)

    @cached_property
    def move(self) -> slice:
        return slice(2 * self.cells, 2 * self.cells + self.moves)

    @cached_property
    def bend(self) -> slice:
        return slice(self.move.stop, self.move.stop + 64 * self.cells)

    @cached_property
    def pair(self) -> slice:
        return slice(self.bend.stop, self.bend.stop + max(self.districts, 1) ** 4)

    @cached_property
    def size(self) -> int:
        return self.pair.stop

    def items(self, **named: Ints) -> Ints:
        """Return the item that each feature names, given the items of one or more kinds; -1: none.

        >>> Features(1, 0).items(start=np.array([0]), end=np.array([1]))[:3]
        array([ 0,  1, -1])
        """
        by_feature = np.full(self.size, -1)
        for kind, items in named.items():
            by_feature[getattr(self, kind)] = items
        return by_feature


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

    @cached_property
    def start(self) -> slice:
        return slice(0, self.cells)

    @cached_property
    def end(self) -> slice:
        return slice(self.cells, 2 * self.cells)

    @cached_property
    def move(self) -> slice:
        return slice(2 * self.cells, 2 * self.cells + self.moves)

    @cached_property
    def turn(self) -> slice:
        return slice(self.move.stop, self.move.stop + TURNS)

    @cached_property
    def length(self) -> slice:
        return slice(self.turn.stop, self.turn.stop + self.lengths)

    @cached_property
    def pair(self) -> slice:
        return slice(self.length.stop, self.length.stop + self.districts**4)

    @cached_property
    def bend(self) -> slice:
        return slice(self.pair.stop, self.pair.stop + self.bends)

    @cached_property
    def size(self) -> int:
        return self.bend.stop

    @cached_property
    def features(self) -> Features:
        """Where the features of a path are that these potentials belong to."""
        return Features(self.cells, self.moves, self.districts)

    def along(self, graph: MoveGraph, potentials: Floats) -> Floats:
        """Return the potential that each feature of a path adds to the sum; lengths are not in it."""
        features = self.features
        values = np.zeros(features.size)
        values[: features.move.stop] = potentials[: self.move.stop]
        bends = values[features.bend].reshape(8, 8, -1)
        bends += potentials[self.turn][TURN][:, :, None]
        if self.bends:
            bends += np.append(potentials[self.bend], 0.0)[graph.bend]
        if self.districts:
            values[features.pair] = potentials[self.pair]
        return values

    def gathered(self, graph: MoveGraph, along: Floats) -> Floats:
        """Return the transpose of `along`, for values of all features or for rows of them: zero for lengths."""
        features, sums = self.features, np.zeros((*along.shape[:-1], self.size))
        sums[..., : self.move.stop] = along[..., : features.move.stop]
        bends = along[..., features.bend]
        sums[..., self.turn] = bends.reshape(*along.shape[:-1], 64, -1).sum(axis=-1) @ _OF_TURN
        if self.bends:
            sums[..., self.bend] = graph.by_bend(bends)
        if self.districts:
            sums[..., self.pair] = along[..., features.pair]
        return sums

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
        x, features, district = (
            layout.along(graph, potentials),
            layout.features,
            layout.district(graph.grid.n),
        )
        starts, ends, moves, bends, pairs = (
            shifted(x[part])
            for part in (features.start, features.end, features.move, features.bend, features.pair)
        )
        out = np.maximum(graph.by_source(graph.open_moves), 1.0)
        move = graph.leaving(graph.open_moves * np.exp(moves) / out[graph.source])
        step = np.exp(bends).reshape(8, 8, -1) * move[:, None]
        places = np.arange(district.max() + 1)
        start = np.where(district == places[:, None], graph.open_cells * np.exp(starts), 0.0)
        end = graph.open_cells * np.exp(ends + pairs.reshape(len(places), -1)[:, district])
        return Weights(start, end, move, step)


def base_length(n: int, lengths: int) -> Floats:
    """Log-probability, up to a constant, of 1, 2, ... cells before anything is known: mean about two thirds of n."""
    return -1.5 / n * np.arange(lengths, dtype=np.float64)


def shifted(values: Floats) -> Floats:
    """Remove a common factor, which changes nothing, so that exponentials stay in range."""
    return values - values.max()


def with_tail(length: Floats) -> Floats:
    """Divide the probability of the last length, which counts all longer paths too, among these. They become rarer with
    each cell at the rate of the lengths before the last.

    >>> with_tail(np.array([0.5, 0.3, 0.1, 0.1]))[3:7].round(3).tolist()
    [0.05, 0.025, 0.013, 0.006]
    """
    last, before = length[-1], length[:-1][-max(len(length) // TAIL, 1) :]
    if last < SELDOM or not len(before):
        return length
    rate = (last / (last + before.sum())) ** (1 / len(before))
    longer = rate ** np.arange((LONGEST - 1) * len(length) + 1)
    longer = longer[last * longer > SELDOM]
    return np.concatenate([length[:-1], last * longer / longer.sum()])
