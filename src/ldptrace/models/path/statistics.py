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

from ldptrace.models.path.messages import Messages, Weights
from ldptrace.models.path.network import Network
from ldptrace.protocol.lattice import TURNS

Floats = NDArray[np.float64]
QUESTIONS = ("length", "start", "end", "terminals", "visits", "moves", "links", "turns")
# A path may lose this part of its answer to repeats at most; it only bites far from any fit.
_LEAST = 0.2
# Questions that long paths answer with a random choice of their positions.
_SAMPLED = ("moves", "links", "visits")


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
        messages, network = self.messages, self.network
        weight = {name: self.length * kept(name, most, self._moves) for name, most in asked.items()}
        weighting, place = np.unique(
            np.array([self.length, *(weight.get(name, self.length) for name in _SAMPLED)]),
            axis=0,
            return_inverse=True,
        )
        plain, *sampled = place.ravel().tolist()
        moved, ended = messages.pairs(
            np.array([messages.uses(row) for row in weighting]),
            np.array([messages.finals(row) for row in weighting]),
        )
        pairs = [_Pairs(self, *parts) for parts in zip(weighting, moved, ended, strict=True)]
        of = dict(zip(_SAMPLED, (pairs[q] for q in sampled), strict=True))
        slopes: dict[str, Floats] = {}
        for name in asked:
            match name:
                case "length":
                    slopes[name] = self._length_slopes()
                case "start":
                    slopes[name] = pairs[plain].of_starts
                case "end":
                    slopes[name] = pairs[plain].of_ends
                case "terminals":
                    slopes[name] = pairs[plain].of_starts + pairs[plain].of_ends
                case "visits":
                    slopes[name] = of[name].of_starts + network.by_target(of[name].of_moves.T).T
                case "moves":
                    slopes[name] = of[name].of_moves
                case "links":
                    slopes[name] = network.by_link(of[name].of_moves.T).T
                case "turns":
                    slopes[name] = _Pairs(self, weight[name]).of_turns
        loops = pairs[plain].start_and_end.diagonal()
        left = {name: self._named_once(name, most, weight[name], loops) for name, most in asked.items()}
        return {name: slopes[name] * left[name][:, None] for name in asked}, left

    def _length_slopes(self) -> Floats:
        slopes = np.zeros((self.layout.lengths, self.layout.size))
        slopes[:, self.layout.length] = np.diag(self.length) - np.outer(self.length, self.length)
        return slopes

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

    @cached_property
    def features(self) -> Floats:
        """Expected starts, ends, moves and turns, one row per number of moves."""
        messages = self.messages
        return np.hstack([messages.starts, messages.ends, messages.moves, messages.turns])


@dataclass(frozen=True, eq=False)
class _Pairs:
    """How features go together when paths are weighted by their number of moves: rows of derivatives.

    `moved` and `ended` are the second moments of `Messages.pairs` for this weighting.
    """

    expectation: Expectation
    by_moves: Floats
    moved: Floats | None = None
    ended: Floats | None = None

    @property
    def _messages(self) -> Messages:
        return self.expectation.messages

    @property
    def _cells(self) -> int:
        return self.expectation.network.cells

    @cached_property
    def start_and_end(self) -> Floats:
        """How often each first cell goes with each last cell."""
        assert self.ended is not None
        return self.ended[: self._cells] + np.diag(self.by_moves[0] * self._messages.single)

    @cached_property
    def of_starts(self) -> Floats:
        assert self.moved is not None
        starts = np.diag(self.by_moves @ self._messages.starts)
        blocks = [starts, self.start_and_end, self.moved[: self._cells], self._starts_turns]
        return self._centred(blocks, self._messages.starts)

    @cached_property
    def of_ends(self) -> Floats:
        assert self.ended is not None
        ends = np.diag(self.by_moves @ self._messages.ends)
        blocks = [self.start_and_end.T, ends, self.ended[self._cells :].T, self._turns_ends.T]
        return self._centred(blocks, self._messages.ends)

    @cached_property
    def of_moves(self) -> Floats:
        assert self.moved is not None
        assert self.ended is not None
        # Earlier and later, minus once what was counted as both.
        ordered = self.moved[self._cells :]
        both = ordered + ordered.T
        both[np.diag_indices_from(both)] -= self.by_moves @ self._messages.moves
        blocks = [self.moved[: self._cells].T, self.ended[self._cells :], both, self._turns_moves.T]
        return self._centred(blocks, self._messages.moves)

    @cached_property
    def of_turns(self) -> Floats:
        later = np.einsum("tke,ske->ts", self._messages.turning, self._turns_after)
        both = later + later.T + np.diag(self.by_moves @ self._messages.turns)
        blocks = [self._starts_turns.T, self._turns_ends, self._turns_moves, both]
        return self._centred(blocks, self._messages.turns)

    def _centred(self, blocks: list[Floats], given_moves: Floats) -> Floats:
        """Second moments to covariances at a fixed number of moves; and the columns of the lengths."""
        weighted = (given_moves * self.by_moves[:, None]).T
        lengths = weighted - np.outer(weighted.sum(axis=1), self.expectation.length)
        return np.hstack([np.hstack(blocks) - weighted @ self.expectation.features, lengths])

    @cached_property
    def _turns_after(self) -> Floats:
        """Entry (t, k, e): later turns of class t when the k-th move is e, over all endings."""
        return self._messages.spread(self.by_moves) @ self._messages.turns_behind

    @cached_property
    def _starts_turns(self) -> Floats:
        first = self._messages.ahead[1:2] * self._turns_after[:, 1:2]
        return self.expectation.network.by_source(first.sum(axis=1)).T

    @cached_property
    def _turns_ends(self) -> Floats:
        ends = np.einsum("tke,ke->te", self._messages.turns_ahead, self._messages.finals(self.by_moves))
        return self.expectation.network.by_target(ends)

    @cached_property
    def _turns_moves(self) -> Floats:
        """A turn and a move that ends it or comes after it, plus a move and a turn after it."""
        after = np.einsum("tke,ke->te", self._messages.turns_ahead, self._messages.uses(self.by_moves))
        return after + np.einsum("ke,tke->te", self._messages.ahead, self._turns_after)


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
