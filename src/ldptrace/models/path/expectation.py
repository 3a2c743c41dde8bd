"""What the model expects users to answer, and how that changes with its potentials.

Each question has its own class in `ldptrace.models.path.answers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.models.path.answers import ANSWERS
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.messages import Layout, Messages, base_length, shifted, weights_of
from ldptrace.models.path.moments import Moments

# A path may lose this part of its answer to repeats at most; it only matters far from any fit.
_LEAST = 0.2


@dataclass(frozen=True, eq=False)
class Expectation:
    """The model at given potentials: the distribution of the number of cells, and messages along its paths.

    Potentials are relative to a base: a move in any direction is equally likely, lengths fall off with the size
    of the grid. A path with L cells has probability length(L) times its weight over the weight of all paths
    with L cells.
    """

    graph: MoveGraph
    layout: Layout
    potentials: Floats
    length: Floats
    messages: Messages

    @staticmethod
    def at(graph: MoveGraph, lengths: int, potentials: Floats) -> Expectation:
        layout = Layout(graph.cells, graph.moves, lengths)
        length = np.exp(shifted(potentials[layout.length] + base_length(graph.grid.n, lengths)))
        messages = Messages.along(graph, weights_of(graph, layout, potentials), lengths - 1)
        return Expectation(graph, layout, potentials, length / length.sum(), messages)

    def moved(self, step: Floats) -> Expectation:
        """The model with other potentials."""
        return Expectation.at(self.graph, self.layout.lengths, self.potentials + step)

    def answers(self, capacities: Mapping[str, int]) -> dict[str, Floats]:
        """Expected items per user for each question (name -> most items named), repeats counted in full."""
        return {
            name: ANSWERS[name].expected(self.messages, self._weight(name, most))
            for name, most in capacities.items()
        }

    @cached_property
    def _moves(self) -> Floats:
        return np.arange(len(self.length), dtype=np.float64)

    def _weight(self, name: str, most: int) -> Floats:
        """Chance of each number of moves, times the inclusion probability of a position of such a path."""
        return self.length * ANSWERS[name].inclusion(most, self._moves)

    def jacobian(self, capacities: Mapping[str, int]) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """For each question the derivatives of its expected answers (rows) by the potentials (columns), and the
        part of each answer that is left when a path names an item once."""
        weights = {name: self._weight(name, most) for name, most in capacities.items()}
        moments = self._moments(weights)
        left = {name: self._left(name, most, weights[name], moments) for name, most in capacities.items()}
        rows = {name: ANSWERS[name].jacobian(moments[name]) * left[name][:, None] for name in capacities}
        return rows, left

    def _moments(self, weights: Mapping[str, Floats]) -> dict[str, Moments]:
        """The moments that each question needs; questions with the same weights share them."""
        paired = [name for name in weights if ANSWERS[name].needs_pairs]
        moments = {name: Moments(self.messages, self.length, weights[name]) for name in weights}
        if paired:
            rows, place = np.unique([weights[name] for name in paired], axis=0, return_inverse=True)
            moved, ended = self.messages.pairs(
                np.array([self.messages.uses(row) for row in rows]),
                np.array([self.messages.finals(row) for row in rows]),
            )
            shared = [
                Moments(self.messages, self.length, *parts) for parts in zip(rows, moved, ended, strict=True)
            ]
            moments |= {name: shared[k] for name, k in zip(paired, place.ravel().tolist(), strict=True)}
        return moments

    def _left(self, name: str, most: int, weight: Floats, moments: Mapping[str, Moments]) -> Floats:
        answer = ANSWERS[name].expected(self.messages, weight)
        both = self.length * ANSWERS[name].joint_inclusion(most, self._moves)
        lost = ANSWERS[name].repeats(moments[name], both)
        if lost is None:
            return np.ones(len(answer))
        return np.clip(1 - np.divide(lost, answer, out=np.zeros_like(lost), where=answer > 0), _LEAST, 1)
