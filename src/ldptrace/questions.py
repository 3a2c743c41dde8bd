"""What is asked of a path: a finite domain, and a set of at most `capacity` items of it per slot.

Most questions have one slot. The paper's per-transition reports have one slot per transition, so a
question answers with a list of slots, always the same number of them; an empty slot is a null answer.
Standard library only: devices run this. The simulator's compiled counterparts are in
`ldptrace.simulation.answers`, tested to agree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

from ldptrace.errors import PlanError
from ldptrace.lattice import TURNS, direction, link_count, link_item, move_count, move_item, turn
from ldptrace.protocol.limits import MAX_CAPACITY, MAX_COUNT
from ldptrace.randomness import Source
from ldptrace.records import Record

Slots = list[list[int]]


class Question(Record, ABC):
    """A question about a path on an n x n grid."""

    n: int

    name: ClassVar[str]

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
    def answer(self, path: Sequence[int], source: Source) -> Slots:
        """The path's items, slot by slot. A choice among many is made at random by `source`."""

    def parameters(self) -> dict[str, Any]:
        """What the plan document says of this question besides the grid."""
        own = {name: getattr(self, name) for name in self.fields if name != "n"}
        return {"name": self.name} | own


class Length(Question):
    """Number of cells of the path, at most `cap` (section 5.3): item 0 is one cell.

    >>> Length(6, cap=36).answer([7, 8], Source())
    [[1]]
    """

    cap: int

    name: ClassVar[str] = "length"

    def __post_init__(self) -> None:
        _whole("cap", self.cap, 2, MAX_COUNT)

    @property
    def domain(self) -> int:
        return self.cap

    def answer(self, path: Sequence[int], source: Source) -> Slots:
        return [[min(len(path), self.cap) - 1]] if path else [[]]


class Start(Question):
    """First cell: the beginning transition A_i (section 5.5)."""

    name: ClassVar[str] = "start"

    @property
    def domain(self) -> int:
        return self.n * self.n

    def answer(self, path: Sequence[int], source: Source) -> Slots:
        return [[path[0]]] if path else [[]]


class End(Question):
    """Last cell: the terminated transition B_j (section 5.5)."""

    name: ClassVar[str] = "end"

    @property
    def domain(self) -> int:
        return self.n * self.n

    def answer(self, path: Sequence[int], source: Source) -> Slots:
        return [[path[-1]]] if path else [[]]


class CutEnd(Question):
    """Last cell among the first `cells` ones: what the published code sends as the end of a cut path."""

    cells: int

    name: ClassVar[str] = "cut-end"

    def __post_init__(self) -> None:
        _whole("cells", self.cells, 1, MAX_COUNT)

    @property
    def domain(self) -> int:
        return self.n * self.n

    def answer(self, path: Sequence[int], source: Source) -> Slots:
        return [[path[min(len(path), self.cells) - 1]]] if path else [[]]


class Terminals(Question):
    """The set of the first and the last cell, which of them is which left open.

    >>> Terminals(3).answer([4, 5, 8], Source()), Terminals(3).answer([4, 5, 4], Source())
    ([[4, 8]], [[4]])
    """

    name: ClassVar[str] = "terminals"

    @property
    def domain(self) -> int:
        return self.n * self.n

    @property
    def capacity(self) -> int:
        return 2

    def answer(self, path: Sequence[int], source: Source) -> Slots:
        return [sorted({path[0], path[-1]})] if path else [[]]


class Visits(Question):
    """The cells at `most` uniformly random positions of the path, as a set; all when there are fewer."""

    most: int

    name: ClassVar[str] = "visits"

    def __post_init__(self) -> None:
        _whole("most", self.most, 1, min(self.n * self.n, MAX_CAPACITY))

    @property
    def domain(self) -> int:
        return self.n * self.n

    @property
    def capacity(self) -> int:
        return self.most

    def answer(self, path: Sequence[int], source: Source) -> Slots:
        return [_at_random_positions(path, self.most, source)]


class Moves(Question):
    """The moves at uniformly random `most` steps of the path, as a set; all of them when there are fewer.

    Steps are chosen first and repeats removed afterwards, so that how often a move is reported depends on the
    path in a way that a model can compute from the length alone.

    >>> Moves(2, most=3).answer([0, 1, 3], Source())  # north, then east
    [[0, 3]]
    """

    most: int

    name: ClassVar[str] = "moves"

    def __post_init__(self) -> None:
        _whole("most", self.most, 1, min(move_count(self.n), MAX_CAPACITY))

    @property
    def domain(self) -> int:
        return move_count(self.n)

    @property
    def capacity(self) -> int:
        return self.most

    def answer(self, path: Sequence[int], source: Source) -> Slots:
        return [_at_random_positions(_moves(path, self.n), self.most, source)]


class Links(Question):
    """As `Moves`, without direction: which pairs of adjacent cells the path connects.

    >>> Links(2, most=3).answer([0, 1, 0], Source())
    [[0]]
    """

    most: int

    name: ClassVar[str] = "links"

    def __post_init__(self) -> None:
        _whole("most", self.most, 1, min(link_count(self.n), MAX_CAPACITY))

    @property
    def domain(self) -> int:
        return link_count(self.n)

    @property
    def capacity(self) -> int:
        return self.most

    def answer(self, path: Sequence[int], source: Source) -> Slots:
        items = [link_item(here, there, self.n) for here, there in pairwise(path)]
        return [_at_random_positions(items, self.most, source)]


class Turns(Question):
    """Angle at one uniformly random bend of the path: 0 (straight on), 1 (45 degrees) to 4 (back)."""

    name: ClassVar[str] = "turns"

    @property
    def domain(self) -> int:
        return TURNS

    def answer(self, path: Sequence[int], source: Source) -> Slots:
        if len(path) < 3:
            return [[]]
        first = source.below(len(path) - 2)
        (i0, j0), (i1, j1), (i2, j2) = (divmod(cell, self.n) for cell in path[first : first + 3])
        return [[turn(direction(i1 - i0, j1 - j0), direction(i2 - i1, j2 - j1))]]


class Steps(Question):
    """The first `count` moves in order, one slot each (section 5.4): empty slots after the path's end."""

    count: int

    name: ClassVar[str] = "steps"

    def __post_init__(self) -> None:
        _whole("count", self.count, 1, MAX_COUNT)

    @property
    def domain(self) -> int:
        return move_count(self.n)

    @property
    def slots(self) -> int:
        return self.count

    def answer(self, path: Sequence[int], source: Source) -> Slots:
        taken = [[item] for item in _moves(path[: self.count + 1], self.n)]
        return taken + [[] for _ in range(self.count - len(taken))]


class CombinedSteps(Question):
    """Beginning, moves and end over one common domain, one slot each: the variant CombTran (section 6.5).

    Items are the moves, then the cells as beginnings, then the cells as ends.
    """

    count: int

    name: ClassVar[str] = "combined-steps"

    def __post_init__(self) -> None:
        _whole("count", self.count, 1, MAX_COUNT)

    @property
    def domain(self) -> int:
        return move_count(self.n) + 2 * self.n * self.n

    @property
    def slots(self) -> int:
        return self.count + 2

    def answer(self, path: Sequence[int], source: Source) -> Slots:
        if not path:
            return [[] for _ in range(self.slots)]
        kept = path[: self.count + 1]
        begin, end = move_count(self.n) + kept[0], move_count(self.n) + self.n * self.n + kept[-1]
        taken = [[item] for item in _moves(kept, self.n)]
        return [[begin], *taken, *([] for _ in range(self.count - len(taken))), [end]]


QUESTIONS: dict[str, type[Question]] = {
    kind.name: kind
    for kind in (Length, Start, End, CutEnd, Terminals, Visits, Moves, Links, Turns, Steps, CombinedSteps)
}


def question(n: int, parameters: dict[str, Any]) -> Question:
    """The question that a plan document describes."""
    name = str(parameters.get("name"))
    if name not in QUESTIONS:
        raise PlanError(f"unknown question {name[:40]!r}; known are {', '.join(sorted(QUESTIONS))}")
    wanted = set(QUESTIONS[name].fields) - {"n"}
    if set(parameters) != wanted | {"name"}:
        raise PlanError(f"question {name!r} takes {sorted(wanted)}, got {sorted(parameters)[:8]}")
    return QUESTIONS[name](n, **{field: parameters[field] for field in wanted})


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise PlanError(f"{name} must be a whole number from {low} to {high}, got {str(value)[:40]!r}")


def _moves(path: Sequence[int], n: int) -> list[int]:
    """Item numbers of the path's moves, in order."""
    return [move_item(here, there, n) for here, there in pairwise(path)]


def _at_random_positions(items: Sequence[int], most: int, source: Source) -> list[int]:
    """The different items at `most` uniformly random positions, ascending."""
    chosen = items if len(items) <= most else [items[at] for at in source.subset(range(len(items)), most)]
    return sorted(set(chosen))
