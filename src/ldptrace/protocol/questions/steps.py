"""The paper's questions: the first moves of a path in order, one slot each."""

from __future__ import annotations

from typing import ClassVar

from ldptrace.protocol.lattice import move_count
from ldptrace.protocol.limits import MAX_COUNT
from ldptrace.protocol.questions.base import Question, Slots, cell_words, move_items, move_words, whole
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion


class Steps(Question):
    """The first `count` moves in order, one slot each (section 5.4): empty slots after the path's end."""

    count: int

    name: ClassVar[str] = "steps"
    about: ClassVar[str] = "its first moves from cell to cell, in order"

    def __post_init__(self) -> None:
        whole("count", self.count, 1, MAX_COUNT)

    @property
    def domain(self) -> int:
        return move_count(self.n)

    @property
    def slots(self) -> int:
        return self.count

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        taken = [[item] for item in move_items(path[: self.count + 1], self.n)]
        return taken + [[] for _ in range(self.count - len(taken))]

    def words(self, item: int) -> str:
        return move_words(item, self.n)


class CombinedSteps(Question):
    """Beginning, moves and end over one common domain, one slot each: the variant CombTran (section 6.5).

    Items are the moves, then the cells as beginnings, then the cells as ends.
    """

    count: int

    name: ClassVar[str] = "combined-steps"
    about: ClassVar[str] = "its beginning, first moves and end, in order"

    def __post_init__(self) -> None:
        whole("count", self.count, 1, MAX_COUNT)

    @property
    def domain(self) -> int:
        return move_count(self.n) + 2 * self.n * self.n

    @property
    def slots(self) -> int:
        return self.count + 2

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        if not path:
            return [[] for _ in range(self.slots)]
        kept = path[: self.count + 1]
        begin, end = move_count(self.n) + kept[0], move_count(self.n) + self.n * self.n + kept[-1]
        taken = [[item] for item in move_items(kept, self.n)]
        return [[begin], *taken, *([] for _ in range(self.count - len(taken))), [end]]

    def words(self, item: int) -> str:
        if item < move_count(self.n):
            return move_words(item, self.n)
        cell = item - move_count(self.n)
        cells = self.n * self.n
        if cell < cells:
            return f"beginning in {cell_words(cell, self.n)}"
        return f"end in {cell_words(cell - cells, self.n)}"
