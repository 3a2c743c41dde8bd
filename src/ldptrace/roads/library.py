"""Draw a library of routes from a network: from a broad public distribution first, then following a first fit.

Routes are drawn from trees of shortest routes. Half of the trees begin at the edge where routes start, half end at the
edge where routes end. Drivers differ, so each tree has its own cost of turns and its own random changes of the costs of
streets. The probability of the other end decreases with the length of the route, in three equal parts: short distances,
medium distances, any distance.

All routes of several libraries are weighted as draws from one mixture of them (`Pool`): the weight of a route is its
public probability, divided by the probability that any of the libraries draws it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Floats, Ints, Ints32
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes
from ldptrace.roads.routing import Tree, TurnGraph, side_of

# Part of a sharper library that follows the fit; the rest stays as broad as the first.
FOLLOWED = 0.9
# Routes of the law of its two zones that are added to each pair of zones, so that few routes do not mislead.
_PSEUDO = 4.0
# Part of the first library that begins on special edges, and that ends there.
SPECIAL = 0.1


@dataclass(frozen=True, eq=False)
class Zones:
    """Parts of a street map, with the zone of each edge and the cell of each zone.

    Zones are parts of cells. Edges that differ from all edges around them (`special`) have zones of their own, one for
    each cell.
    """

    of_edge: Ints32
    cell: Ints
    cells: int
    special: Flags

    @staticmethod
    def of(
        roads: RoadNetwork,
        grid: Grid,
        places: Grid | None = None,
        special: Flags | None = None,
    ) -> Zones:
        places = places or grid
        parts = places.n // grid.n
        i, j = np.divmod(np.arange(places.cells), places.n)
        cell = np.concatenate([i // parts * grid.n + j // parts, np.arange(grid.cells)])
        own = np.arange(len(cell)) >= places.cells
        zone = zones_of(roads, places)
        if special is not None:
            zone = np.where(special, places.cells + cell[zone], zone).astype(np.int32)
        return Zones(zone, cell, grid.cells, own)


@dataclass(frozen=True, eq=False)
class Lean:
    """How much more often a library draws routes with given starts and ends than the public distribution.

    `pairs[a, b]` multiplies the probability of an end in zone b for a route that begins in zone a. `starts` and `ends`
    multiply the probabilities of single zones, and `zone` is the zone of each edge. `drivers` are the shares of the
    kinds of drivers among the routes, by default equal ones. The weights of the routes correct for all of them.
    """

    zone: Ints32
    pairs: Floats
    starts: Floats
    ends: Floats
    drivers: Floats | None = None

    @staticmethod
    def none(roads: RoadNetwork) -> Lean:
        """Return the public distribution, without zones."""
        return Lean(np.zeros(roads.edges, dtype=np.int32), np.ones((1, 1)), np.ones(1), np.ones(1))

    @staticmethod
    def even(zones: Zones) -> Lean:
        """Return the public distribution, but with more routes at special edges, because a few of them may be
        important."""
        edges = np.bincount(zones.of_edge, minlength=len(zones.cell))
        few = edges[zones.special].sum()
        more = np.where(zones.special, max(SPECIAL * edges.sum() / max(few, 1), 1.0), 1.0)
        return Lean(zones.of_edge, np.outer(more, more), more, more)

    @staticmethod
    def towards(routes: Routes, fitted: Floats, zones: Zones, drivers: Floats | None = None) -> Lean:
        """Follow the starts and ends of these routes under fitted weights, and the shares of the kinds of drivers.

        Pairs are counted by cells, single starts and ends by zones.
        """
        cell, zone = zones.cell, zones.of_edge
        start, end = zone[routes.edges[routes.offsets[:-1]]], zone[routes.edges[routes.offsets[1:] - 1]]
        pair = cell[start].astype(np.int64) * zones.cells + cell[end]
        public, wanted = (_table(pair, weights, zones.cells) for weights in (routes.weights, fitted))
        starts, ends = (_ratio(wanted.sum(axis=axis), public.sum(axis=axis)) for axis in (1, 0))
        seen = _table(pair, np.ones(len(pair)), zones.cells)
        pairs = (seen * _ratio(wanted, public) + _PSEUDO * np.outer(starts, ends)) / (seen + _PSEUDO)
        at_starts, at_ends = (
            _within(at, starts_or_ends[cell], routes.weights, fitted)
            for at, starts_or_ends in ((start, starts), (end, ends))
        )
        pairs = pairs[np.ix_(cell, cell)] * np.outer(at_starts, at_ends)
        starts, ends = starts[cell] * at_starts, ends[cell] * at_ends
        pairs, starts, ends = (FOLLOWED * part + 1 - FOLLOWED for part in (pairs, starts, ends))
        kinds = None if drivers is None else FOLLOWED * drivers + (1 - FOLLOWED) / len(drivers)
        return Lean(zone, pairs, starts, ends, kinds)


@dataclass(frozen=True, eq=False)
class Pool:
    """Routes of one or more libraries, weighted as one library, with the trees of shortest routes from which they were
    drawn.

    Each route comes from one `tree`. `root` is the zone of the root of a tree, and `backward` says whether its routes
    lead to the root. `temper` is the kind of driver of a tree, and `drivers` are the shares of the kinds among all
    trips. `fair[t, z]` is the public probability (not normalised) that the other end of a route of tree t is in zone z.
    `leans` and `sizes` are the factors and the numbers of routes of the libraries.
    """

    routes: Routes
    tree: Ints32
    root: Ints32
    backward: Flags
    temper: Ints
    fair: Floats
    drivers: Floats
    leans: tuple[Lean, ...]
    sizes: tuple[int, ...]

    def weighed(self) -> Pool:
        """Return the same routes with weights: public probability divided by the probability in all libraries
        together."""
        zone = self.leans[0].zone
        first, last = self.routes.offsets[:-1], self.routes.offsets[1:] - 1
        other = zone[self.routes.edges[np.where(self.backward[self.tree], first, last)]]
        chance, kind = np.zeros(len(self.routes)), self.temper[self.tree]
        for lean, size in zip(self.leans, self.sizes, strict=True):
            drawn = 1.0 if lean.drivers is None else lean.drivers[kind] * len(lean.drivers)
            chance += size * self._lean(lean, other) * drawn
        weights = self.drivers[kind] / chance
        return replace(self, routes=replace(self.routes, weights=weights / weights.sum()))

    def driven(self, drivers: Floats) -> Pool:
        """Return the same routes with these shares of the kinds of drivers."""
        return replace(self, drivers=drivers).weighed()

    def joined(self, later: Pool) -> Pool:
        """Return the routes of both pools, which have the same network and the same zones."""
        routes = self.routes.joined(later.routes)
        both = Pool(
            routes,
            np.concatenate([self.tree, len(self.root) + later.tree]).astype(np.int32),
            np.concatenate([self.root, later.root]),
            np.concatenate([self.backward, later.backward]),
            np.concatenate([self.temper, later.temper]),
            np.concatenate([self.fair, later.fair]),
            self.drivers,
            self.leans + later.leans,
            self.sizes + later.sizes,
        )
        return both.weighed()

    def _lean(self, lean: Lean, other: Ints32) -> Floats:
        """Return how much more often a library with this lean draws each route than the public distribution, given its
        tree."""
        edges = np.bincount(lean.zone, minlength=len(lean.starts))
        at_root = np.where(
            self.backward,
            (lean.ends / np.average(lean.ends, weights=edges))[self.root],
            (lean.starts / np.average(lean.starts, weights=edges))[self.root],
        )
        seen = np.where(self.backward[:, None], lean.pairs[:, self.root].T, lean.pairs[self.root])
        of_tree = at_root * self.fair.sum(axis=1) / (self.fair * seen).sum(axis=1)
        along: Floats = of_tree[self.tree] * seen[self.tree, other]
        return along


def zones_of(roads: RoadNetwork, grid: Grid) -> Ints32:
    """Return the grid cell of the middle of each edge."""
    x = (roads.x[roads.source] + roads.x[roads.target]) / 2
    y = (roads.y[roads.source] + roads.y[roads.target]) / 2
    (ox, oy), (sx, sy) = grid.origin, grid.step
    i, j = np.floor((x - ox) / sx), np.floor((y - oy) / sy)
    return (np.clip(i, 0, grid.n - 1) * grid.n + np.clip(j, 0, grid.n - 1)).astype(np.int32)


def _table(place: Ints, weights: Floats, zones: int) -> Floats:
    """Sum weights by pairs of zones."""
    return np.bincount(place, weights, zones**2).astype(np.float64).reshape(zones, zones)


def _within(at: Ints32, usual: Floats, public: Floats, fitted: Floats) -> Floats:
    """Return the ratio of fitted to public weight of each zone, relative to the ratio of its cell (`usual`)."""
    seen, was, wanted = (
        np.bincount(at, weights, len(usual)) for weights in (np.ones(len(at)), public, fitted)
    )
    own = np.divide(wanted, was * usual, out=np.ones(len(usual)), where=was * usual > 0)
    return (seen * own + _PSEUDO) / (seen + _PSEUDO)


def _ratio(wanted: Floats, public: Floats) -> Floats:
    """Return wanted / public; 1 where public is 0."""
    return np.divide(wanted, public, out=np.ones_like(wanted), where=public > 0)


ROUTES = 300_000
# Over which share of the map's side the chance of a way falls off, for each part of the routes.
REACHES = (0.1, 0.3, math.inf)
# Routes longer than this many times their reach are so rare that a tree need not grow further.
_FAR = 10.0
# Tempers are all pairs of these: the price of turns over the usual one, and the standard deviation of the logarithm
# of what a street costs, anew in every tree.
TURN_COSTS, NOISES = (0.0, 1.0, 2.0), (0.15, 0.5)
# Routes of a tree where time allows, and at most; and how many edges all trees together may settle.
_PER_TREE, _MOST_PER_TREE, _WORK = 150, 1000, 2e8
# Least number of trees of a small library, and of routes of each: a few trees would stand in few places.
_TREES, _FEWEST_PER_TREE = 400, 10
# Multiples of this number are spread evenly between whole numbers.
_GOLDEN = (math.sqrt(5) - 1) / 2
# Trees that share one buffer in memory.
_BATCH = 8


@dataclass(frozen=True)
class Library:
    """How a library is drawn: the number of routes, their distances, and equal parts of kinds of drivers.

    A kind of driver is a cost of turns (`turn_costs`) and a size of the random changes of street costs (`noises`);
    there is one kind for each pair.
    """

    routes: int = ROUTES
    reaches: tuple[float, ...] = REACHES
    turn_costs: tuple[float, ...] = TURN_COSTS
    noises: tuple[float, ...] = NOISES

    def __post_init__(self) -> None:
        if self.routes < 1:
            raise InputError(f"a library needs at least one route, got {self.routes}")

    def draw(self, roads: RoadNetwork, rng: np.random.Generator) -> Routes:
        """Draw routes with the weights of the public distribution.

        The result depends only on `rng`, never on the number of cores.
        """
        return self.pool(roads, rng, Lean.none(roads)).routes

    def pool(
        self,
        roads: RoadNetwork,
        rng: np.random.Generator,
        lean: Lean,
        progress: Callable[[float], None] | None = None,
    ) -> Pool:
        """Do the same as `draw`, even if `lean` prefers some zones, and return everything that is needed to join the
        routes with other libraries. `progress` is called with the finished share."""
        graph, side = TurnGraph.of(roads), side_of(roads)
        tempers, streets = self._tempers(graph), int(graph.streets.max()) + 1
        kind_of = self._kinds_of(lean.drivers)
        near = _along_a_curve(roads)
        chances = [(chance := zones[lean.zone]) / chance.sum() for zones in (lean.starts, lean.ends)]
        roots = [np.cumsum(chance[near]) for chance in chances]
        # Limited by the time that they take.
        time = max(_WORK / graph.edges, self.routes / _MOST_PER_TREE)
        wanted = max(self.routes / _PER_TREE, min(_TREES, self.routes / _FEWEST_PER_TREE))
        trees = max(math.ceil(min(wanted, time)), 1)
        until = np.linspace(0, self.routes, trees + 1).astype(np.int64)
        sizes = until[1:] - until[:-1]
        sources, kinds = rng.spawn(trees), 2 * len(self.reaches)
        done, lock = [0], threading.Lock()

        def grown(_: int, start: int, stop: int) -> list[tuple[tuple[NDArray[Any], ...], int, Floats]]:
            tree, parts = Tree(graph), []
            for number in range(start, stop):
                place, kind = divmod(number, kinds)
                reach, backward = divmod(kind, 2)
                walked, noise = tempers[kind_of(place)]
                own, far = sources[number], self.reaches[reach] * side
                # Trees of one kind stand all over the map, each in one of equal parts along the curve.
                at = (place + own.random()) / ((trees - kind - 1) // kinds + 1)
                root = int(near[min(int(np.searchsorted(roots[backward], at, side="right")), len(near) - 1)])
                # Costs vary from street to street, however many edges a map cuts a street into.
                felt = graph.cost * np.exp(noise * own.standard_normal(streets))[graph.streets]
                order = tree.grow(walked[backward], felt, root, _FAR * far)
                parts.append(_drawn(tree, order, root, bool(backward), far, lean, int(sizes[number]), own))
            if progress is not None:
                with lock:
                    done[0] += stop - start
                    progress(done[0] / trees)
            return parts

        parts = [part for batch in map_chunks(grown, trees, _BATCH) for part in batch]
        ways, trunks, fair = zip(*parts, strict=True)
        edges, many, begin, end = (np.concatenate(column) for column in zip(*ways, strict=True))
        offsets = ragged.offsets_of(many)
        return Pool(
            Routes(roads, edges, offsets, begin, end, np.ones(len(many))),
            np.repeat(np.arange(trees, dtype=np.int32), sizes),
            lean.zone[list(trunks)],
            np.arange(trees) % 2 == 1,
            np.array([kind_of(number // kinds) for number in range(trees)]),
            np.array(fair),
            np.full(len(tempers), 1 / len(tempers)),
            (lean,),
            (len(many),),
        ).weighed()

    @property
    def kinds(self) -> tuple[tuple[float, float], ...]:
        """The kinds of drivers: the cost of turns and the size of the random changes of street costs of each."""
        return tuple((price, noise) for price in self.turn_costs for noise in self.noises)

    def alternatives(self, pool: Pool, picked: Ints, rng: np.random.Generator) -> list[Routes]:
        """Return the routes of all kinds of drivers between the ends of the `picked` routes of a pool, kind by kind.

        The kinds differ in nothing else, so few routes show how their trips differ.
        """
        routes = pool.routes
        graph = TurnGraph.of(routes.roads)
        tempers, streets = self._tempers(graph), int(graph.streets.max()) + 1
        numbers, offsets = np.unique(pool.tree[picked], return_index=True)
        if (np.diff(pool.tree[picked]) < 0).any():
            raise ValueError("routes must be picked in order of their trees")
        offsets = np.append(offsets, len(picked))
        first, last = routes.offsets[:-1], routes.offsets[1:] - 1
        sources = rng.spawn(len(numbers))

        def grown(_: int, start: int, stop: int) -> list[list[tuple[Ints32, Ints]]]:
            tree, parts = Tree(graph), []
            for number in range(start, stop):
                own = picked[offsets[number] : offsets[number + 1]]
                backward = bool(pool.backward[numbers[number]])
                roots, leaves = (last, first) if backward else (first, last)
                chance, ways = sources[number].standard_normal(streets), []
                for walked, noise in tempers:
                    felt = graph.cost * np.exp(noise * chance)[graph.streets]
                    tree.grow(walked[backward], felt, int(routes.edges[roots[own[0]]]))
                    ways.append(tree.ways(routes.edges[leaves[own]], backward))
                parts.append(ways)
            return parts

        parts = [part for batch in map_chunks(grown, len(numbers), _BATCH) for part in batch]
        kinds = []
        for kind in range(len(tempers)):
            edges, offset = ragged.joined([part[kind] for part in parts])
            same = np.ones(len(picked)) / len(picked)
            kinds.append(Routes(routes.roads, edges, offset, routes.begin[picked], routes.end[picked], same))
        return kinds

    def _tempers(self, graph: TurnGraph) -> list[tuple[tuple[TurnGraph, TurnGraph], float]]:
        """Return the graph of each kind of drivers, forward and backward, and the size of its random changes."""
        graphs = {price: (graph.priced(price), graph.reversed.priced(price)) for price in self.turn_costs}
        return [(graphs[price], noise) for price, noise in self.kinds]

    def _kinds_of(self, shares: Floats | None) -> Callable[[int], int]:
        """Return the kind of driver of the trees of each part of the map: kinds have these shares everywhere."""
        many = len(self.kinds)
        if shares is None or (shares == shares[0]).all():
            return lambda place: place % many
        running = np.cumsum(shares / shares.sum())
        return lambda place: min(int(np.searchsorted(running, (place + 0.5) * _GOLDEN % 1.0)), many - 1)


def _along_a_curve(roads: RoadNetwork) -> Ints32:
    """Return all edges in an order in which consecutive edges are near each other (Morton's curve)."""
    x0, y0, x1, y1 = roads.bounds()
    x, y = roads.x[roads.source], roads.y[roads.source]
    code = np.zeros(roads.edges, dtype=np.int64)
    for values, low, high, shift in ((x, x0, x1, 0), (y, y0, y1, 1)):
        steps = (1023 * (values - low) / max(high - low, 1e-300)).astype(np.int64)
        for bit in range(10):
            code |= (steps >> bit & 1) << (2 * bit + shift)
    return np.argsort(code, kind="stable").astype(np.int32)


def _drawn(
    tree: Tree,
    order: Ints32,
    root: int,
    backward: bool,
    reach: float,
    lean: Lean,
    many: int,
    rng: np.random.Generator,
) -> tuple[tuple[NDArray[Any], ...], int, Floats]:
    """Draw the routes of one tree (edges, sizes, begin, end), whose other ends follow a law with a reach. `order` are
    its edges, nearest first. Also return the root and the public probability of each zone."""
    own = lean.zone[root]
    # The factor of each zone, as seen from the root.
    factors = np.ascontiguousarray(lean.pairs[:, own] if backward else lean.pairs[own])
    running, fair = np.empty(len(order)), np.zeros(len(factors))
    _chances(order, tree.way, reach, lean.zone, factors, running, fair)
    # One end in each of equal parts, near to far: this varies less than independent draws.
    places = np.searchsorted(running, (np.arange(many) + rng.random(many)) / many * running[-1], side="right")
    leaves = order[np.minimum(places, len(order) - 1)]
    edges, sizes = tree.ways(leaves, backward)
    ends = rng.random((2, many))
    # On a single edge one can only go forward.
    begin, end = np.where(sizes == 1, np.sort(ends, axis=0), ends)
    return (edges, sizes, begin, end), root, fair


@kernel
def _chances(order, way, reach, zone, lean, running, fair):  # type: ignore[no-untyped-def]
    """Compute cumulative sums of the preferred probabilities of a tree's edges, and the public probability of each
    zone."""
    leaning = 0.0
    for place in range(len(order)):
        edge = order[place]
        chance = 1.0 if math.isinf(reach) else math.exp(-way[edge] / reach)
        fair[zone[edge]] += chance
        leaning += chance * lean[zone[edge]]
        running[place] = leaning
