"""Drawing a library of routes from a network: broad at first, sharper once a first fit is there.

Routes are drawn by trees of shortest ways: half of the trees out of the edge where routes begin, half into the edge
where they end, each with its own noise on what edges cost. The law of the other end falls off with the length of the
way, in three equal parts: near, middling, anywhere.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes
from ldptrace.roads.routing import Tree, TurnGraph, side_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

ROUTES = 300_000
# Over which share of the map's side the chance of a way falls off, for each part of the routes.
REACHES = (0.1, 0.3, math.inf)
# Ways longer than this many times their reach are so rare that a tree need not grow further.
_FAR = 10.0
# Standard deviation of the logarithm of what an edge costs, anew in every tree.
NOISE = 0.15
# Routes of a tree where time allows, and at most; and how many edges all trees together may settle.
_PER_TREE, _MOST_PER_TREE, _WORK = 150, 1000, 2e8
# A small library has so many trees nevertheless, with so many routes each at least: a few trees stand in few places.
_TREES, _FEWEST_PER_TREE = 400, 10
# Trees that share their room in memory.
_BATCH = 8
# Part of a sharper library that follows the fit; the rest stays as broad as the first.
FOLLOWED = 0.9
# A pair of zones with few routes is believed as much as so many routes of the law of its two zones.
_PSEUDO = 4.0


@dataclass(frozen=True, eq=False)
class Lean:
    """How much more often than by the broad law routes begin and end where.

    `pairs[a, b]` multiplies the chance of an end in zone b for a route that begins in zone a, `starts` and `ends`
    the chances of single zones; `zone` is the zone of every edge. The weights of the routes make up for it.
    """

    zone: Ints
    pairs: Floats
    starts: Floats
    ends: Floats

    @staticmethod
    def towards(routes: Routes, fitted: Floats, grid: Grid, places: Grid | None = None) -> Lean:
        """Towards the starts and ends of the same routes under fitted weights.

        Pairs are counted by cells of the grid, single ends by `places` within the cells, where these are given.
        """
        places = places or grid
        parts = places.n // grid.n
        i, j = np.divmod(np.arange(places.cells), places.n)
        cell = i // parts * grid.n + j // parts
        place = zones_of(routes.roads, places)
        start, end = place[routes.edges[routes.offsets[:-1]]], place[routes.edges[routes.offsets[1:] - 1]]
        pair = cell[start].astype(np.int64) * grid.cells + cell[end]
        public, wanted = (_table(pair, weights, grid.cells) for weights in (routes.weights, fitted))
        starts, ends = (_ratio(wanted.sum(axis=axis), public.sum(axis=axis)) for axis in (1, 0))
        seen = _table(pair, np.ones(len(pair)), grid.cells)
        pairs = (seen * _ratio(wanted, public) + _PSEUDO * np.outer(starts, ends)) / (seen + _PSEUDO)
        at_starts, at_ends = (
            _within(at, starts_or_ends[cell], routes.weights, fitted)
            for at, starts_or_ends in ((start, starts), (end, ends))
        )
        pairs = pairs[np.ix_(cell, cell)] * np.outer(at_starts, at_ends)
        starts, ends = starts[cell] * at_starts, ends[cell] * at_ends
        return Lean(place, *(FOLLOWED * part + 1 - FOLLOWED for part in (pairs, starts, ends)))


@dataclass(frozen=True)
class Library:
    """How a library is drawn: the number of routes, how far they lead, the price of turns, the noise on costs."""

    routes: int = ROUTES
    reaches: tuple[float, ...] = REACHES
    turn_cost: float = 1.0
    noise: float = NOISE

    def __post_init__(self) -> None:
        if self.routes < 1:
            raise InputError(f"a library needs at least one route, got {self.routes}")

    def draw(
        self,
        roads: RoadNetwork,
        rng: np.random.Generator,
        *,
        lean: Lean | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Routes:
        """Routes with the weights of the broad law, wherever they lean; `progress` is told the share that is done.

        The result depends on the source of randomness alone, never on the number of cores.
        """
        graph, side = TurnGraph.of(roads, self.turn_cost), side_of(roads)
        walked = (graph, graph.reversed)
        if lean is None:
            lean = Lean(np.zeros(roads.edges, dtype=np.int32), np.ones((1, 1)), np.ones(1), np.ones(1))
        attraction = np.ones(roads.edges)
        near = _along_a_curve(roads)
        roots = [_Roots.of(near, attraction, zones[lean.zone]) for zones in (lean.starts, lean.ends)]
        trees = self._trees(graph.edges)
        sizes = np.diff(np.linspace(0, self.routes, trees + 1).astype(np.int64))
        sources, kinds = rng.spawn(trees), 2 * len(self.reaches)
        done, lock = [0], threading.Lock()

        def grown(_: int, start: int, stop: int) -> list[tuple[NDArray[Any], ...]]:
            tree, parts = Tree(graph.edges), []
            for number in range(start, stop):
                place, kind = divmod(number, kinds)
                reach, backward = divmod(kind, 2)
                # Trees of one kind stand all over the map, each in its own part of it.
                part = (place, (trees - kind - 1) // kinds + 1)
                law = _Law(self.reaches[reach] * side, attraction, lean, bool(backward))
                parts.append(
                    _drawn(
                        tree,
                        walked[backward],
                        roots[backward],
                        law,
                        part,
                        self.noise,
                        int(sizes[number]),
                        sources[number],
                    )
                )
            if progress is not None:
                with lock:
                    done[0] += stop - start
                    progress(done[0] / trees)
            return parts

        parts = [part for batch in map_chunks(grown, trees, _BATCH) for part in batch]
        edges, many, begin, end, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
        offsets = np.concatenate(([0], np.cumsum(many)))
        return Routes(roads, edges, offsets, begin, end, weights / weights.sum())

    def _trees(self, edges: int) -> int:
        """As many trees as time allows."""
        time = max(_WORK / edges, self.routes / _MOST_PER_TREE)
        wanted = max(self.routes / _PER_TREE, min(_TREES, self.routes / _FEWEST_PER_TREE))
        return max(math.ceil(min(wanted, time)), 1)


def zones_of(roads: RoadNetwork, grid: Grid) -> Ints:
    """The grid cell of every edge's middle."""
    x = (roads.x[roads.source] + roads.x[roads.target]) / 2
    y = (roads.y[roads.source] + roads.y[roads.target]) / 2
    (ox, oy), (sx, sy) = grid.origin, grid.step
    i, j = np.floor((x - ox) / sx), np.floor((y - oy) / sy)
    return (np.clip(i, 0, grid.n - 1) * grid.n + np.clip(j, 0, grid.n - 1)).astype(np.int32)


def _along_a_curve(roads: RoadNetwork) -> Ints:
    """All edges in an order in which neighbours are near each other (Morton's curve)."""
    x0, y0, x1, y1 = roads.bounds()
    x, y = roads.x[roads.source], roads.y[roads.source]
    code = np.zeros(roads.edges, dtype=np.int64)
    for values, low, high, shift in ((x, x0, x1, 0), (y, y0, y1, 1)):
        steps = (1023 * (values - low) / max(high - low, 1e-300)).astype(np.int64)
        for bit in range(10):
            code |= (steps >> bit & 1) << (2 * bit + shift)
    return np.argsort(code, kind="stable").astype(np.int32)


def _table(place: NDArray[np.int64], weights: Floats, zones: int) -> Floats:
    """Weights summed by pairs of zones."""
    return np.bincount(place, weights, zones**2).astype(np.float64).reshape(zones, zones)


def _within(at: Ints, usual: Floats, public: Floats, fitted: Floats) -> Floats:
    """How much more each place is wanted than its cell, whose ratio is `usual`."""
    seen, was, wanted = (
        np.bincount(at, weights, len(usual)) for weights in (np.ones(len(at)), public, fitted)
    )
    own = np.divide(wanted, was * usual, out=np.ones(len(usual)), where=was * usual > 0)
    return (seen * own + _PSEUDO) / (seen + _PSEUDO)


def _ratio(wanted: Floats, public: Floats) -> Floats:
    """Wanted over public; 1 where there is nothing public."""
    return np.divide(wanted, public, out=np.ones_like(wanted), where=public > 0)


@dataclass(frozen=True, eq=False)
class _Roots:
    """Where trees are rooted: edges along a curve, running sums of their leaning chances, fair over leaning ones."""

    edges: Ints
    running: Floats
    correction: Floats

    @staticmethod
    def of(edges: Ints, attraction: Floats, lean: Floats) -> _Roots:
        chances = attraction * lean
        correction = attraction / attraction.sum() * chances.sum() / chances
        return _Roots(edges, np.cumsum((chances / chances.sum())[edges]), correction)

    def draw(self, part: tuple[int, int], rng: np.random.Generator) -> int:
        """An edge of the given part of the map, out of so many of equal chance."""
        place = np.searchsorted(self.running, (part[0] + rng.random()) / part[1], side="right")
        return int(self.edges[min(int(place), len(self.edges) - 1)])


@dataclass(frozen=True, eq=False)
class _Law:
    """Where the other end of a route is, given the edge at the root."""

    reach: float
    attraction: Floats
    lean: Lean
    backward: bool

    def towards(self, root: int) -> Floats:
        """Lean of every zone, as seen from the root."""
        zone = self.lean.zone[root]
        return np.ascontiguousarray(self.lean.pairs[:, zone] if self.backward else self.lean.pairs[zone])


def _drawn(
    tree: Tree,
    graph: TurnGraph,
    roots: _Roots,
    law: _Law,
    part: tuple[int, int],
    noise: float,
    many: int,
    rng: np.random.Generator,
) -> tuple[NDArray[Any], ...]:
    """Routes of one tree: edges, sizes, begin, end, weights."""
    root = roots.draw(part, rng)
    felt = np.empty(graph.edges)
    _felt(graph.cost, noise, felt, rng)
    order = tree.grow(graph, felt, root, _FAR * law.reach)
    lean, zone = law.towards(root), law.lean.zone
    running = np.empty(len(order))
    fair = _chances(order, tree.way, law.reach, law.attraction, zone, lean, running)
    # One end in each of so many equal parts, near to far: less chance in it than in independent draws.
    places = np.searchsorted(running, (np.arange(many) + rng.random(many)) / many * running[-1], side="right")
    leaves = order[np.minimum(places, len(order) - 1)]
    edges, sizes = tree.ways(leaves, law.backward)
    begin, end = rng.random(many), rng.random(many)
    # On a single edge one can only go forward.
    begin, end = (
        np.where(sizes == 1, np.minimum(begin, end), begin),
        np.where(sizes == 1, np.maximum(begin, end), end),
    )
    # Fair over leaning chance, of the root and of the other end.
    weights = roots.correction[root] * running[-1] / fair / lean[zone[leaves]]
    return edges, sizes, begin, end, weights


@kernel
def _felt(cost, noise, felt, rng):  # type: ignore[no-untyped-def]
    for edge in range(len(cost)):
        felt[edge] = cost[edge] * math.exp(noise * rng.standard_normal())


@kernel
def _chances(order, way, reach, attraction, zone, lean, running):  # type: ignore[no-untyped-def]
    """Running sums of the leaning chances of a tree's edges; returns the sum of the fair ones."""
    fair = leaning = 0.0
    for place in range(len(order)):
        edge = order[place]
        chance = attraction[edge]
        if not math.isinf(reach):
            chance *= math.exp(-way[edge] / reach)
        fair += chance
        leaning += chance * lean[zone[edge]]
        running[place] = leaning
    return fair
