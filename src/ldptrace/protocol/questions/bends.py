"""Which two moves of a path follow each other."""

from __future__ import annotations

from typing import ClassVar

from ldptrace.protocol.lattice import bend_count, bend_item, bend_of
from ldptrace.protocol.questions.base import SampledQuestion, Slots, at_random_positions, cell_words
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion


class Bends(SampledQuestion):
    """The bends at uniformly random `most` inner cells of the path, as a set; all of them when there are fewer.

    A bend is a cell with the cells before and after it, without direction. The cell before may be the cell after.

    >>> from ldptrace.protocol.trips import Trip
    >>> there, back = (Bends(6, most=9).answer(Occasion(Trip(path)), Source()) for path in ([0, 1, 8, 9], [9, 8, 1, 0]))
    >>> there == back, [Bends(6, most=9).words(item) for item in there[0]]
    (True, ['cell A2 between cell B3 and cell A1', 'cell B3 between cell B4 and cell A2'])
    """

    name: ClassVar[str] = "bends"
    about: ClassVar[str] = (
        "some of the cells it crosses, each with the cells before and after it, without direction"
    )

    @property
    def domain(self) -> int:
        return bend_count(self.n)

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        cells = zip(path, path[1:], path[2:], strict=False)
        items = [bend_item(before, here, after, self.n) for before, here, after in cells]
        return [at_random_positions(items, self.most, source)]

    def words(self, item: int) -> str:
        before, here, after = (cell_words(cell, self.n) for cell in bend_of(item, self.n))
        return f"{here} between {before} and {after}"
