"""The questions that the path model uses: which item each part of a path names.

A path with many positions answers with a random choice of them, so what it adds to the expected answer depends on its
number of moves alone (`inclusion`). An item that a path has twice is named once; nearly all repeats are a step back and
forth between two cells, and their expected number is subtracted (`repeats`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.path.graph import TURN, MoveGraph
from ldptrace.models.path.potentials import Layout
from ldptrace.protocol.lattice import TURNS


class PathAnswer(ABC):
    """One question, as the path model sees it."""

    name: ClassVar[str]
    # By how much a path has more positions than moves; None: it answers with all that it has.
    positions: ClassVar[int | None] = None
    # Whether a step back and forth names an item once instead of twice.
    repeated: ClassVar[bool] = False
    # Whether the answers are about the shape of trips, not about places. Such items are few, and a fit follows them
    # closely. Otherwise answers about places, which are far more, would decide how trips turn, and a chain of moves is
    # too crude for that (docs/lab/path-model.md).
    shape: ClassVar[bool] = False

    @abstractmethod
    def items(self, graph: MoveGraph, layout: Layout) -> Ints:
        """Return the item that each feature of a path names, -1 for none."""

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        """Return groups of items that are much alike: a number for each. Cells, unless the items are something else."""
        return blocks_of(graph.grid.n, 8)

    def repeats(self, graph: MoveGraph, once: Floats, twice: Floats) -> Floats:
        """Return items counted too often because a move is followed by the move back, or by that and the move again."""
        raise NotImplementedError

    def inclusion(self, most: int, moves: Floats) -> Floats:
        """Return the probability that a path with this number of moves names a given position."""
        if self.positions is None:
            return np.ones(len(moves))
        return np.minimum(1.0, most / np.maximum(moves + self.positions, 1))

    def joint_inclusion(self, most: int, moves: Floats) -> Floats:
        """Return the probability that two given positions are both among those a path answers with."""
        if self.positions is None:
            return np.ones(len(moves))
        positions = moves + self.positions
        return np.minimum(1.0, most * (most - 1) / np.maximum(positions * (positions - 1), 1))


class Length(PathAnswer):
    """The number of cells, whose distribution is a part of the model itself: no feature names it."""

    name: ClassVar[str] = "length"
    shape: ClassVar[bool] = True

    def items(self, graph: MoveGraph, layout: Layout) -> Ints:
        return layout.features.items()

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        return np.arange(layout.lengths)


class Start(PathAnswer):
    name: ClassVar[str] = "start"

    def items(self, graph: MoveGraph, layout: Layout) -> Ints:
        return layout.features.items(start=np.arange(graph.cells))


class End(PathAnswer):
    name: ClassVar[str] = "end"

    def items(self, graph: MoveGraph, layout: Layout) -> Ints:
        return layout.features.items(end=np.arange(graph.cells))


class Terminals(PathAnswer):
    """Start and end as one set: a loop, whose first cell is its last, names one cell only (`Flow.loops`)."""

    name: ClassVar[str] = "terminals"

    def items(self, graph: MoveGraph, layout: Layout) -> Ints:
        each = np.arange(graph.cells)
        return layout.features.items(start=each, end=each)


class Visits(PathAnswer):
    name: ClassVar[str] = "visits"
    positions: ClassVar[int | None] = 1
    repeated: ClassVar[bool] = True

    def items(self, graph: MoveGraph, layout: Layout) -> Ints:
        return layout.features.items(start=np.arange(graph.cells), move=graph.target)

    def repeats(self, graph: MoveGraph, once: Floats, twice: Floats) -> Floats:
        return graph.by_source(once)


class Moves(PathAnswer):
    name: ClassVar[str] = "moves"
    positions: ClassVar[int | None] = 0
    repeated: ClassVar[bool] = True

    def items(self, graph: MoveGraph, layout: Layout) -> Ints:
        return layout.features.items(move=np.arange(graph.moves))

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        return 8 * blocks_of(graph.grid.n, 3)[graph.source] + graph.direction

    def repeats(self, graph: MoveGraph, once: Floats, twice: Floats) -> Floats:
        return twice


class Links(Moves):
    """Moves without direction: a step and the step back are the same item."""

    name: ClassVar[str] = "links"

    def items(self, graph: MoveGraph, layout: Layout) -> Ints:
        return layout.features.items(move=graph.link)

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        upward = np.flatnonzero(np.arange(graph.moves) < graph.reverse)
        axis = np.minimum(graph.direction, 7 - graph.direction)[upward]
        return 4 * blocks_of(graph.grid.n, 5)[graph.source[upward]] + axis

    def repeats(self, graph: MoveGraph, once: Floats, twice: Floats) -> Floats:
        return graph.by_link(once)


class Turns(PathAnswer):
    """The angle of one bend of the path, drawn at random."""

    name: ClassVar[str] = "turns"
    shape: ClassVar[bool] = True
    positions: ClassVar[int | None] = -1

    def items(self, graph: MoveGraph, layout: Layout) -> Ints:
        return layout.features.items(bend=np.repeat(TURN.ravel(), graph.cells))

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        return np.arange(TURNS)


class Pairs(PathAnswer):
    name: ClassVar[str] = "pairs"

    def items(self, graph: MoveGraph, layout: Layout) -> Ints:
        return layout.features.items(pair=np.arange(layout.districts**4))

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        block = blocks_of(layout.districts, 3)
        return np.add.outer((block.max() + 1) * block, block).ravel()


class Bends(PathAnswer):
    """A path has the same bend twice only where it goes back the way it came: rarely enough to count it twice."""

    name: ClassVar[str] = "bends"
    positions: ClassVar[int | None] = -1

    def items(self, graph: MoveGraph, layout: Layout) -> Ints:
        return layout.features.items(bend=graph.bend.ravel())

    def pools(self, graph: MoveGraph, layout: Layout) -> Ints:
        return graph.bend_shape + 64 * blocks_of(graph.grid.n, 2)[graph.bend_cell]


ANSWERS: dict[str, PathAnswer] = {
    answer.name: answer
    for answer in (
        Length(),
        Start(),
        End(),
        Terminals(),
        Visits(),
        Moves(),
        Links(),
        Turns(),
        Pairs(),
        Bends(),
    )
}


def blocks_of(n: int, side: int) -> Ints:
    """Return the number of the block that each cell of an n x n map is in, when it is cut into at most side x side of
    them.
    """
    i, j = np.divmod(np.arange(n * n), n)
    blocks = min(side, n)
    return (i * blocks // n) * blocks + j * blocks // n


@lru_cache(maxsize=64)
def named(name: str, graph: MoveGraph, layout: Layout) -> tuple[Ints, Ints, int]:
    """Return the features that name an item of a question, the item of each, and the number of items."""
    answer = ANSWERS[name]
    items = answer.items(graph, layout)
    places = np.flatnonzero(items >= 0)
    return places, items[places], len(answer.pools(graph, layout))
