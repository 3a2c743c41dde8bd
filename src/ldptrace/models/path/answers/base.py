"""How the path model answers a question: what its items are made of, and what repeats take away."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.path.features import Features
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout


class PathAnswer(ABC):
    """One question, as the path model sees it.

    A path with many positions answers with a random choice of them, so what it adds to the expected answer depends
    on its number of moves alone: `inclusion`. An item that a path has twice is named once; nearly all repeats are a
    step back and forth between two cells, and their expected number is subtracted: `pooled_repeats`.
    """

    name: ClassVar[str]
    # Whether it is about bends or turns, and whether a step back and forth makes it name an item once instead of twice.
    has_bends: ClassVar[bool] = False
    repeats_moves: ClassVar[bool] = False

    def inclusion(self, most: int, moves: Floats) -> Floats:
        """Return the probability that a path with this number of moves names a given position."""
        return np.ones(len(moves))

    def joint_inclusion(self, most: int, moves: Floats) -> Floats:
        """Return the probability that two given positions are both among those a path answers with."""
        return np.ones(len(moves))

    @abstractmethod
    def pooled(self, graph: MoveGraph, features: Features) -> Floats:
        """Return the items that are made of these features."""

    @abstractmethod
    def unpooled(self, graph: MoveGraph, layout: Layout, items: Floats) -> Features:
        """Return what each feature adds to the sum of its items times `items`: the transpose of `pooled`."""

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        """Return groups of items that are much alike: a number for each. Cells, unless the items are something else."""
        return blocks_of(graph.grid.n, 8)

    def pooled_repeats(self, graph: MoveGraph, once: Floats, twice: Floats) -> Floats:
        """Return items counted too often because a move is followed by the move back, or by that and the move again."""
        raise NotImplementedError


def sampled(most: int, positions: Floats) -> Floats:
    """Return the inclusion probability of one position, given their number."""
    return np.minimum(1.0, most / np.maximum(positions, 1))


def jointly_sampled(most: int, positions: Floats) -> Floats:
    """Return the joint inclusion probability of two positions, given their number."""
    return np.minimum(1.0, most * (most - 1) / np.maximum(positions * (positions - 1), 1))


def blocks_of(n: int, side: int) -> Ints:
    """Return the number of the block that each cell of an n x n map is in, when it is cut into at most side x side of
    them.
    """
    i, j = np.divmod(np.arange(n * n), n)
    blocks = min(side, n)
    return (i * blocks // n) * blocks + j * blocks // n
