"""Where a path begins and ends, and which cells it crosses."""

from __future__ import annotations

from ldptrace.protocol.canonical import integer_in
from ldptrace.protocol.lattice import district
from ldptrace.protocol.limits import MAX_COUNT
from ldptrace.protocol.questions.base import (
    CellQuestion,
    Question,
    SampledQuestion,
    Slots,
    at_random_positions,
)
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion

# Districts per side: as many pairs as an answer may have items.
MAX_DISTRICTS = 32


class Start(CellQuestion):
    """First cell: the beginning transition A_i (section 5.5)."""

    name = "start"
    about = "the cell where it begins"

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        return [list(occasion.trip.path[:1])]


class End(CellQuestion):
    """Last cell: the terminated transition B_j (section 5.5)."""

    name = "end"
    about = "the cell where it ends"

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        return [list(occasion.trip.path[-1:])]


class CutEnd(CellQuestion):
    """Last cell among the first `cells` ones: what the published code sends as the end of a cut path."""

    cells: int

    name = "cut-end"
    about = "the cell where it ends, or is cut off"

    def __post_init__(self) -> None:
        integer_in(self.cells, 1, MAX_COUNT, "cells")

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        return [list(occasion.trip.path[: self.cells][-1:])]


class Terminals(CellQuestion):
    """The set of the first and the last cell, which of them is which left open.

    >>> from ldptrace.protocol.trips import Trip
    >>> [Terminals(3).answer(Occasion(Trip(path)), Source()) for path in ([4, 5, 8], [4, 5, 4])]
    [[[4, 8]], [[4]]]
    """

    name = "terminals"
    about = "the two cells where it begins and ends, without saying which is which"

    @property
    def capacity(self) -> int:
        return 2

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [sorted({*path[:1], *path[-1:]})]


class Visits(SampledQuestion, CellQuestion):
    """The cells at `most` uniformly random positions of the path, as a set; all when there are fewer."""

    name = "visits"
    about = "some of the cells it crosses"

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        return [at_random_positions(occasion.trip.path, self.most, source)]


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

    name = "pairs"
    about = "the two districts where it begins and ends, together"

    def __post_init__(self) -> None:
        integer_in(self.districts, 2, min(self.n, MAX_DISTRICTS), "districts")

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
