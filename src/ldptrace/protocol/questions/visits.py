"""Which cells a path crosses."""

from __future__ import annotations

from typing import ClassVar

from ldptrace.protocol.limits import MAX_CAPACITY
from ldptrace.protocol.questions.base import CellQuestion, Slots, at_random_positions, whole
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion


class Visits(CellQuestion):
    """The cells at `most` uniformly random positions of the path, as a set; all when there are fewer."""

    most: int

    name: ClassVar[str] = "visits"
    about: ClassVar[str] = "some of the cells it crosses"

    def __post_init__(self) -> None:
        whole("most", self.most, 1, min(self.n * self.n, MAX_CAPACITY))

    @property
    def capacity(self) -> int:
        return self.most

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [at_random_positions(path, self.most, source)]
