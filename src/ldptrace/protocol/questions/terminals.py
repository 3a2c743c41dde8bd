"""Where a path begins and ends."""

from __future__ import annotations

from typing import ClassVar

from ldptrace.protocol.limits import MAX_COUNT
from ldptrace.protocol.questions.base import CellQuestion, Slots, whole
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion


class Start(CellQuestion):
    """First cell: the beginning transition A_i (section 5.5)."""

    name: ClassVar[str] = "start"
    about: ClassVar[str] = "the cell where it begins"

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [[path[0]]] if path else [[]]


class End(CellQuestion):
    """Last cell: the terminated transition B_j (section 5.5)."""

    name: ClassVar[str] = "end"
    about: ClassVar[str] = "the cell where it ends"

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [[path[-1]]] if path else [[]]


class CutEnd(CellQuestion):
    """Last cell among the first `cells` ones: what the published code sends as the end of a cut path."""

    cells: int

    name: ClassVar[str] = "cut-end"
    about: ClassVar[str] = "the cell where it ends, or is cut off"

    def __post_init__(self) -> None:
        whole("cells", self.cells, 1, MAX_COUNT)

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [[path[min(len(path), self.cells) - 1]]] if path else [[]]


class Terminals(CellQuestion):
    """The set of the first and the last cell, which of them is which left open.

    >>> from ldptrace.protocol.trips import Trip
    >>> [Terminals(3).answer(Occasion(Trip(path)), Source()) for path in ([4, 5, 8], [4, 5, 4])]
    [[[4, 8]], [[4]]]
    """

    name: ClassVar[str] = "terminals"
    about: ClassVar[str] = "the two cells where it begins and ends, without saying which is which"

    @property
    def capacity(self) -> int:
        return 2

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [sorted({path[0], path[-1]})] if path else [[]]
