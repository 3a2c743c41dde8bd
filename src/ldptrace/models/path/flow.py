"""The path model at given potentials: what it expects users to answer, and products with the Jacobian.

Nothing here holds a table of pairs of features. A product of the Jacobian with a direction is the covariance, at fixed
numbers of moves, of every feature with the sum of the direction along a path: one counted forward pass and one counted
backward pass for each way of weighting paths (`docs/explanation/path-model.md`, "Sums over all paths").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats, Ints, Ints32
from ldptrace.core.parallel import map_chunks
from ldptrace.models.path import passes
from ldptrace.models.path.answers import ANSWERS
from ldptrace.models.path.features import Features
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout, Weights, base_length, shifted

# Products are of single precision: they need half the memory, and are twice as quick. What is expected is of double.
Halves = NDArray[np.float32]
# A path may lose this part of its answer to repeats at most; it only matters far from any fit.
_LEAST = 0.2
# Loops are found from cells at this distance in both directions at once; what reaches other cells has random signs.
_STRIDE = 8
# States of a pass from which on it takes longer than to start a thread.
_THREADED = 1_000_000
# Cells that loops run over at a time, if there are as many: districts of the first cell are put side by side.
_WIDE = 512
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Flow:
    """The model at given potentials: the distribution of the number of cells, and sums over all beginnings of paths.

    Potentials are relative to a base: a move in any direction is equally likely, lengths fall off with the size
    of the grid. A path with L cells has probability length(L) times its weight over the weight of all paths
    with L cells.
    """

    graph: MoveGraph
    layout: Layout
    potentials: Floats
    length: Floats
    weights: Weights
    # Districts side by side, and weights of starts, moves, steps and ends for them.
    beside: int
    tables: tuple[Floats, Floats, Floats, Floats]
    # Sums over beginnings, what they were divided by, and the sums over all paths by their number of moves.
    forward: Floats
    scale: Floats
    sums: Floats

    @staticmethod
    def at(graph: MoveGraph, layout: Layout, potentials: Floats) -> Flow:
        length = np.exp(shifted(potentials[layout.length] + base_length(graph.grid.n, layout.lengths)))
        weights, lengths = Weights.of(graph, layout, potentials), layout.lengths
        beside = _beside(len(weights.start), graph.cells)
        start, end = (table.reshape(-1, beside * graph.cells) for table in (weights.start, weights.end))
        move, step = (_tiled(table, beside) for table in (weights.move, weights.step))
        forward, scale, sums = (
            np.zeros((lengths, len(start), *move.shape)),
            np.ones(lengths),
            np.ones(lengths),
        )
        passes.forward_pass(start, move, step, end, passes.shifts(graph.grid.n), forward, scale, sums)
        length /= length.sum()
        tables = start, move, step, end
        return Flow(graph, layout, potentials, length, weights, beside, tables, forward, scale, sums)

    def moved(self, step: Floats) -> Flow:
        """Return the model with other potentials."""
        return Flow.at(self.graph, self.layout, self.potentials + step)

    @cached_property
    def shift(self) -> Ints:
        return passes.shifts(self.graph.grid.n)

    @cached_property
    def district(self) -> Ints32:
        return self.layout.district(self.graph.grid.n)

    @cached_property
    def single(self) -> Floats:
        """Distribution of the cell of paths without moves."""
        weight: Floats = (self.weights.start * self.weights.end).sum(axis=0)
        return weight / weight.sum()

    @cached_property
    def _moves(self) -> Floats:
        return np.arange(len(self.length), dtype=np.float64)

    def weight(self, name: str, most: int) -> Floats:
        """Return the chance of each number of moves, times the inclusion probability of a position of such a path."""
        return self.length * ANSWERS[name].inclusion(most, self._moves)

    def backward(self, weight: Floats) -> Floats:
        """Return sums over endings when paths with k moves count with `weight[k]`."""
        table, (_, _, step, end) = np.zeros_like(self.forward), self.tables
        passes.backward_pass(step, end, self.shift, self.scale, weight / self.sums, table)
        return table

    def features(self, weight: Floats, backward: Floats | None = None, *, bends: bool = False) -> Features:
        """Return expected features when paths with k moves count with `weight[k]`; bends where they are asked for."""
        backward = self.backward(weight) if backward is None else backward
        first, moves, ends, bent = self.room(bends, np.float64)
        tables = *self.tables[2:], self.shift, self.scale, weight / self.sums
        passes.expected_pass(*tables, self.forward, backward, first, moves, ends, bent)
        return self.gathered((first, moves, ends, bent), weight[0] * self.single)

    def by_district(self, table: Floats) -> Floats:
        """Return a table of states, one map for each district of the first cell."""
        apart = table.reshape(*table.shape[:3], self.beside, -1).swapaxes(2, 3)
        return np.ascontiguousarray(apart).reshape(len(table), len(self.weights.start), 8, -1)

    def room(self, bends: bool, kind: type) -> tuple[NDArray[Any], ...]:
        """Return room for the results of a pass."""
        groups, cells = self.tables[0].shape
        shapes = (8, cells), (8, cells), (groups, cells), ((8, 8, cells) if bends else (0, 0, 0))
        return tuple(np.zeros(shape, kind) for shape in shapes)

    def gathered(self, found: tuple[NDArray[Any], ...], alone: Floats) -> Features:
        """Return the results of a pass, and paths without moves, as features."""
        first, moves, ends, bends = found
        graph, places = self.graph, np.arange(len(self.weights.start))
        last = ends.reshape(-1, graph.cells).astype(np.float64)
        last[self.district, np.arange(graph.cells)] += alone
        starts = alone + graph.by_source(self.of_moves(first))
        pairs = last @ (self.district[:, None] == places).astype(np.float64)
        bent = _folded(bends, self.beside) if len(bends) else np.zeros((8, 8, graph.cells))
        return Features(starts, last.sum(axis=0), self.of_moves(moves), bent, pairs)

    def of_moves(self, states: NDArray[Any]) -> Floats:
        """Return values of states (direction, cell arrived at) in the order of the moves."""
        return _folded(states, self.beside)[self.graph.direction, self.graph.target]

    def answers(self, capacities: Mapping[str, int]) -> dict[str, Floats]:
        """Return expected items per user for each question (name -> most items named), repeats counted in full."""
        found: dict[bytes, Features] = {}
        expected = {}
        for name, most in capacities.items():
            weight = self.weight(name, most)
            if name == "length":
                expected[name] = weight
                continue
            key = weight.tobytes()
            if key not in found:
                found[key] = self.features(weight, bends=ANSWERS[name].has_bends)
            expected[name] = ANSWERS[name].pooled(self.graph, found[key])
        return expected

    def products(self, capacities: Mapping[str, int]) -> Products:
        """Return products with the Jacobian at these potentials."""
        return Products(self, capacities)

    def pools(self, name: str) -> Ints:
        """Return groups of answers about neighbouring cells; lengths and turns are groups of their own."""
        pools = ANSWERS[name].pools(self.graph, self.layout)
        return np.unique(pools, return_inverse=True)[1].astype(np.int64)

    def loops(self) -> Floats:
        """Return the chance that a path begins and ends in each cell, nearly: other ways between its cells cancel by
        signs.
        """
        n, cells, weights = self.graph.grid.n, self.graph.cells, self.weights
        i, j = np.divmod(np.arange(cells), n)
        colour = (i % _STRIDE) * _STRIDE + j % _STRIDE
        signs = np.random.default_rng(0).choice([-1.0, 1.0], cells)
        found = self.length[0] * self.single
        weight = self.length / self.sums

        def walk(_: int, begin: int, stop: int) -> None:
            for number in range(begin, stop):
                own = colour == number
                for group in np.unique(self.district[own]):
                    ends = np.zeros(cells)
                    from_there = np.where(own, weights.start[group] * signs, 0.0)
                    tables = weights.move, weights.step, weights.end[group], self.shift, self.scale
                    passes.last_cells(from_there, *tables, weight, ends)
                    here = own & (self.district == group)
                    found[here] += (ends * signs)[here]

        map_chunks(walk, _STRIDE * _STRIDE, _STRIDE)
        return np.maximum(found, 0.0)

    def lost(self, name: str, most: int) -> Floats | None:
        """Return expected items that are named once though a path has them twice."""
        if name == "terminals":
            return self.loops()
        if not ANSWERS[name].repeats_moves:
            return None
        both = self.length * ANSWERS[name].joint_inclusion(most, self._moves)
        (_, move, step, _), backward = self.tables, self.backward(both)
        once, twice = np.zeros_like(move), np.zeros_like(move)
        passes.way_back_pass(step, self.shift, self.scale, self.forward, backward, once, twice)
        return ANSWERS[name].pooled_repeats(self.graph, self.of_moves(once), self.of_moves(twice))

    def left(self, name: str, most: int, answer: Floats) -> Floats:
        """Return the part of each answer that is left when a path names an item once."""
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

    @property
    def bends(self) -> bool:
        return any(ANSWERS[name].has_bends for name in self.names)


@dataclass(frozen=True, eq=False)
class _Counts:
    """A direction as the counted passes take it: what first moves, steps, ends and paths of one cell count."""

    step: Halves
    end: Halves
    single: Floats
    # Beginnings, counted, and the mean over all paths of each number of moves.
    counted: Halves
    mean: Floats


class Products:
    """The Jacobian of all expected answers, question by question, as products with vectors."""

    def __init__(self, flow: Flow, capacities: Mapping[str, int]) -> None:
        self.flow = flow
        weights = {name: flow.weight(name, most) for name, most in capacities.items()}
        groups: dict[bytes, list[str]] = {}
        for name, weight in weights.items():
            if name != "length":
                groups.setdefault(weight.tobytes(), []).append(name)
        self._step, self._end = _halved(flow.tables[2]), _halved(flow.tables[3])
        self._forward = _halved(flow.forward)
        self._scratch = SimpleQueue[Halves]()
        self._kinds, found = list[_Kind](), {"length": flow.length}
        for names in groups.values():
            weight = weights[names[0]]
            backward = flow.backward(weight)
            kind = _Kind(tuple(names), weight, _halved(backward))
            self._kinds.append(kind)
            features = flow.features(weight, backward, bends=kind.bends)
            found |= {name: ANSWERS[name].pooled(flow.graph, features) for name in names}
        self.answers = {name: found[name] for name in capacities}
        self.left = {name: flow.left(name, most, found[name]) for name, most in capacities.items()}

    def apply(self, direction: Floats) -> dict[str, Floats]:
        """Return derivatives of the expected answers along a direction of the potentials."""
        flow, layout = self.flow, self.flow.layout
        lengths = direction[layout.length] - flow.length @ direction[layout.length]
        found = {"length": flow.length * lengths}
        with self._counting(layout.along(flow.graph, direction)) as counts:

            def work(kind: _Kind) -> None:
                features = self._covariances(kind, counts, counts.mean - lengths, bends=kind.bends)
                for name in kind.names:
                    found[name] = ANSWERS[name].pooled(flow.graph, features) * self.left[name]

            self._each(work, self._kinds)
        return {name: found[name] for name in self.answers}

    def apply_transposed(self, values: Mapping[str, Floats]) -> Floats:
        """Return derivatives by the potentials of the sum of answers times `values`; questions may be omitted."""
        flow, layout = self.flow, self.flow.layout

        # A single kind needs no threads of its own: a caller that needs many rows works on several at a time.
        kinds = [kind for kind in self._kinds if any(name in values for name in kind.names)]

        def work(kind: _Kind) -> Floats:
            along, expected = Features.zero(flow.graph, layout.districts), 0.0
            for name in (name for name in kind.names if name in values):
                scaled = values[name] * self.left[name]
                along = along + ANSWERS[name].unpooled(flow.graph, layout, scaled)
                expected += float(scaled @ self.answers[name])
            with self._counting(along) as counts:
                total = layout.gathered(flow.graph, self._covariances(kind, counts, counts.mean, bends=True))
            total[layout.length] = kind.weight * counts.mean - flow.length * expected
            return total

        result = np.sum(self._each(work, kinds), axis=0) + np.zeros(layout.size)
        if "length" in values:
            result[layout.length] += flow.length * (values["length"] - flow.length @ values["length"])
        return result

    def _each(self, work: Callable[[_Kind], T], kinds: Sequence[_Kind]) -> list[T]:
        """Return results of `work` for each kind; by threads where a pass takes long enough."""
        if self._forward.size < _THREADED:
            return [work(kind) for kind in kinds]
        return map_chunks(lambda number, *_: work(kinds[number]), len(kinds), 1)

    @contextmanager
    def _counting(self, along: Features) -> Iterator[_Counts]:
        """Give the sums over beginnings counted by the direction. Their table is used again afterwards."""
        flow, graph, district = self.flow, self.flow.graph, self.flow.district
        moves = graph.leaving(along.moves)
        step = self._step * _tiled(_halved(along.bends + moves[:, None]), flow.beside)
        end = _halved(along.end + along.pairs[:, district]).reshape(self._end.shape)
        first = np.zeros((8, graph.cells), np.float32)
        first[graph.direction, graph.target] = along.moves + along.start[graph.source]
        first = _tiled(first, flow.beside)
        weights = (flow.weights.start * flow.weights.end).sum(axis=0)
        single = along.start + along.end + along.pairs[district, district]
        mean = np.zeros(len(flow.length))
        with self._buffer() as counted:
            tables = self._step, self._end, flow.shift, self._forward, flow.scale, flow.sums
            passes.counted_forward_pass(*tables, first, step, float(weights @ single), end, counted, mean)
            yield _Counts(step, end, single, counted, mean)

    def _covariances(self, kind: _Kind, counts: _Counts, centre: Floats, *, bends: bool) -> Features:
        """Return how features go together with the direction, at fixed numbers of moves."""
        flow, found = self.flow, self.flow.room(bends, np.float32)
        passes.counted_backward_pass(
            self._step,
            self._end,
            flow.shift,
            self._forward,
            flow.scale,
            kind.weight / flow.sums,
            kind.backward,
            counts.counted,
            centre,
            counts.step,
            counts.end,
            *found,
        )
        alone = kind.weight[0] * flow.single * (counts.single - centre[0])
        return flow.gathered(found, alone)

    @contextmanager
    def _buffer(self) -> Iterator[Halves]:
        """Return a table of states for one pass; fresh memory would cost as much as the pass."""
        try:
            table = self._scratch.get_nowait()
        except Empty:
            table = np.empty_like(self._forward)
        yield table
        self._scratch.put(table)


def _halved(table: Floats) -> Halves:
    return table.astype(np.float32)


def _beside(districts: int, cells: int) -> int:
    """Return how many maps lie side by side: a divisor of their number.

    >>> _beside(1, 36), _beside(36, 36), _beside(16, 256)
    (1, 12, 2)
    """
    return max(
        number
        for number in range(1, districts + 1)
        if districts % number == 0 and (number == 1 or number * cells <= _WIDE)
    )


def _tiled(table: NDArray[Any], beside: int) -> NDArray[Any]:
    """Return the same for every map."""
    return table if beside == 1 else np.tile(table, beside)


def _folded(table: NDArray[Any], beside: int) -> Floats:
    """Return the sum over all maps."""
    return table.reshape(*table.shape[:-1], beside, -1).sum(axis=-2, dtype=np.float64)
