"""Which moves from cell to cell a path makes, with and without their direction."""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar

from ldptrace.protocol.lattice import link_count, link_item, link_of, move_count
from ldptrace.protocol.questions.base import (
    SampledQuestion,
    Slots,
    at_random_positions,
    cell_words,
    move_items,
    move_words,
)
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion


class Moves(SampledQuestion):
    """The moves at uniformly random `most` steps of the path, as a set; all of them when there are fewer.

    Steps are chosen first and repeats removed afterwards, so that how often a move is reported depends on the
    path in a way that a model can compute from the length alone.

    >>> from ldptrace.protocol.trips import Trip
    >>> Moves(2, most=3).answer(Occasion(Trip([0, 1, 3])), Source())  # north, then east
    [[0, 3]]
    """

    name: ClassVar[str] = "moves"
    about: ClassVar[str] = "some of the moves from cell to cell it makes"

    @property
    def domain(self) -> int:
        return move_count(self.n)

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [at_random_positions(move_items(path, self.n), self.most, source)]

    def words(self, item: int) -> str:
        return move_words(item, self.n)


class Links(SampledQuestion):
    """As `Moves`, without direction: which pairs of adjacent cells the path connects.

    >>> from ldptrace.protocol.trips import Trip
    >>> Links(2, most=3).answer(Occasion(Trip([0, 1, 0])), Source())
    [[0]]
    """

    name: ClassVar[str] = "links"
    about: ClassVar[str] = "some of the pairs of neighbouring cells it connects, without direction"

    @property
    def domain(self) -> int:
        return link_count(self.n)

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        items = [link_item(here, there, self.n) for here, there in pairwise(path)]
        return [at_random_positions(items, self.most, source)]

    def words(self, item: int) -> str:
        here, there = link_of(item, self.n)
        return f"between {cell_words(here, self.n)} and {cell_words(there, self.n)}"
