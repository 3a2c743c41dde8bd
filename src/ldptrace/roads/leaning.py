"""Libraries that lean towards a fit, and what their routes weigh: as draws from one distribution.

Routes of several libraries are weighed by the chance that any of them had to draw the route (a deterministic mixture):
a route that one library draws rarely and another often has the small weight that both together give it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ldptrace.core.arrays import Flags, Floats, Ints, Ints32
from ldptrace.protocol.grid import Grid
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes

# Part of a sharper library that follows the fit; the rest stays as broad as the first.
FOLLOWED = 0.9
# Routes of the law of its two zones that are added to each pair of zones, so that few routes do not mislead.
_PSEUDO = 4.0
# Part of the first library that begins on special edges, and that ends there.
SPECIAL = 0.1


@dataclass(frozen=True, eq=False)
class Zones:
    """Parts of a map that a library may lean to: the zone of every edge, and the cell that every zone lies in.

    Zones are places within cells; edges that are unlike all others around them, `special` ones, have zones of their
    own, one for each cell.
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
    """How much more often than by the broad law routes begin and end where.

    `pairs[a, b]` multiplies the chance of an end in zone b for a route that begins in zone a, `starts` and `ends`
    the chances of single zones; `zone` is the zone of every edge. The weights of the routes make up for it.
    """

    zone: Ints32
    pairs: Floats
    starts: Floats
    ends: Floats

    @staticmethod
    def none(roads: RoadNetwork) -> Lean:
        """The broad law, without zones."""
        return Lean(np.zeros(roads.edges, dtype=np.int32), np.ones((1, 1)), np.ones(1), np.ones(1))

    @staticmethod
    def even(zones: Zones) -> Lean:
        """As the broad law, except that special edges, if there are any, are not missed: some may matter much."""
        edges = np.bincount(zones.of_edge, minlength=len(zones.cell))
        few = edges[zones.special].sum()
        more = np.where(zones.special, max(SPECIAL * edges.sum() / max(few, 1), 1.0), 1.0)
        return Lean(zones.of_edge, np.outer(more, more), more, more)

    @staticmethod
    def towards(routes: Routes, fitted: Floats, zones: Zones) -> Lean:
        """Towards the starts and ends of the same routes under fitted weights.

        Pairs are counted by the cells of the zones, single ends by the zones themselves.
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
        return Lean(zone, *(FOLLOWED * part + 1 - FOLLOWED for part in (pairs, starts, ends)))


@dataclass(frozen=True, eq=False)
class Pool:
    """Routes of one or more libraries with the trees they were drawn from, weighed as one library.

    Every route is the draw of one `tree`; `root` is the zone of a tree's root, `backward` whether its ways lead there,
    and `fair[t, z]` the chance, not normalised, that by the broad law the other end of a way of tree t is in zone z.
    `leans` are those of the libraries, and `sizes` their numbers of routes.
    """

    routes: Routes
    tree: Ints32
    root: Ints32
    backward: Flags
    fair: Floats
    leans: tuple[Lean, ...]
    sizes: tuple[int, ...]

    def weighed(self) -> Pool:
        """The same routes with the weights of the broad law: fair chance over that of all libraries together."""
        zone = self.leans[0].zone
        first, last = self.routes.offsets[:-1], self.routes.offsets[1:] - 1
        other = zone[self.routes.edges[np.where(self.backward[self.tree], first, last)]]
        chance = np.zeros(len(self.routes))
        for lean, size in zip(self.leans, self.sizes, strict=True):
            chance += size * self._lean(lean, other)
        weights = 1 / chance
        return replace(self, routes=replace(self.routes, weights=weights / weights.sum()))

    def joined(self, later: Pool) -> Pool:
        """The routes of both, which have the same network and the same zones."""
        routes = self.routes.joined(later.routes)
        both = Pool(
            routes,
            np.concatenate([self.tree, len(self.root) + later.tree]).astype(np.int32),
            np.concatenate([self.root, later.root]),
            np.concatenate([self.backward, later.backward]),
            np.concatenate([self.fair, later.fair]),
            self.leans + later.leans,
            self.sizes + later.sizes,
        )
        return both.weighed()

    def _lean(self, lean: Lean, other: Ints32) -> Floats:
        """How much more often than by the broad law a library of this lean draws each route, given the tree's noise."""
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
    """The grid cell of every edge's middle."""
    x = (roads.x[roads.source] + roads.x[roads.target]) / 2
    y = (roads.y[roads.source] + roads.y[roads.target]) / 2
    (ox, oy), (sx, sy) = grid.origin, grid.step
    i, j = np.floor((x - ox) / sx), np.floor((y - oy) / sy)
    return (np.clip(i, 0, grid.n - 1) * grid.n + np.clip(j, 0, grid.n - 1)).astype(np.int32)


def _table(place: Ints, weights: Floats, zones: int) -> Floats:
    """Weights summed by pairs of zones."""
    return np.bincount(place, weights, zones**2).astype(np.float64).reshape(zones, zones)


def _within(at: Ints32, usual: Floats, public: Floats, fitted: Floats) -> Floats:
    """How much more each place is wanted than its cell, whose ratio is `usual`."""
    seen, was, wanted = (
        np.bincount(at, weights, len(usual)) for weights in (np.ones(len(at)), public, fitted)
    )
    own = np.divide(wanted, was * usual, out=np.ones(len(usual)), where=was * usual > 0)
    return (seen * own + _PSEUDO) / (seen + _PSEUDO)


def _ratio(wanted: Floats, public: Floats) -> Floats:
    """Wanted over public; 1 where there is nothing public."""
    return np.divide(wanted, public, out=np.ones_like(wanted), where=public > 0)
