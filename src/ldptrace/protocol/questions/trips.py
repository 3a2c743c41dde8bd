"""How many trips there were."""

from __future__ import annotations

from bisect import bisect_right

from ldptrace.protocol.questions.base import Question, Slots
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion

# Trips from which each class begins; the last is open. Nobody's trip at all is a null answer.
CLASSES = (1, 2, 3, 4, 6)


class Trips(Question):
    """Number of trips that the drawn one was drawn from: 1, 2, 3, 4 to 5, 6 or more.

    >>> from ldptrace.protocol.trips import Occasion, Trip
    >>> trips = Trips(6)
    >>> [trips.answer(Occasion(Trip([3]), count), Source())[0] for count in (1, 3, 5, 60)]
    [[0], [2], [3], [4]]
    >>> trips.words(3)
    '4 to 5 trips'
    """

    name = "trips"
    about = "how many trips there were"

    @property
    def domain(self) -> int:
        return len(CLASSES)

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        if not occasion.trip.path or occasion.trips < 1:
            return [[]]
        return [[bisect_right(CLASSES, occasion.trips) - 1]]

    def words(self, item: int) -> str:
        if item + 1 == len(CLASSES):
            return f"{CLASSES[item]} trips or more"
        first, last = CLASSES[item], CLASSES[item + 1] - 1
        return f"{first} trip{'' if first == 1 else 's'}" if first == last else f"{first} to {last} trips"
