"""What the model expects users to answer, and how that changes with its potentials.

A path with many moves answers with a random choice of its positions, so what it adds to the expected answer
depends on its number of moves alone: `kept`. An item that a path has twice is named once; nearly all repeats are
a step back and forth between two cells, and their expected number is subtracted: `named_once`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ldptrace.lattice import TURNS
from ldptrace.models.messages import Messages, Weights
from ldptrace.models.network import Network

Floats = NDArray[np.float64]
QUESTIONS = ("length", "start", "end", "terminals", "visits", "moves", "links", "turns")
# A path may lose this part of its answer to repeats at most; it only bites far from any fit.
_LEAST = 0.2


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


@dataclass(frozen=True, eq=False)
class Expectation:
    """The model at given potentials: the distribution of the number of cells, and messages along its paths.

    Potentials are relative to a base: a move in any direction is equally likely, lengths fall off with the size
    of the grid. A path with L cells has probability length(L) times its weight over the weight of all paths
    with L cells.
    """

    network: Network
    layout: Layout
    potentials: Floats
    length: Floats
    messages: Messages

    @staticmethod
    def at(network: Network, lengths: int, potentials: Floats) -> Expectation:
        layout = Layout(network.cells, network.moves, lengths)
        length = np.exp(_shifted(potentials[layout.length] + base_length(network.grid.n, lengths)))
        messages = Messages.along(network, weights_of(network, layout, potentials), lengths - 1)
        return Expectation(network, layout, potentials, length / length.sum(), messages)

    def moved(self, step: Floats) -> Expectation:
        """The model with other potentials."""
        return Expectation.at(self.network, self.layout.lengths, self.potentials + step)

    def answers(self, asked: Mapping[str, int]) -> dict[str, Floats]:
        """Expected items per user for each question (name -> most items), repeats within a path counted in full."""
        return {
            name: self._answer(name, self.length * kept(name, most, self._moves))
            for name, most in asked.items()
        }

    @cached_property
    def _moves(self) -> Floats:
        return np.arange(len(self.length), dtype=np.float64)

    def _answer(self, name: str, weight: Floats) -> Floats:
        messages, network = self.messages, self.network
        match name:
            case "length":
                return self.length
            case "start":
                return weight @ messages.starts
            case "end":
                return weight @ messages.ends
            case "terminals":
                return weight @ messages.starts + weight @ messages.ends
            case "visits":
                return weight @ messages.starts + network.by_target(weight @ messages.moves)
            case "moves":
                return weight @ messages.moves
            case "links":
                return network.by_link(weight @ messages.moves)
            case "turns":
                return weight @ messages.turns
        raise NotImplementedError(f"the path model does not know the question {name!r}")

    def derivatives(self, asked: Mapping[str, int]) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """For each question the derivatives of its expected answers (rows) by the potentials (columns), and the
        part of each answer that is left when a path names an item once."""
        weight = {name: self.length * kept(name, most, self._moves) for name, most in asked.items()}
        plain = self.length
        weighting = [plain] + [weight[name] for name in ("moves", "links", "visits") if name in asked]
        distinct, index = np.unique(np.array(weighting), axis=0, return_inverse=True)
        names = ["plain"] + [name for name in ("moves", "links", "visits") if name in asked]
        place = dict(zip(names, index.ravel().tolist(), strict=True))
        messages, network, layout = self.messages, self.network, self.layout
        uses = np.array([messages.uses(row) for row in distinct])
        finals = np.array([messages.finals(row) for row in distinct])
        moved, ended = messages.pairs(uses, finals)
        cells = network.cells

        def of_starts(name: str) -> Floats:
            q, by_moves = place[name], distinct[place[name]]
            second = np.zeros((cells, layout.size))
            second[:, layout.start] = np.diag(by_moves @ messages.starts)
            second[:, layout.end] = ended[q, :cells] + np.diag(by_moves[0] * messages.single)
            second[:, layout.move] = moved[q, :cells]
            second[:, layout.turn] = self._start_turns(by_moves)
            return self._centred(second, messages.starts, by_moves)

        def of_ends() -> Floats:
            q = place["plain"]
            second = np.zeros((cells, layout.size))
            second[:, layout.start] = ended[q, :cells].T + np.diag(plain[0] * messages.single)
            second[:, layout.end] = np.diag(plain @ messages.ends)
            second[:, layout.move] = ended[q, cells:].T
            second[:, layout.turn] = self._turn_ends(plain).T
            return self._centred(second, messages.ends, plain)

        def of_moves(name: str) -> Floats:
            q, by_moves = place[name], distinct[place[name]]
            second = np.zeros((network.moves, layout.size))
            second[:, layout.start] = moved[q, :cells].T
            second[:, layout.end] = ended[q, cells:]
            # Earlier and later, minus once what was counted as both.
            ordered = moved[q, cells:]
            second[:, layout.move] = ordered + ordered.T - np.diag(by_moves @ messages.moves)
            second[:, layout.turn] = self._turn_moves(by_moves).T
            return self._centred(second, messages.moves, by_moves)

        def of_turns(by_moves: Floats) -> Floats:
            second = np.zeros((TURNS, layout.size))
            second[:, layout.start] = self._start_turns(by_moves).T
            second[:, layout.end] = self._turn_ends(by_moves)
            second[:, layout.move] = self._turn_moves(by_moves)
            later = np.einsum("tke,ske->ts", messages.turning, self._turns_after(by_moves))
            second[:, layout.turn] = later + later.T + np.diag(by_moves @ messages.turns)
            return self._centred(second, messages.turns, by_moves)

        slopes: dict[str, Floats] = {}
        for name in asked:
            match name:
                case "length":
                    slopes[name] = np.zeros((layout.lengths, layout.size))
                    slopes[name][:, layout.length] = np.diag(plain) - np.outer(plain, plain)
                case "start":
                    slopes[name] = of_starts("plain")
                case "end":
                    slopes[name] = of_ends()
                case "terminals":
                    slopes[name] = of_starts("plain") + of_ends()
                case "visits":
                    slopes[name] = of_starts(name) + network.by_target(of_moves(name).T).T
                case "moves":
                    slopes[name] = of_moves(name)
                case "links":
                    slopes[name] = network.by_link(of_moves(name).T).T
                case "turns":
                    slopes[name] = of_turns(weight[name])
        loops = np.diag(ended[place["plain"], :cells]) + plain[0] * messages.single
        left = {name: self._named_once(name, most, weight[name], loops) for name, most in asked.items()}
        return {name: slopes[name] * left[name][:, None] for name in asked}, left

    def _named_once(self, name: str, most: int, weight: Floats, loops: Floats) -> Floats:
        twice = self.length * both_kept(name, most, self._moves)
        match name:
            case "moves":
                lost = self.messages.repeats(twice)
            case "links":
                lost = self.network.by_link(self.messages.returns(twice))
            case "visits":
                lost = self.network.by_source(self.messages.returns(twice))
            case "terminals":
                lost = loops
            case _:
                return np.ones(len(self._answer(name, weight)))
        answer = self._answer(name, weight)
        return np.clip(1 - np.divide(lost, answer, out=np.zeros_like(lost), where=answer > 0), _LEAST, 1)

    def _centred(self, second: Floats, given_moves: Floats, by_moves: Floats) -> Floats:
        """Second moments to covariances at a fixed number of moves; and the columns of the lengths."""
        layout, weighted = self.layout, (given_moves * by_moves[:, None]).T
        second[:, : layout.turn.stop] -= weighted @ self._features
        second[:, layout.length] = weighted - np.outer(weighted.sum(axis=1), self.length)
        return second

    @cached_property
    def _features(self) -> Floats:
        messages = self.messages
        return np.hstack([messages.starts, messages.ends, messages.moves, messages.turns])

    def _turns_after(self, by_moves: Floats) -> Floats:
        """Entry (t, k, e): later turns of class t when the k-th move is e, over all endings."""
        return self.messages.spread(by_moves) @ self.messages.turns_behind

    def _start_turns(self, by_moves: Floats) -> Floats:
        if self.messages.most == 0:
            return np.zeros((self.network.cells, TURNS))
        return self.network.by_source(self.messages.ahead[1] * self._turns_after(by_moves)[:, 1]).T

    def _turn_ends(self, by_moves: Floats) -> Floats:
        ends = np.einsum("tke,ke->te", self.messages.turns_ahead, self.messages.finals(by_moves))
        return self.network.by_target(ends)

    def _turn_moves(self, by_moves: Floats) -> Floats:
        """A turn and a move that comes after it or ends it, plus a move and a turn after it."""
        messages = self.messages
        after = np.einsum("tke,ke->te", messages.turns_ahead, messages.uses(by_moves))
        return after + np.einsum("ke,tke->te", messages.ahead, self._turns_after(by_moves))


def weights_of(network: Network, layout: Layout, potentials: Floats) -> Weights:
    """Factors of a path's weight, the base measure included."""
    out = np.diff(network.first).astype(np.float64)
    move = np.exp(_shifted(potentials[layout.move])) / out[network.source]
    bend = np.exp(_shifted(potentials[layout.turn]))
    step = np.where(network.following >= 0, move[network.following] * bend[network.turns], 0.0)
    return Weights(
        np.exp(_shifted(potentials[layout.start])), move, step, np.exp(_shifted(potentials[layout.end]))
    )


def base_length(n: int, lengths: int) -> Floats:
    """Log-probability, up to a constant, of 1, 2, ... cells before anything is known: mean about two thirds of n."""
    return -1.5 / n * np.arange(lengths, dtype=np.float64)


def kept(name: str, most: int, moves: Floats) -> Floats:
    """Probability that a position of a path with so many moves is among those it answers with."""
    match name:
        case "moves" | "links":
            return np.minimum(1.0, most / np.maximum(moves, 1))
        case "visits":
            return np.minimum(1.0, most / (moves + 1))
        case "turns":
            return 1 / np.maximum(moves - 1, 1)
    return np.ones(len(moves))


def both_kept(name: str, most: int, moves: Floats) -> Floats:
    """Probability that two given positions are both among those a path answers with."""
    positions = moves + 1 if name == "visits" else moves
    return np.minimum(1.0, most * (most - 1) / np.maximum(positions * (positions - 1), 1))


def _shifted(values: Floats) -> Floats:
    """A common factor changes nothing; without it exponentials stay in range."""
    return values - values.max()
