"""Messages along the paths of the model: sums over beginnings and endings, and how pairs of features go together.

The weight of a path is a product: its first cell, its first move, every later move given the one before, its
last cell. Sums over all paths with a given number of moves need one vector per position, over the moves of the
grid. Every vector is scaled to sum one; the scales cancel, because all uses are ratios at a fixed number of moves.

The weights come from the log-potentials x, whose vector has a place for each kind (`Layout`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ldptrace.core.arrays import Flags, Floats
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.models.path.graph import MoveGraph
from ldptrace.protocol.lattice import TURNS

# Features that one thread follows at a time: all of a small grid, which is done before another thread begins.
_ROWS = 256


@dataclass(frozen=True, eq=False)
class Weights:
    """Factors of a path's weight; `step[e, k]` is for the k-th of the moves that may follow move `e`."""

    start: Floats
    move: Floats
    step: Floats
    end: Floats


@dataclass(frozen=True, eq=False)
class Messages:
    """Sums over the beginnings and the endings of all paths with up to `most` moves.

    `forward[k]` is over the beginnings whose k-th move is the given one (k from 1), `backward[j]` over the endings
    with j moves after the given one. `forward_scale[k]` and `backward_scale[j]` are what they were divided by.
    """

    graph: MoveGraph
    weights: Weights
    forward: Floats
    backward: Floats
    forward_scale: Floats
    backward_scale: Floats

    @staticmethod
    def along(graph: MoveGraph, weights: Weights, most: int) -> Messages:
        forward = np.zeros((most + 1, graph.moves))
        backward = np.zeros((most + 1, graph.moves))
        forward_scale, backward_scale = np.ones(most + 1), np.ones(most + 1)
        if most:
            forward[1] = weights.start[graph.source] * weights.move
            forward[1] /= forward[1].sum()
        backward[0] = weights.end[graph.target]
        _along(graph.target, graph.first, weights.step, forward, backward, forward_scale, backward_scale)
        return Messages(graph, weights, forward, backward, forward_scale, backward_scale)

    @property
    def most(self) -> int:
        return len(self.forward) - 1

    @cached_property
    def inverse(self) -> Floats:
        """Entry (k, j): one over the sum of all paths with k + j moves, cut after move k; 0 beyond `most`."""
        sums = self.forward @ self.backward.T
        return np.divide(1.0, sums, out=np.zeros_like(sums), where=self._inside & (sums > 0))

    @cached_property
    def _inside(self) -> Flags:
        k = np.arange(self.most + 1)
        return (k[:, None] >= 1) & (k[:, None] + k <= self.most)

    def spread(self, by_moves: Floats) -> Floats:
        """Entry (k, j): weight of paths with k + j moves over their sum, cut after move k."""
        k = np.arange(self.most + 1)
        return by_moves[np.minimum(k[:, None] + k, self.most)] * self.inverse

    def uses(self, by_moves: Floats) -> Floats:
        """Entry (k, e): what move e counts as the k-th one, all endings summed, paths weighted by their moves."""
        return self.spread(by_moves) @ self.backward

    def finals(self, by_moves: Floats) -> Floats:
        """Entry (k, c): what cell c counts as the last one, after the k-th move."""
        return self.spread(by_moves)[:, :1] * self.weights.end

    @cached_property
    def single(self) -> Floats:
        """Distribution of the cell of paths without moves."""
        weight = self.weights.start * self.weights.end
        return weight / weight.sum()

    @cached_property
    def moves(self) -> Floats:
        """Expected uses of each move, one row per number of moves of the path."""
        expected = np.zeros_like(self.forward)
        _expected_moves(self.forward, self.backward, self.inverse, expected)
        return expected

    @cached_property
    def starts(self) -> Floats:
        """Distribution of the first cell, one row per number of moves."""
        return np.vstack([self.single, self.graph.by_source(self.first_moves)])

    @cached_property
    def first_moves(self) -> Floats:
        """Distribution of the first move, one row per number of moves from one on."""
        if self.most == 0:
            return np.zeros((0, self.graph.moves))
        return self.forward[1] * self.backward[:-1] * self.inverse[1, :-1, None]

    @cached_property
    def ends(self) -> Floats:
        """Distribution of the last cell, one row per number of moves."""
        table = self.graph.by_target(self.forward * self.backward[0] * self.inverse[:, :1])
        table[0] = self.single
        return table

    @cached_property
    def turns(self) -> Floats:
        """Expected number of turns of each class, one row per number of moves."""
        return np.einsum("tke,e,k->kt", self.turns_forward, self.backward[0], self.inverse[:, 0])

    @cached_property
    def features(self) -> Floats:
        """Expected starts, ends, moves and turns, one row per number of moves."""
        return np.hstack([self.starts, self.ends, self.moves, self.turns])

    @cached_property
    def turns_forward(self) -> Floats:
        """Entry (t, k, e): `forward[k, e]` with every beginning counted once per turn of class t."""
        return self._turns_forward[0]

    @cached_property
    def turning(self) -> Floats:
        """Entry (t, k, e): the part of `forward[k, e]` that makes its last turn, into e, in class t."""
        return self._turns_forward[1]

    @cached_property
    def _turns_forward(self) -> Floats:
        tables = np.zeros((2, TURNS, self.most + 1, self.graph.moves))
        graph, step = self.graph, self.weights.step
        _turns_forward(
            graph.target, graph.first, graph.turns, step, self.forward, self.forward_scale, *tables
        )
        return tables

    @cached_property
    def turns_backward(self) -> Floats:
        """Entry (t, j, e): `backward[j, e]` with every ending counted once per turn of class t, that at e included."""
        table = np.zeros((TURNS, self.most + 1, self.graph.moves))
        graph, step = self.graph, self.weights.step
        _turns_backward(
            graph.target, graph.first, graph.turns, step, self.backward, self.backward_scale, table
        )
        return table

    def returns(self, by_moves: Floats) -> Floats:
        """Expected number of times that each move is followed by the move back, paths weighted by their moves."""
        before = self.forward[1:-1] / self.forward_scale[2:, None]
        after = self.uses(by_moves)[2:, self.graph.reverse]
        return (before * after).sum(axis=0) * self._way_back

    def repeats(self, by_moves: Floats) -> Floats:
        """Expected number of times that each move is followed by the move back and by the move again."""
        before = self.forward[1:-2] / (self.forward_scale[2:-1] * self.forward_scale[3:])[:, None]
        after = self.uses(by_moves)[3:]
        return (before * after).sum(axis=0) * self._way_back * self._way_back[self.graph.reverse]

    @cached_property
    def _way_back(self) -> Floats:
        return self.weights.step[np.arange(self.graph.moves), self.graph.back]

    def pairs(self, uses: Floats, finals: Floats) -> tuple[Floats, Floats]:
        """How often a first cell or a move goes together with a later or the same move, and with the last cell.

        `uses` and `finals` stack what the methods of these names return, for several weightings q. Entry (q, r, e)
        of the first result is for feature r (cells as first cell, then moves) and move e, entry (q, r, c) of the
        second for last cell c.
        """
        graph = self.graph
        rows = graph.cells + graph.moves
        moved = np.zeros((len(uses), rows, graph.moves))
        ended = np.zeros((len(finals), rows, graph.cells))

        def work(_: int, start: int, stop: int) -> None:
            arguments = (
                graph.target,
                graph.first,
                self.weights.step,
                self.forward,
                self.forward_scale,
            )
            _pairs(start, stop, graph.cells, *arguments, uses, finals, moved, ended)

        map_chunks(work, rows, _ROWS)
        return moved, ended


@kernel
def _along(target, first, step, forward, backward, forward_scale, backward_scale):  # type: ignore[no-untyped-def]
    """Fill `forward` from its row 1 and `backward` from its row 0: one more step in each row, which is then scaled."""
    most, moves = forward.shape[0] - 1, forward.shape[1]
    for k in range(2, most + 1):
        for e in range(moves):
            begin = first[target[e]]
            for s in range(begin, first[target[e] + 1]):
                forward[k, s] += forward[k - 1, e] * step[e, s - begin]
        forward_scale[k] = _scaled(forward[k])
    for j in range(1, most + 1):
        for e in range(moves):
            begin = first[target[e]]
            for s in range(begin, first[target[e] + 1]):
                backward[j, e] += step[e, s - begin] * backward[j - 1, s]
        backward_scale[j] = _scaled(backward[j])


@kernel
def _scaled(row):  # type: ignore[no-untyped-def]
    """Divide by the sum, and return it. In loops: numba takes seconds to compile the errors of whole arrays."""
    total = 0.0
    for value in row:
        total += value
    for e in range(len(row)):
        row[e] /= total
    return total


@kernel
def _expected_moves(forward, backward, inverse, expected):  # type: ignore[no-untyped-def]
    most, moves = forward.shape[0] - 1, forward.shape[1]
    for total in range(1, most + 1):
        for k in range(1, total + 1):
            scale = inverse[k, total - k]
            for e in range(moves):
                expected[total, e] += forward[k, e] * backward[total - k, e] * scale


@kernel
def _turns_forward(target, first, turns, step, forward, forward_scale, table, last):  # type: ignore[no-untyped-def]
    classes, positions, moves = table.shape
    for k in range(2, positions):
        for e in range(moves):
            begin = first[target[e]]
            for s in range(begin, first[target[e] + 1]):
                weight = step[e, s - begin] / forward_scale[k]
                for t in range(classes):
                    table[t, k, s] += table[t, k - 1, e] * weight
                last[turns[e, s - begin], k, s] += forward[k - 1, e] * weight
        for t in range(classes):
            for e in range(moves):
                table[t, k, e] += last[t, k, e]


@kernel
def _turns_backward(target, first, turns, step, backward, backward_scale, table):  # type: ignore[no-untyped-def]
    classes, positions, moves = table.shape
    for j in range(1, positions):
        for e in range(moves):
            begin = first[target[e]]
            for s in range(begin, first[target[e] + 1]):
                weight = step[e, s - begin] / backward_scale[j]
                for t in range(classes):
                    table[t, j, e] += table[t, j - 1, s] * weight
                table[turns[e, s - begin], j, e] += backward[j - 1, s] * weight


@kernel
def _pairs(  # type: ignore[no-untyped-def]
    start, stop, cells, target, first, step, forward, forward_scale, uses, finals, moved, ended
):
    positions, moves = forward.shape
    rows = stop - start
    # Beginnings up to the k-th move, counted as often as they have feature r: entry (e, r), rows side by side so
    # that the inner loops run over neighbours in memory. `arrived` is their sum over the moves into each cell.
    here, there, arrived = np.zeros((moves, rows)), np.zeros((moves, rows)), np.zeros((cells, rows))
    together = np.zeros((moves, uses.shape[0], rows))
    last = np.zeros((cells, finals.shape[0], rows))
    for k in range(1, positions):
        if k == 1:
            for r in range(start, min(stop, cells)):
                for e in range(first[r], first[r + 1]):
                    here[e, r - start] = forward[1, e]
        else:
            for e in range(moves):
                for r in range(rows):
                    there[e, r] = 0.0
            for e in range(moves):
                begin = first[target[e]]
                for s in range(begin, first[target[e] + 1]):
                    _add(there[s], here[e], step[e, s - begin] / forward_scale[k])
            here, there = there, here
        for r in range(max(start, cells), stop):
            here[r - cells, r - start] += forward[k, r - cells]
        for c in range(cells):
            for r in range(rows):
                arrived[c, r] = 0.0
        for e in range(moves):
            for q in range(uses.shape[0]):
                _add(together[e, q], here[e], uses[q, k, e])
            _add(arrived[target[e]], here[e], 1.0)
        for c in range(cells):
            for q in range(finals.shape[0]):
                _add(last[c, q], arrived[c], finals[q, k, c])
    for r in range(rows):
        for q in range(uses.shape[0]):
            for e in range(moves):
                moved[q, start + r, e] = together[e, q, r]
            for c in range(cells):
                ended[q, start + r, c] = last[c, q, r]


@kernel
def _add(row, other, weight):  # type: ignore[no-untyped-def]
    for r in range(len(row)):
        row[r] += other[r] * weight


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
