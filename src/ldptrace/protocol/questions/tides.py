"""How the direction of a trip goes with the time of day: into the centre in the morning, out of it in the evening."""

from __future__ import annotations

from typing import ClassVar

from ldptrace.protocol.questions.base import Question, Slots, whole
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion

# Part of the day of each hour: night, morning, midday, evening.
PART_OF_HOUR = (0,) * 5 + (1,) * 5 + (2,) * 5 + (3,) * 5 + (0,) * 4
PARTS = ("at night", "in the morning", "around noon", "in the evening")


class Tides(Question):
    """Part of the day, and whether the trip ends nearer to a public `centre` cell than it began, or farther.

    A trip that does neither is a null answer. Few items, so that even little interplay of space and time can be
    learned from few people.

    >>> from ldptrace.protocol.trips import Trip
    >>> Tides(3, centre=4).answer(Occasion(Trip([0, 4], departure=8 * 3600.0)), Source()), Tides(3, centre=4).words(2)
    ([[2]], 'towards the centre in the morning')
    """

    centre: int

    name: ClassVar[str] = "tides"
    about: ClassVar[str] = "the part of the day in which it leads towards the centre or away from it"
    about_time: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole("centre", self.centre, 0, self.n * self.n - 1)

    @property
    def domain(self) -> int:
        return 2 * len(PARTS)

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        trip = occasion.trip
        if not trip.path or trip.hour is None:
            return [[]]
        before, after = (self.distance(trip.path[at]) for at in (0, -1))
        if before == after:
            return [[]]
        return [[2 * PART_OF_HOUR[trip.hour % 24] + (after > before)]]

    def distance(self, cell: int) -> int:
        """Return the square of the distance of a cell from the centre, in cells."""
        (i, j), (ci, cj) = divmod(cell, self.n), divmod(self.centre, self.n)
        return (i - ci) ** 2 + (j - cj) ** 2

    def words(self, item: int) -> str:
        return f"{'away from' if item % 2 else 'towards'} the centre {PARTS[item // 2]}"
