"""How long a path is."""

from __future__ import annotations

from typing import ClassVar

from ldptrace.protocol.limits import MAX_COUNT
from ldptrace.protocol.questions.base import Question, Slots, whole
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion


class Length(Question):
    """Number of cells of the path, at most `cap` (section 5.3): item 0 is one cell.

    >>> from ldptrace.protocol.trips import Trip
    >>> Length(6, cap=36).answer(Occasion(Trip([7, 8])), Source())
    [[1]]
    """

    cap: int

    name: ClassVar[str] = "length"
    about: ClassVar[str] = "how many cells the trajectory crosses"

    def __post_init__(self) -> None:
        whole("cap", self.cap, 2, MAX_COUNT)

    @property
    def domain(self) -> int:
        return self.cap

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [[min(len(path), self.cap) - 1]] if path else [[]]

    def words(self, item: int) -> str:
        cells = "1 cell" if item == 0 else f"{item + 1} cells"
        return f"{cells} or more" if item + 1 == self.domain else cells
