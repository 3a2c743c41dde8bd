"""Which cells a path crosses."""

from __future__ import annotations

from typing import ClassVar

from ldptrace.protocol.questions.base import CellQuestion, SampledQuestion, Slots, at_random_positions
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion


class Visits(SampledQuestion, CellQuestion):
    """The cells at `most` uniformly random positions of the path, as a set; all when there are fewer."""

    name: ClassVar[str] = "visits"
    about: ClassVar[str] = "some of the cells it crosses"

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [at_random_positions(path, self.most, source)]
