"""Libraries whose routes follow the result of a fit, and the weights of their routes.

All routes are weighted as draws from one mixture of the libraries: the weight of a route is its public probability,
divided by the probability that any of the libraries draws it.
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
