"""The path model on a large grid: expected answers by a few passes, and products with their Jacobian.

Nothing here holds a table of pairs of features. A product of the Jacobian with a direction is the covariance, at fixed
numbers of moves, of every feature with the sum of the direction along a path: one counted forward pass and one counted
backward pass for each way of weighting paths (`docs/lab/path-model.md`, "Large grids").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from queue import Empty, SimpleQueue
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.parallel import map_chunks
from ldptrace.models.path import passes
from ldptrace.models.path.answers import ANSWERS
from ldptrace.models.path.answers.base import Features
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.messages import Layout, base_length, shifted, weights_of
from ldptrace.protocol.lattice import TURNS

# Products are of single precision: they need half the memory, and are twice as quick. What is expected is of double.
Halves = NDArray[np.float32]
# A path may lose this part of its answer to repeats at most; it only matters far from any fit.
_LEAST = 0.2
# Loops are found from cells at this distance in both directions at once; what reaches other cells has random signs.
_STRIDE = 8
# States of a pass from which on it takes longer than to start a thread.
_THREADED = 1_000_000
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Flow:
    """The model at given potentials, as `Expectation`, with the passes of `ldptrace.models.path.passes`."""

    graph: MoveGraph
    layout: Layout
    potentials: Floats
    length: Floats
    # Weights of first cells, moves (direction, cell), turns and last cells.
    start: Floats
    move: Floats
    bend: Floats
    end: Floats
    # Sums over beginnings, what they were divided by, and the sums over all paths by their number of moves.
    forward: Floats
    scale: Floats
    sums: Floats

    @staticmethod
    def at(graph: MoveGraph, lengths: int, potentials: Floats) -> Flow:
        layout = Layout(graph.cells, graph.moves, lengths)
        length = np.exp(shifted(potentials[layout.length] + base_length(graph.grid.n, lengths)))
        weights, bend = weights_of(graph, layout, potentials), np.exp(shifted(potentials[layout.turn]))
        start, end, move = weights.start, weights.end, np.zeros((8, graph.cells))
        move[graph.direction, graph.source] = weights.move
        forward, scale, sums = np.zeros((lengths, 8, graph.cells)), np.ones(lengths), np.ones(lengths)
        passes.forward_pass(start, move, bend, end, passes.shifts(graph.grid.n), forward, scale, sums)
        return Flow(
            graph, layout, potentials, length / length.sum(), start, move, bend, end, forward, scale, sums
        )

    def moved(self, step: Floats) -> Flow:
        """The model with other potentials."""
        return Flow.at(self.graph, self.layout.lengths, self.potentials + step)

    @cached_property
    def shift(self) -> Ints:
        return passes.shifts(self.graph.grid.n)

    @cached_property
    def single(self) -> Floats:
        """Distribution of the cell of paths without moves."""
        weight: Floats = self.start * self.end
        return weight / weight.sum()

    @cached_property
    def _moves(self) -> Floats:
        return np.arange(len(self.length), dtype=np.float64)

    def weight(self, name: str, most: int) -> Floats:
        """Chance of each number of moves, times the inclusion probability of a position of such a path."""
        return self.length * ANSWERS[name].inclusion(most, self._moves)

    def backward(self, weight: Floats) -> Floats:
        """Sums over endings when paths with k moves count with `weight[k]`."""
        table = np.zeros_like(self.forward)
        passes.backward_pass(
            self.move, self.bend, self.end, self.shift, self.scale, weight / self.sums, table
        )
        return table

    def features(self, weight: Floats, backward: Floats | None = None, *, turns: bool = False) -> Features:
        """Expected features when paths with k moves count with `weight[k]`."""
        backward = self.backward(weight) if backward is None else backward
        moves, ends = np.zeros((8, self.graph.cells)), weight[0] * self.single
        passes.expected_pass(self.forward, backward, weight / self.sums, self.end, moves, ends)
        first = (
            self.of_moves(self.forward[1] * backward[1]) if len(weight) > 1 else np.zeros(self.graph.moves)
        )
        starts = weight[0] * self.single + self.graph.by_source(first)
        bends = np.zeros(TURNS)
        if turns:
            bends = passes.turn_sums(self.move, self.bend, self.shift, self.scale, self.forward, backward)
        return Features(starts, ends, self.of_moves(moves), bends)

    def of_moves(self, states: Floats) -> Floats:
        """Values of states (direction, cell arrived at) in the order of the moves."""
        return states[self.graph.direction, self.graph.target]

    def answers(self, capacities: Mapping[str, int]) -> dict[str, Floats]:
        """Expected items per user for each question (name -> most items named), repeats counted in full."""
        found: dict[bytes, Features] = {}
        expected = {}
        for name, most in capacities.items():
            weight = self.weight(name, most)
            if name == "length":
                expected[name] = weight
                continue
            key = weight.tobytes()
            if key not in found:
                found[key] = self.features(weight, turns=ANSWERS[name].has_turns)
            expected[name] = ANSWERS[name].pooled(self.graph, found[key])
        return expected

    def products(self, capacities: Mapping[str, int]) -> Products:
        """Products with the Jacobian at these potentials."""
        return Products(self, capacities)

    def pools(self, name: str) -> Ints:
        """Groups of answers about neighbouring cells; lengths and turns are groups of their own."""
        numbers = np.unique(ANSWERS[name].pools(self.graph, len(self.length)), return_inverse=True)[1]
        return numbers.astype(np.int64)

    def loops(self) -> Floats:
        """Chance that a path begins and ends in each cell, nearly: other ways between its cells cancel by signs."""
        n, cells = self.graph.grid.n, self.graph.cells
        i, j = np.divmod(np.arange(cells), n)
        colour = (i % _STRIDE) * _STRIDE + j % _STRIDE
        signs = np.random.default_rng(0).choice([-1.0, 1.0], cells)
        found = self.length[0] * self.single
        weight = self.length / self.sums

        def walk(_: int, begin: int, stop: int) -> None:
            for number in range(begin, stop):
                own = colour == number
                ends = np.zeros(cells)
                from_there = np.where(own, self.start * signs, 0.0)
                passes.last_cells(
                    from_there, self.move, self.bend, self.end, self.shift, self.scale, weight, ends
                )
                found[own] += (ends * signs)[own]

        map_chunks(walk, _STRIDE * _STRIDE, _STRIDE)
        return np.maximum(found, 0.0)

    def lost(self, name: str, most: int) -> Floats | None:
        """Expected items that are named once though a path has them twice."""
        if name == "terminals":
            return self.loops()
        if not ANSWERS[name].repeats_moves:
            return None
        both = self.length * ANSWERS[name].joint_inclusion(most, self._moves)
        once, twice = np.zeros((8, self.graph.cells)), np.zeros((8, self.graph.cells))
        passes.way_back_pass(
            self.move, self.bend, self.shift, self.scale, self.forward, self.backward(both), once, twice
        )
        return ANSWERS[name].pooled_repeats(self.graph, self.of_moves(once), self.of_moves(twice))

    def left(self, name: str, most: int, answer: Floats) -> Floats:
        """The part of each answer that is left when a path names an item once."""
        lost = self.lost(name, most)
        if lost is None:
            return np.ones(len(answer))
        return np.clip(1 - np.divide(lost, answer, out=np.zeros_like(lost), where=answer > 0), _LEAST, 1)


@dataclass(frozen=True, eq=False)
class _Kind:
    """Questions whose paths are weighted alike: they share their passes."""

    names: tuple[str, ...]
    weight: Floats
    backward: Halves


class Products:
    """The Jacobian of all expected answers, question by question, as products with vectors.

    What has to do with turns is little, and is kept as rows and columns.
    """

    def __init__(self, flow: Flow, capacities: Mapping[str, int]) -> None:
        self.flow = flow
        weights = {name: flow.weight(name, most) for name, most in capacities.items()}
        groups: dict[bytes, list[str]] = {}
        for name, weight in weights.items():
            if name not in ("length", "turns"):
                groups.setdefault(weight.tobytes(), []).append(name)
        tables = (flow.start, flow.move, flow.bend, flow.end, flow.forward)
        self._start, self._move, self._bend, self._end, self._forward = map(_halved, tables)
        self._scratch = SimpleQueue[Halves]()
        self._kinds, found = list[_Kind](), {"length": flow.length}
        for names in groups.values():
            weight = weights[names[0]]
            backward = flow.backward(weight)
            self._kinds.append(_Kind(tuple(names), weight, _halved(backward)))
            features = flow.features(weight, backward)
            found |= {name: ANSWERS[name].pooled(flow.graph, features) for name in names}
        self._turn_rows = np.zeros((0, flow.layout.size))
        if "turns" in weights:
            backward = flow.backward(weights["turns"])
            turning = _Kind(("turns",), weights["turns"], _halved(backward))
            found["turns"] = flow.features(turning.weight, backward, turns=True).turns
            self._turn_rows = self._rows_of_turns(turning, found["turns"])
        self.answers = {name: found[name] for name in capacities}
        self.left = {name: flow.left(name, most, found[name]) for name, most in capacities.items()}
        columns = [self._along(replace(Features.zero(flow.graph), turns=unit)) for unit in np.eye(TURNS)]
        self._turn_columns = {
            name: np.stack([column[name] for column in columns])
            for kind in self._kinds
            for name in kind.names
        }

    def apply(self, direction: Floats) -> dict[str, Floats]:
        """Derivatives of the expected answers along a direction of the potentials."""
        flow, layout = self.flow, self.flow.layout
        lengths = direction[layout.length] - flow.length @ direction[layout.length]
        along = Features(
            direction[layout.start], direction[layout.end], direction[layout.move], np.zeros(TURNS)
        )
        found = self._along(along, lengths)
        for name, columns in self._turn_columns.items():
            found[name] = (found[name] + direction[layout.turn] @ columns) * self.left[name]
        found["length"] = flow.length * lengths
        found["turns"] = self._turn_rows @ direction
        return {name: found[name] for name in self.answers}

    def apply_transposed(self, values: Mapping[str, Floats]) -> Floats:
        """Derivatives by the potentials of the sum of expected answers times `values`; questions may be omitted."""
        flow, layout = self.flow, self.flow.layout

        # A single kind needs no threads of its own: a caller that needs many rows works on several at a time.
        kinds = [kind for kind in self._kinds if any(name in values for name in kind.names)]

        def work(kind: _Kind) -> Floats:
            total = np.zeros(layout.size)
            along, expected = Features.zero(flow.graph), 0.0
            for name in (name for name in kind.names if name in values):
                scaled = values[name] * self.left[name]
                along = along + ANSWERS[name].unpooled(flow.graph, scaled)
                expected += float(scaled @ self.answers[name])
                total[layout.turn] += self._turn_columns[name] @ scaled
            with self._buffer() as counted:
                mean = self._count(along, counted)
                features = self._covariances(kind, along, counted, mean)
            total[layout.start], total[layout.end], total[layout.move] = features.blocks()[:3]
            total[layout.length] = kind.weight * mean - flow.length * expected
            return total

        result = np.sum(self._each(work, kinds), axis=0) + np.zeros(layout.size)
        if "length" in values:
            result[layout.length] += flow.length * (values["length"] - flow.length @ values["length"])
        if "turns" in values:
            result += values["turns"] @ self._turn_rows
        return result

    def _along(self, along: Features, lengths: Floats | None = None) -> dict[str, Floats]:
        """Derivatives of all answers but lengths and turns; repeats are counted in full."""
        found: dict[str, Floats] = {}
        with self._buffer() as counted:
            mean = self._count(along, counted)
            centre = mean if lengths is None else mean - lengths

            def work(kind: _Kind) -> None:
                features = self._covariances(kind, along, counted, centre)
                for name in kind.names:
                    found[name] = ANSWERS[name].pooled(self.flow.graph, features)

            self._each(work, self._kinds)
        return found

    def _each(self, work: Callable[[_Kind], T], kinds: Sequence[_Kind]) -> list[T]:
        """Results of `work` for each kind; by threads where a pass takes long enough."""
        if self._forward.size < _THREADED:
            return [work(kind) for kind in kinds]
        return map_chunks(lambda number, *_: work(kinds[number]), len(kinds), 1)

    def _rows_of_turns(self, kind: _Kind, expected: Floats) -> Floats:
        """Derivatives of the expected turns by all potentials."""
        flow, layout = self.flow, self.flow.layout
        rows = np.zeros((TURNS, layout.size))
        tables = (self._move, self._bend, flow.shift, flow.scale)
        with self._buffer() as counted, self._buffer() as behind:
            for number, row in enumerate(rows):
                along = replace(Features.zero(flow.graph), turns=np.eye(TURNS)[number])
                mean = self._count(along, counted)
                features = self._covariances(kind, along, counted, mean, behind)
                row[layout.start], row[layout.end], row[layout.move], _ = features.blocks()
                before = passes.turn_sums(*tables, counted, kind.backward)
                row[layout.turn] = before + passes.turn_sums(*tables, self._forward, behind)
                row[layout.turn][number] += expected[number]
                row[layout.length] = kind.weight * mean - flow.length * expected[number]
        return rows

    def _count(self, along: Features, counted: Halves) -> Floats:
        """Fill in beginnings counted by the direction; its mean for every number of moves."""
        flow, mean = self.flow, np.zeros(len(self.flow.length))
        passes.counted_forward_pass(
            self._start,
            self._move,
            self._bend,
            self._end,
            flow.shift,
            self._forward,
            flow.scale,
            flow.sums,
            _halved(along.start),
            self._leaving(along.moves),
            _halved(along.turns),
            _halved(along.end),
            counted,
            mean,
        )
        return mean

    def _covariances(
        self, kind: _Kind, along: Features, counted: Halves, centre: Floats, behind: Halves | None = None
    ) -> Features:
        """How first cells, last cells and moves go together with the direction, at fixed numbers of moves."""
        flow, cells = self.flow, self.flow.graph.cells
        moves, starts, ends = (np.zeros(shape, np.float32) for shape in ((8, cells), cells, cells))
        alone = kind.weight[0] * flow.single * (along.start + along.end - centre[0])
        passes.counted_backward_pass(
            self._move,
            self._bend,
            self._end,
            flow.shift,
            self._forward,
            flow.scale,
            kind.weight / flow.sums,
            kind.backward,
            counted,
            centre,
            self._leaving(along.moves),
            _halved(along.turns),
            _halved(along.end),
            np.empty((2, 8, cells), np.float32) if behind is None else behind,
            moves,
            starts,
            ends,
        )
        of_moves = flow.of_moves(moves.astype(np.float64))
        return Features(starts + alone, ends + alone, of_moves, np.zeros(TURNS))

    def _leaving(self, moves: Floats) -> Halves:
        """Values of moves by direction and the cell they leave."""
        table = np.zeros((8, self.flow.graph.cells), np.float32)
        table[self.flow.graph.direction, self.flow.graph.source] = moves
        return table

    @contextmanager
    def _buffer(self) -> Iterator[Halves]:
        """A table of states for one pass; fresh memory would cost as much as the pass."""
        try:
            table = self._scratch.get_nowait()
        except Empty:
            table = np.empty_like(self._forward)
        yield table
        self._scratch.put(table)


def _halved(table: Floats) -> Halves:
    return table.astype(np.float32)
