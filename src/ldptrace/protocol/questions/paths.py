"""Where a path begins and ends, which cells it crosses, how long it is, which moves it makes, and how it bends."""

from __future__ import annotations

from itertools import pairwise

from ldptrace.protocol import lattice
from ldptrace.protocol.canonical import integer_in
from ldptrace.protocol.limits import MAX_COUNT
from ldptrace.protocol.questions.base import (
    CellQuestion,
    MoveQuestion,
    Question,
    SampledQuestion,
    Slots,
    at_random_positions,
    cell_words,
    move_items,
    move_words,
)
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion

# Districts per side: as many pairs as an answer may have items.
MAX_DISTRICTS = 32
# The items of `Turns` in words.
ANGLES = ("straight on", "a bend of 45 degrees", "a bend of 90 degrees", "a bend of 135 degrees", "back")


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
        begin, end = (lattice.district(cell, self.n, self.districts) for cell in (path[0], path[-1]))
        return [[begin * self.districts**2 + end]]

    def words(self, item: int) -> str:
        begin, end = (divmod(part, self.districts) for part in divmod(item, self.districts**2))
        return f"from district {begin[0]},{begin[1]} to district {end[0]},{end[1]}"


class Length(Question):
    """Number of cells of the path, at most `cap` (section 5.3): item 0 is one cell.

    >>> from ldptrace.protocol.trips import Trip
    >>> Length(6, cap=36).answer(Occasion(Trip([7, 8])), Source())
    [[1]]
    """

    cap: int

    name = "length"
    about = "how many cells the trajectory crosses"

    def __post_init__(self) -> None:
        integer_in(self.cap, 2, MAX_COUNT, "cap")

    @property
    def domain(self) -> int:
        return self.cap

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        return [[min(len(path), self.cap) - 1]] if path else [[]]

    def words(self, item: int) -> str:
        cells = "1 cell" if item == 0 else f"{item + 1} cells"
        return f"{cells} or more" if item + 1 == self.domain else cells


class Moves(SampledQuestion, MoveQuestion):
    """The moves at uniformly random `most` steps of the path, as a set; all of them when there are fewer.

    Steps are chosen first and repeats removed afterwards, so that how often a move is reported depends on the
    path in a way that a model can compute from the length alone.

    >>> from ldptrace.protocol.trips import Trip
    >>> Moves(2, most=3).answer(Occasion(Trip([0, 1, 3])), Source())  # north, then east
    [[0, 3]]
    """

    name = "moves"
    about = "some of the moves from cell to cell it makes"

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        return [at_random_positions(move_items(occasion.trip.path, self.n), self.most, source)]


class Links(SampledQuestion):
    """As `Moves`, without direction: which pairs of adjacent cells the path connects.

    >>> from ldptrace.protocol.trips import Trip
    >>> Links(2, most=3).answer(Occasion(Trip([0, 1, 0])), Source())
    [[0]]
    """

    name = "links"
    about = "some of the pairs of neighbouring cells it connects, without direction"

    @property
    def domain(self) -> int:
        return lattice.link_count(self.n)

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        items = [lattice.link_item(here, there, self.n) for here, there in pairwise(occasion.trip.path)]
        return [at_random_positions(items, self.most, source)]

    def words(self, item: int) -> str:
        here, there = lattice.link_of(item, self.n)
        return f"between {cell_words(here, self.n)} and {cell_words(there, self.n)}"


class Turns(Question):
    """Angle at one uniformly random bend of the path: 0 (straight on), 1 (45 degrees) to 4 (back)."""

    name = "turns"
    about = "how sharply it bends at one random place"

    @property
    def domain(self) -> int:
        return lattice.TURNS

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        if len(path) < 3:
            return [[]]
        first = source.below(len(path) - 2)
        (i0, j0), (i1, j1), (i2, j2) = (divmod(cell, self.n) for cell in path[first : first + 3])
        before, after = lattice.direction(i1 - i0, j1 - j0), lattice.direction(i2 - i1, j2 - j1)
        return [[lattice.turn(before, after)]]

    def words(self, item: int) -> str:
        return ANGLES[item]


class Bends(SampledQuestion):
    """The bends at uniformly random `most` inner cells of the path, as a set; all of them when there are fewer.

    A bend is a cell with the cells before and after it, without direction. The cell before may be the cell after.

    >>> from ldptrace.protocol.trips import Trip
    >>> there, back = (Bends(6, most=9).answer(Occasion(Trip(path)), Source()) for path in ([0, 1, 8, 9], [9, 8, 1, 0]))
    >>> there == back, [Bends(6, most=9).words(item) for item in there[0]]
    (True, ['cell A2 between cell B3 and cell A1', 'cell B3 between cell B4 and cell A2'])
    """

    name = "bends"
    about = "some of the cells it crosses, each with the cells before and after it, without direction"

    @property
    def domain(self) -> int:
        return lattice.bend_count(self.n)

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        cells = zip(path, path[1:], path[2:], strict=False)
        items = [lattice.bend_item(before, here, after, self.n) for before, here, after in cells]
        return [at_random_positions(items, self.most, source)]

    def words(self, item: int) -> str:
        before, here, after = (cell_words(cell, self.n) for cell in lattice.bend_of(item, self.n))
        return f"{here} between {before} and {after}"


class Steps(MoveQuestion):
    """The first `count` moves in order, one slot each (section 5.4): empty slots after the path's end."""

    count: int

    name = "steps"
    about = "its first moves from cell to cell, in order"

    def __post_init__(self) -> None:
        integer_in(self.count, 1, MAX_COUNT, "count")

    @property
    def slots(self) -> int:
        return self.count

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        path = occasion.trip.path
        taken = [[item] for item in move_items(path[: self.count + 1], self.n)]
        return taken + [[] for _ in range(self.count - len(taken))]


class CombinedSteps(Question):
    """Beginning, moves and end over one common domain, one slot each: the variant CombTran (section 6.5).

    Items are the moves, then the cells as beginnings, then the cells as ends.
    """

    count: int

    name = "combined-steps"
    about = "its beginning, first moves and end, in order"

    def __post_init__(self) -> None:
        integer_in(self.count, 1, MAX_COUNT, "count")

    @property
    def domain(self) -> int:
        return lattice.move_count(self.n) + 2 * self.n * self.n

    @property
    def slots(self) -> int:
        return self.count + 2

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        kept = occasion.trip.path[: self.count + 1]
        begins = lattice.move_count(self.n)
        ends = begins + self.n * self.n
        begin, end = [begins + cell for cell in kept[:1]], [ends + cell for cell in kept[-1:]]
        return [begin, *Steps(self.n, self.count).answer(occasion, source), end]

    def words(self, item: int) -> str:
        begins = lattice.move_count(self.n)
        if item < begins:
            return move_words(item, self.n)
        end, cell = divmod(item - begins, self.n * self.n)
        return f"{'end' if end else 'beginning'} in {cell_words(cell, self.n)}"
