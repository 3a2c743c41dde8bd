"""How a path bends."""

from __future__ import annotations

from typing import ClassVar

from ldptrace.protocol.lattice import TURNS, direction, turn
from ldptrace.protocol.questions.base import Question, Slots
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion

_WORDS = ("straight on", "a bend of 45 degrees", "a bend of 90 degrees", "a bend of 135 degrees", "back")


class Turns(Question):
    """Angle at one uniformly random bend of the path: 0 (straight on), 1 (45 degrees) to 4 (back)."""

    name: ClassVar[str] = "turns"
    about: ClassVar[str] = "how sharply it bends at one random place"

    @property
    def domain(self) -> int:
        return TURNS

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        if len(path) < 3:
            return [[]]
        first = source.below(len(path) - 2)
        (i0, j0), (i1, j1), (i2, j2) = (divmod(cell, self.n) for cell in path[first : first + 3])
        return [[turn(direction(i1 - i0, j1 - j0), direction(i2 - i1, j2 - j1))]]

    def words(self, item: int) -> str:
        return _WORDS[item]
