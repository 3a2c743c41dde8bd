"""The path model at given potentials: what it expects users to answer, and products with the Jacobian.

Nothing here holds a table of pairs of features. A product of the Jacobian with a direction is the covariance, at fixed
numbers of moves, of every feature with the sum of the direction along a path: one counted forward pass and one counted
backward pass for each way of weighting paths (`docs/explanation/path-model.md`, "Sums over all paths").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
from ldptrace.models.path.answers import ANSWERS, named
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

    def features(self, weight: Floats, backward: Floats | None = None, *, bends: bool = False) -> Floats:
        """Return expected features when paths with k moves count with `weight[k]`; bends where they are asked for."""
        backward = self.backward(weight) if backward is None else backward
        room = self.room(1, bends, np.float64)
        tables = *self.tables[2:], self.shift, self.scale, weight / self.sums
        passes.expected_pass(*tables, self.forward, backward, *(table[0] for table in room))
        return self.gathered(room, weight[0] * self.single[None])[0]

    def by_district(self, table: Floats) -> Floats:
        """Return a table of states, one map for each district of the first cell."""
        apart = table.reshape(*table.shape[:3], self.beside, -1).swapaxes(2, 3)
        return np.ascontiguousarray(apart).reshape(len(table), len(self.weights.start), 8, -1)

    def room(self, rows: int, bends: bool, kind: type) -> tuple[NDArray[Any], ...]:
        """Return room for first moves, later moves, last cells and bends, as passes add them up."""
        groups, cells = self.tables[0].shape
        shapes = (8, cells), (8, cells), (groups, cells), (8 * bends, 8, self.graph.cells)
        return tuple(np.zeros((rows, *shape), kind) for shape in shapes)

    def gathered(self, room: tuple[NDArray[Any], ...], alone: Floats) -> Floats:
        """Return the results of passes, and paths without moves, as features, row by row."""
        first, moves, ends, bends = room
        graph, features, each = self.graph, self.layout.features, np.arange(self.graph.cells)
        sums, own = np.zeros((len(alone), features.size)), self.of_moves(first)
        last = ends.reshape(len(alone), -1, graph.cells).astype(np.float64)
        last[:, self.district, each] += alone
        sums[:, features.start] = alone + graph.by_source(own)
        sums[:, features.end] = last.sum(axis=1)
        sums[:, features.move] = own + self.of_moves(moves)
        if bends.size:
            sums[:, features.bend] = bends.reshape(len(alone), -1)
        sums[:, features.pair] = (last @ self._places).reshape(len(alone), -1)
        return sums

    @cached_property
    def _places(self) -> Floats:
        """Which district (column) each cell is in."""
        return (self.district[:, None] == np.arange(len(self.weights.start))).astype(np.float64)

    def of_moves(self, states: NDArray[Any]) -> Floats:
        """Return values of states (direction, cell arrived at) in the order of the moves."""
        return _folded(states, self.beside)[..., self.graph.direction, self.graph.target]

    def answers(self, capacities: Mapping[str, int]) -> dict[str, Floats]:
        """Return expected items per user for each question (name -> most items named), repeats counted in full."""
        answers = {"length": self.length}
        for kind in self.kinds(capacities):
            features = self.features(kind.weight, bends=kind.bends)
            answers |= {name: self.items(name, features) for name in kind.names}
        return {name: answers[name] for name in capacities}

    def kinds(self, capacities: Mapping[str, int]) -> list[Kind]:
        """Return the ways in which questions weight paths, and the questions of each."""
        groups: dict[bytes, list[str]] = {}
        for name, most in capacities.items():
            if name != "length":
                groups.setdefault(self.weight(name, most).tobytes(), []).append(name)
        within = self.layout.features.bend

        def about_bends(name: str) -> bool:
            return any(within.start <= place < within.stop for place in self._named(name)[0][:1])

        return [
            Kind(tuple(names), np.frombuffer(weight), any(map(about_bends, names)))
            for weight, names in groups.items()
        ]

    def items(self, name: str, features: Floats) -> Floats:
        """Return the items of a question, given how often each feature occurs."""
        places, items, count = self._named(name)
        return np.bincount(items, features[places], count).astype(np.float64)

    def _named(self, name: str) -> tuple[Ints, Ints, int]:
        return named(name, self.graph, self.layout)

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
        chances = self.length[0] * self.single
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
                    chances[here] += (ends * signs)[here]

        map_chunks(walk, _STRIDE * _STRIDE, _STRIDE)
        return np.maximum(chances, 0.0)

    def lost(self, name: str, most: int) -> Floats | None:
        """Return how many items an answer is expected to lose because it names them once and the path has them twice;
        None if it loses none."""
        if name == "terminals":
            return self.loops()
        if not ANSWERS[name].repeated:
            return None
        both = self.length * ANSWERS[name].joint_inclusion(most, self._moves)
        (_, move, step, _), backward = self.tables, self.backward(both)
        once, twice = np.zeros_like(move), np.zeros_like(move)
        passes.way_back_pass(step, self.shift, self.scale, self.forward, backward, once, twice)
        return ANSWERS[name].repeats(self.graph, self.of_moves(once), self.of_moves(twice))

    def left(self, name: str, most: int, answer: Floats) -> Floats:
        """Return the part of each answer that is left when a path names an item once."""
        lost = self.lost(name, most)
        if lost is None:
            return np.ones(len(answer))
        return np.clip(1 - np.divide(lost, answer, out=np.zeros_like(lost), where=answer > 0), _LEAST, 1)


@dataclass(frozen=True, eq=False)
class Kind:
    """Questions that weight paths alike, by their number of moves: they share their passes."""

    names: tuple[str, ...]
    weight: Floats
    # Whether one of them is about bends.
    bends: bool


@dataclass(frozen=True, eq=False)
class _Directions:
    """What features count in each of several directions (rows), as the counted passes take it: first moves, later ones,
    bends times the weights of their steps (empty where they count nothing), last cells and paths of one cell; and bends
    alone."""

    begun: Halves
    arrived: Halves
    bent: Halves
    end: Halves
    single: Floats
    bends: Floats
    # Whether anything but last cells counts.
    begins: bool

    def row(self, number: int) -> _Directions:
        """Return one of the directions."""
        own = slice(number, number + 1)
        counts = self.begun[own], self.arrived[own], self.bent[own]
        return _Directions(*counts, self.end[own], self.single[own], self.bends[own], self.begins)


class Products:
    """The Jacobian of all expected answers, question by question, as products with vectors."""

    def __init__(self, flow: Flow, capacities: Mapping[str, int]) -> None:
        self.flow = flow
        self._kinds, answers = flow.kinds(capacities), {"length": flow.length}
        self._step, self._end = _halved(flow.tables[2]), _halved(flow.tables[3])
        self._forward, self._last = _halved(flow.forward), _halved(flow.forward.sum(axis=2))
        self._backward = np.empty((len(self._kinds), *flow.forward.shape), np.float32)
        self._occurring = np.empty((len(self._kinds), 64 * flow.graph.cells))
        for number, kind in enumerate(self._kinds):
            backward = flow.backward(kind.weight)
            self._backward[number] = backward
            features = flow.features(kind.weight, backward, bends=True)
            self._occurring[number] = features[flow.layout.features.bend]
            answers |= {name: flow.items(name, features) for name in kind.names}
        self._weight = np.array([kind.weight for kind in self._kinds]).reshape(-1, len(flow.length))
        self.answers = {name: answers[name] for name in capacities}
        self.left = {name: flow.left(name, most, answers[name]) for name, most in capacities.items()}
        # Tables that are free: one at a time, and one for each kind.
        self._scratch = SimpleQueue[Halves](), SimpleQueue[Halves]()

    def apply(self, direction: Floats) -> dict[str, Floats]:
        """Return derivatives of the expected answers along a direction of the potentials."""
        flow, layout = self.flow, self.flow.layout
        lengths = direction[layout.length] - flow.length @ direction[layout.length]
        derivatives = {"length": flow.length * lengths}
        along = self._directions(layout.along(flow.graph, direction)[None])
        with self._buffer(1) as counted:
            by_cell, mean = self._counted(along, counted)

            def work(number: int) -> None:
                kind = self._kinds[number]
                features = self._covariances(
                    [number], along, counted, by_cell, mean - lengths, bends=kind.bends
                )
                for name in kind.names:
                    derivatives[name] = flow.items(name, features) * self.left[name]

            self._each(work, len(self._kinds))
        return {name: derivatives[name] for name in self.answers}

    def apply_transposed(self, values: Mapping[str, Floats]) -> Floats:
        """Return derivatives by the potentials of the sum of answers times `values`; questions may be omitted. Values
        of several sums are rows, as are the results."""
        flow, layout = self.flow, self.flow.layout
        scaled = {name: values[name] * self.left[name] for name in values}
        rows = next(iter(values.values())).shape[:-1]
        asked = [
            number for number, kind in enumerate(self._kinds) if not values.keys().isdisjoint(kind.names)
        ]
        along = np.zeros((len(asked), *rows, layout.features.size))
        for counts, number in zip(along, asked, strict=True):
            for name in scaled.keys() & self._kinds[number].names:
                places, items, _ = named(name, flow.graph, layout)
                counts[..., places] += scaled[name][..., items]
        result = np.zeros((*rows, layout.size))
        if rows:
            for counts, number in zip(along, asked, strict=True):
                result += self._rows(number, counts)
        elif asked:
            result += self._together(asked, along)
        expected = sum(scaled[name] @ self.answers[name] for name in scaled if name != "length")
        result[..., layout.length] -= np.multiply.outer(expected, flow.length)
        if "length" in values:
            own = values["length"]
            result[..., layout.length] += flow.length * (own - (own @ flow.length)[..., None])
        return result

    def _together(self, asked: list[int], counts: Floats) -> Floats:
        """Return derivatives of the sum over directions, one for each of these kinds: ways back share a pass."""
        flow, along = self.flow, self._directions(counts)
        with self._buffer(len(asked)) as counted:
            by_cell, mean = self._counted(along, counted)
            features = self._covariances(asked, along, counted, by_cell, mean)
        derivatives = flow.layout.gathered(flow.graph, features)
        derivatives[flow.layout.length] = (self._weight[asked] * mean).sum(axis=0)
        return derivatives

    def _rows(self, kind: int, counts: Floats) -> Floats:
        """Return derivatives of each of several directions, all of one kind."""
        flow, along = self.flow, self._directions(counts)
        room, means = flow.room(len(counts), True, np.float32), np.empty((len(counts), len(flow.length)))
        with self._buffer(1) as counted:
            for row, mean in enumerate(means):
                own = along.row(row)
                by_cell, mean[:] = self._counted(own, counted)
                self._passed([kind], own, counted, by_cell, mean[None], tuple(table[row] for table in room))
        alone = self._weight[kind, 0] * flow.single * (along.single - means[:, :1])
        features = flow.gathered(room, alone)
        if len(along.bent):
            features[:, flow.layout.features.bend] += along.bends * self._occurring[kind]
        derivatives = flow.layout.gathered(flow.graph, features)
        derivatives[:, flow.layout.length] = self._weight[kind] * means
        return derivatives

    def _each(self, work: Callable[[int], T], count: int) -> list[T]:
        """Return results of `work` for each number; by threads where a pass takes long enough."""
        if self._forward.size < _THREADED:
            return [work(number) for number in range(count)]
        return map_chunks(lambda number, *_: work(number), count, 1)

    def _directions(self, counts: Floats) -> _Directions:
        flow, features, rows = self.flow, self.flow.layout.features, len(counts)
        graph, district, beside = flow.graph, flow.district, flow.beside
        pairs = counts[:, features.pair].reshape(rows, district.max() + 1, -1)
        arrived, begun = np.zeros((2, rows, 8, graph.cells), np.float32)
        arrived[:, graph.direction, graph.target] = counts[:, features.move]
        begun[:, graph.direction, graph.target] = (
            counts[:, features.move] + counts[:, features.start][:, graph.source]
        )
        bends, bent = counts[:, features.bend], np.zeros((0, 8, 8, 1), np.float32)
        if bends.any():
            bent = self._step * _tiled(_halved(bends).reshape(rows, 8, 8, -1), beside)
        end = _halved(counts[:, None, features.end] + pairs[:, :, district]).reshape(rows, *self._end.shape)
        single = counts[:, features.start] + counts[:, features.end] + pairs[:, district, district]
        begins = bool(begun.any() or bends.any())
        return _Directions(_tiled(begun, beside), _tiled(arrived, beside), bent, end, single, bends, begins)

    def _counted(self, along: _Directions, counted: Halves) -> tuple[Halves, Floats]:
        """Sum over beginnings, counted by each direction (`counted`). Return the sums over last moves, and the means of
        all paths with each number of moves."""
        flow, count = self.flow, len(along.end)
        by_cell, mean = np.zeros((count, *self._last.shape), np.float32), np.zeros((count, len(flow.length)))
        weights = (flow.weights.start * flow.weights.end).sum(axis=0)
        mean[:, 0] = along.single @ weights / flow.sums[0]
        tables = self._step, self._end, flow.shift, self._forward, flow.scale, flow.sums, self._last

        def work(row: int) -> None:
            bent = along.bent[row] if len(along.bent) else np.zeros((0, 8, 1), np.float32)
            direction = along.begun[row], along.arrived[row], bent, along.end[row]
            room = counted[row] if along.begins else counted[0, :0]
            passes.counted_forward_pass(*tables, *direction, room, by_cell[row], mean[row])

        self._each(work, count)
        return by_cell, mean

    def _covariances(
        self,
        kinds: list[int],
        along: _Directions,
        counted: Halves,
        by_cell: Halves,
        centre: Floats,
        *,
        bends: bool = True,
    ) -> Floats:
        """Return how features go together with directions, at fixed numbers of moves, one for each kind."""
        flow, room = self.flow, self.flow.room(1, bends, np.float32)
        self._passed(kinds, along, counted, by_cell, centre, tuple(table[0] for table in room))
        alone = flow.single * (self._weight[kinds, 0] @ (along.single - centre[:, :1]))
        covariances = flow.gathered(room, alone[None])[0]
        if bends and len(along.bent):
            covariances[flow.layout.features.bend] += (along.bends * self._occurring[kinds]).sum(axis=0)
        return covariances

    def _passed(
        self,
        kinds: list[int],
        along: _Directions,
        counted: Halves,
        by_cell: Halves,
        centre: Floats,
        room: tuple[Halves, ...],
    ) -> None:
        """Add up the covariances of paths with moves."""
        flow, begun = self.flow, counted if along.begins else counted[:0]
        # A copy is made only where some of several kinds are asked.
        one = slice(kinds[0], kinds[0] + 1) if len(kinds) == 1 else None
        backward = self._backward[one or kinds] if len(kinds) < len(self._kinds) else self._backward
        tables = self._step, self._end, flow.shift, self._forward, flow.scale, self._last
        direction = along.arrived, along.bent, along.end, begun, by_cell, centre
        passes.counted_backward_pass(*tables, backward, self._weight[kinds] / flow.sums, *direction, *room)

    @contextmanager
    def _buffer(self, count: int) -> Iterator[Halves]:
        """Return this many tables of states for passes; fresh memory would cost as much as the pass."""
        waiting = self._scratch[min(count, 2) - 1]
        try:
            tables = waiting.get_nowait()
        except Empty:
            most = 1 if count == 1 else len(self._kinds)
            tables = np.empty((most, *self._forward.shape), np.float32)
        yield tables[:count]
        waiting.put(tables)


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
