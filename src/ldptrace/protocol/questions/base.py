"""What a question is: a finite domain, and a set of at most `capacity` items of it per slot.

Most questions have one slot. The paper's per-transition reports have one slot per transition, so a question
answers with a list of slots, always the same number of them; an empty slot is a null answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

from ldptrace.protocol.canonical import integer_in
from ldptrace.protocol.lattice import cell_name, move_count, move_item, move_of
from ldptrace.protocol.limits import MAX_CAPACITY
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.records import Record
from ldptrace.protocol.trips import Occasion

Slots = list[list[int]]


class Question(Record, ABC):
    """A question about an occasion on an n x n grid: all that a device, and a reader of its report, must know."""

    n: int

    name: ClassVar[str]
    # What is asked, in words that follow "to the question about".
    about: ClassVar[str]
    # Whether the answer needs a clock.
    about_time: ClassVar[bool] = False

    @property
    @abstractmethod
    def domain(self) -> int:
        """Number of items."""

    @property
    def capacity(self) -> int:
        """Most items in one slot."""
        return 1

    @property
    def slots(self) -> int:
        return 1

    @abstractmethod
    def answer(self, occasion: Occasion, source: Source) -> Slots:
        """Return the items of the occasion, slot by slot. A choice among many is made at random by `source`."""

    @abstractmethod
    def words(self, item: int) -> str:
        """Describe what an item of the domain stands for."""

    def parameters(self) -> dict[str, Any]:
        """Return what the plan document says of this question besides the grid."""
        own = {name: value for name, value in self.values().items() if name != "n"}
        return {"name": self.name} | own


class CellQuestion(Question):
    """A question whose items are the cells."""

    @property
    def domain(self) -> int:
        return self.n * self.n

    def words(self, item: int) -> str:
        return cell_words(item, self.n)


class MoveQuestion(Question):
    """A question whose items are the moves from cell to cell."""

    @property
    def domain(self) -> int:
        return move_count(self.n)

    def words(self, item: int) -> str:
        return move_words(item, self.n)


class SampledQuestion(Question):
    """A question that is answered with items at `most` random positions."""

    most: int

    def __post_init__(self) -> None:
        integer_in(self.most, 1, min(self.domain, MAX_CAPACITY), "most")

    @property
    def capacity(self) -> int:
        return self.most


def move_items(path: Sequence[int], n: int) -> list[int]:
    """Return the item numbers of the path's moves, in order."""
    return [move_item(here, there, n) for here, there in pairwise(path)]


def at_random_positions(items: Sequence[int], most: int, source: Source) -> list[int]:
    """Return the different items at `most` uniformly random positions, ascending."""
    chosen = items if len(items) <= most else [items[at] for at in source.subset(range(len(items)), most)]
    return sorted(set(chosen))


def nearby(item: int, reach: int, domain: int) -> list[int]:
    """Return an item of an ordered domain with its neighbours; the last item is next to the first.

    >>> nearby(23, 1, 24)
    [0, 22, 23]
    """
    return sorted((item + apart) % domain for apart in range(-reach, reach + 1))


def cell_words(cell: int, n: int) -> str:
    """Describe a cell as people find it on the grid."""
    return f"cell {cell_name(cell, n)}"


def move_words(item: int, n: int) -> str:
    """Describe a move by its item number."""
    here, there = move_of(item, n)
    return f"from {cell_words(here, n)} to {cell_words(there, n)}"
