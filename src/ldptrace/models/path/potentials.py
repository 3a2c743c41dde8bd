"""The log-potentials x of the path model: where each kind is in their vector, and the path weights they make."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.messages import Weights
from ldptrace.protocol.lattice import TURNS


@dataclass(frozen=True)
class Layout:
    """Where each kind of log-potential is in the vector of all."""

    cells: int
    moves: int
    lengths: int

    @property
    def start(self) -> slice:
        return slice(0, self.cells)

    @property
    def end(self) -> slice:
        return slice(self.cells, 2 * self.cells)

    @property
    def move(self) -> slice:
        return slice(2 * self.cells, 2 * self.cells + self.moves)

    @property
    def turn(self) -> slice:
        return slice(self.move.stop, self.move.stop + TURNS)

    @property
    def length(self) -> slice:
        return slice(self.turn.stop, self.turn.stop + self.lengths)

    @property
    def size(self) -> int:
        return self.length.stop


def weights_of(graph: MoveGraph, layout: Layout, potentials: Floats) -> Weights:
    """Factors of a path's weight w, the base measure (an equal chance of all moves out of a cell) included."""
    out = np.maximum(graph.by_source(graph.open_moves), 1.0)
    move = graph.open_moves * np.exp(shifted(potentials[layout.move])) / out[graph.source]
    bend = np.exp(shifted(potentials[layout.turn]))
    step = np.where(graph.following >= 0, move[graph.following] * bend[graph.turns], 0.0)
    start, end = (graph.open_cells * np.exp(shifted(potentials[kind])) for kind in (layout.start, layout.end))
    return Weights(start, move, step, end)


def base_length(n: int, lengths: int) -> Floats:
    """Log-probability, up to a constant, of 1, 2, ... cells before anything is known: mean about two thirds of n."""
    return -1.5 / n * np.arange(lengths, dtype=np.float64)


def shifted(values: Floats) -> Floats:
    """A common factor changes nothing; without it exponentials stay in range."""
    return values - values.max()
