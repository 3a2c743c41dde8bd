"""Where a path begins and ends."""

from __future__ import annotations

from typing import ClassVar

from ldptrace.protocol.limits import MAX_COUNT
from ldptrace.protocol.questions.base import Question, Slots, cell_words, whole
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion


class Start(Question):
    """First cell: the beginning transition A_i (section 5.5)."""

    name: ClassVar[str] = "start"
    about: ClassVar[str] = "the cell where it begins"

    @property
    def domain(self) -> int:
        return self.n * self.n

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [[path[0]]] if path else [[]]

    def words(self, item: int) -> str:
        return cell_words(item, self.n)


class End(Question):
    """Last cell: the terminated transition B_j (section 5.5)."""

    name: ClassVar[str] = "end"
    about: ClassVar[str] = "the cell where it ends"

    @property
    def domain(self) -> int:
        return self.n * self.n

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [[path[-1]]] if path else [[]]

    def words(self, item: int) -> str:
        return cell_words(item, self.n)


class CutEnd(Question):
    """Last cell among the first `cells` ones: what the published code sends as the end of a cut path."""

    cells: int

    name: ClassVar[str] = "cut-end"
    about: ClassVar[str] = "the cell where it ends, or is cut off"

    def __post_init__(self) -> None:
        whole("cells", self.cells, 1, MAX_COUNT)

    @property
    def domain(self) -> int:
        return self.n * self.n

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [[path[min(len(path), self.cells) - 1]]] if path else [[]]

    def words(self, item: int) -> str:
        return cell_words(item, self.n)


class Terminals(Question):
    """The set of the first and the last cell, which of them is which left open.

    >>> from ldptrace.protocol.trips import Trip
    >>> [Terminals(3).answer(Occasion(Trip(path)), Source()) for path in ([4, 5, 8], [4, 5, 4])]
    [[[4, 8]], [[4]]]
    """

    name: ClassVar[str] = "terminals"
    about: ClassVar[str] = "the two cells where it begins and ends, without saying which is which"

    @property
    def domain(self) -> int:
        return self.n * self.n

    @property
    def capacity(self) -> int:
        return 2

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [sorted({path[0], path[-1]})] if path else [[]]

    def words(self, item: int) -> str:
        return cell_words(item, self.n)
