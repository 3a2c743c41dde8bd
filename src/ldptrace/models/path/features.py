"""What paths consist of, as far as the path model tells: their ends, their moves, and how moves follow each other."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.path.graph import TURN, MoveGraph
from ldptrace.protocol.lattice import TURNS


@dataclass(frozen=True, eq=False)
class Features:
    """One number for each first cell, last cell, move, bend and pair of the districts of both ends.

    `bends[d, b, c]` is for direction d out of cell c after direction b into it. Without districts there is one pair.
    """

    start: Floats
    end: Floats
    moves: Floats
    bends: Floats
    pairs: Floats

    @staticmethod
    def zero(graph: MoveGraph, districts: int = 0) -> Features:
        cells, places = graph.cells, max(districts, 1) ** 2
        shapes: tuple[int | tuple[int, ...], ...] = (
            cells,
            cells,
            graph.moves,
            (8, 8, cells),
            (places, places),
        )
        return Features(*(np.zeros(shape) for shape in shapes))

    def __add__(self, other: Features) -> Features:
        return Features(*(a + b for a, b in zip(self.blocks(), other.blocks(), strict=True)))

    def blocks(self) -> tuple[Floats, ...]:
        """Return all of them, kind by kind."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def turns(self) -> Floats:
        """Return bends by their angle alone."""
        return np.bincount(turn_classes().ravel(), self.bends.sum(axis=2).ravel(), TURNS).astype(np.float64)


@lru_cache(maxsize=1)
def turn_classes() -> Ints:
    """Return the class of the turn out in direction d (row) after direction b in (column)."""
    return np.ascontiguousarray(TURN.T)
