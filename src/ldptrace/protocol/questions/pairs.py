"""Where a path begins and ends, together."""

from __future__ import annotations

from typing import ClassVar

from ldptrace.protocol.lattice import district
from ldptrace.protocol.questions.base import Question, Slots, whole
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion

# Districts per side: as many pairs as an answer may have items.
MAX_DISTRICTS = 32


class Pairs(Question):
    """The district of the first cell and the district of the last cell as one item, of `districts` x `districts`
    districts of whole cells.

    >>> from ldptrace.protocol.trips import Trip
    >>> pairs = Pairs(6, districts=3)
    >>> pairs.domain, pairs.answer(Occasion(Trip([0, 7, 14])), Source())
    (81, [[4]])
    >>> pairs.words(4)
    'from district 0,0 to district 1,1'
    """

    districts: int

    name: ClassVar[str] = "pairs"
    about: ClassVar[str] = "the two districts where it begins and ends, together"

    def __post_init__(self) -> None:
        whole("districts", self.districts, 2, min(self.n, MAX_DISTRICTS))

    @property
    def domain(self) -> int:
        return self.districts**4

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        if not path:
            return [[]]
        begin, end = (district(cell, self.n, self.districts) for cell in (path[0], path[-1]))
        return [[begin * self.districts**2 + end]]

    def words(self, item: int) -> str:
        begin, end = (divmod(part, self.districts) for part in divmod(item, self.districts**2))
        return f"from district {begin[0]},{begin[1]} to district {end[0]},{end[1]}"
