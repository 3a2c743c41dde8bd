"""How the path model answers a question: what is expected of it, its Jacobian, and what repeats take away."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.messages import Messages
from ldptrace.models.path.moments import Moments
from ldptrace.protocol.lattice import TURNS


@dataclass(frozen=True, eq=False)
class Features:
    """One number for each first cell, last cell, move and class of turns."""

    start: Floats
    end: Floats
    moves: Floats
    turns: Floats

    @staticmethod
    def zero(graph: MoveGraph) -> Features:
        cells = graph.cells
        return Features(np.zeros(cells), np.zeros(cells), np.zeros(graph.moves), np.zeros(TURNS))

    def __add__(self, other: Features) -> Features:
        return Features(*(a + b for a, b in zip(self.blocks(), other.blocks(), strict=True)))

    def blocks(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The four blocks, in the order of the potentials."""
        return self.start, self.end, self.moves, self.turns


class PathAnswer(ABC):
    """One question, as the path model sees it.

    A path with many positions answers with a random choice of them, so what it adds to the expected answer depends
    on its number of moves alone: `inclusion`. An item that a path has twice is named once; nearly all repeats are a
    step back and forth between two cells, and their expected number is subtracted: `repeats`.
    """

    name: ClassVar[str]
    # Whether the Jacobian needs how pairs of features go together, which is the expensive part.
    needs_pairs: ClassVar[bool] = True
    # Whether it is about turns, and whether a step back and forth makes it name an item once instead of twice.
    has_turns: ClassVar[bool] = False
    repeats_moves: ClassVar[bool] = False

    def inclusion(self, most: int, moves: Floats) -> Floats:
        """Probability that a path with this number of moves names a given position."""
        return np.ones(len(moves))

    def joint_inclusion(self, most: int, moves: Floats) -> Floats:
        """Probability that two given positions are both among those a path answers with."""
        return np.ones(len(moves))

    @abstractmethod
    def expected(self, messages: Messages, weight: Floats) -> Floats:
        """Expected items when paths with m moves count with `weight[m]`, repeats counted in full."""

    @abstractmethod
    def jacobian(self, moments: Moments) -> Floats:
        """Derivatives of the expected items (rows) by the potentials (columns)."""

    @abstractmethod
    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        """The items that are made of these features."""

    @abstractmethod
    def unpooled(self, graph: MoveGraph, items: Floats) -> Features:
        """What each feature adds to the sum of its items times `items`: the transpose of `pooled`."""

    def pools(self, graph: MoveGraph, lengths: int) -> Ints:
        """Groups of items that are much alike: a number for each. Cells, unless the items are something else."""
        return blocks_of(graph, 8)

    def pooled_repeats(self, graph: MoveGraph, once: Floats, twice: Floats) -> Floats:
        """Items counted too often because a move is followed by the move back, or by that and the move again."""
        raise NotImplementedError

    def repeats(self, moments: Moments, both: Floats) -> Floats | None:
        """Expected items that are named once though a path has them twice; `both` weights paths by their moves."""
        return None


def sampled(most: int, positions: Floats) -> Floats:
    """Inclusion probability of one position, given their number."""
    return np.minimum(1.0, most / np.maximum(positions, 1))


def jointly_sampled(most: int, positions: Floats) -> Floats:
    """Joint inclusion probability of two positions, given their number."""
    return np.minimum(1.0, most * (most - 1) / np.maximum(positions * (positions - 1), 1))


def blocks_of(graph: MoveGraph, side: int) -> Ints:
    """The number of the block that each cell is in, when the map is cut into at most side x side of them."""
    i, j = np.divmod(np.arange(graph.cells), graph.grid.n)
    blocks = min(side, graph.grid.n)
    return (i * blocks // graph.grid.n) * blocks + j * blocks // graph.grid.n
