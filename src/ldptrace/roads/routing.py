"""Cheapest routes through a road network, with a cost for turns.

The states are directed edges, so that a turn between two edges can have a cost; a route is a sequence of edges. Each
tree of routes starts (or ends) at one edge and has its own random changes of the costs, because drivers do not all take
the same route.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints, Ints32
from ldptrace.core.kernels import kernel
from ldptrace.errors import InputError
from ldptrace.roads.network import RoadNetwork

# A right angle costs as much as this many metres; bends below the free angle cost nothing, and none costs more
# than one and a half right angles.
TURN_METRES, FREE_DEGREES, DEAREST = 120.0, 25.0, 1.5
# On a small map (a campus, a village) people turn more readily: at most this share of its side.
TURN_SHARE = 0.01
# Edges wait in buckets of their costs: number of buckets for the mean cost of an edge, and the largest number.
_FINE, _BUCKETS = 64, 1 << 16


@dataclass(frozen=True, eq=False)
class TurnGraph:
    """Which edge may follow which, and the cost of the turn between them.

    The edges that may follow `e` are `following[first[e] : first[e + 1]]`, each with its cost `bend`. Costs are seconds
    if the network has travel times, and lengths otherwise. U-turns are possible in dead ends only. `streets` has the
    number of the street of each edge: edges between two junctions belong to one street.
    """

    cost: Floats
    length: Floats
    first: Ints
    following: Ints32
    bend: NDArray[np.float32]
    streets: Ints32

    @staticmethod
    def of(roads: RoadNetwork) -> TurnGraph:
        """Make the graph of a network, with the default cost of turns."""
        source, target = roads.source.astype(np.int64), roads.target.astype(np.int64)
        edges = len(source)
        if edges == 0:
            raise InputError("the road network has no edges")
        by_source = np.argsort(source, kind="stable").astype(np.int32)
        begin = np.searchsorted(source[by_source], np.arange(len(roads.x) + 1))
        many = (begin[1:] - begin[:-1])[target]
        _, places = ragged.ranges(begin[target], many)
        before = np.repeat(np.arange(edges, dtype=np.int32), many)
        after = by_source[places]
        # A way never turns round, except where nothing else is left.
        back = target[after] == source[before]
        kept = ~back | (np.bincount(before, ~back, minlength=edges)[before] == 0)
        before, after = before[kept], after[kept]
        leaving, arriving = (np.degrees(side) for side in roads.headings)
        angle = np.abs((leaving[after] - arriving[before] + 180.0) % 360.0 - 180.0)
        right_angles = np.minimum(np.maximum(angle - FREE_DEGREES, 0.0) / 90.0, DEAREST)
        cost = roads.length if roads.seconds is None else roads.seconds
        price = min(TURN_METRES, TURN_SHARE * side_of(roads))
        price *= float(cost.sum() / roads.length.sum())
        return TurnGraph(
            cost,
            roads.length,
            ragged.offsets_of(np.bincount(before, minlength=edges)),
            np.ascontiguousarray(after, dtype=np.int32),
            (price * right_angles).astype(np.float32),
            _streets(before, after, edges),
        )

    def priced(self, times: float) -> TurnGraph:
        """Return the same graph with the cost of turns multiplied by `times`."""
        return replace(self, bend=np.float32(times) * self.bend)

    @property
    def edges(self) -> int:
        return len(self.cost)

    @cached_property
    def dearest_bend(self) -> float:
        """The cost of the most expensive turn."""
        return float(self.bend.max(initial=0.0))

    @cached_property
    def reversed(self) -> TurnGraph:
        """The graph in the opposite direction: which edges may come before each edge."""
        before = np.repeat(np.arange(self.edges, dtype=np.int32), np.diff(self.first))
        order = np.argsort(self.following, kind="stable")
        sizes = np.bincount(self.following, minlength=self.edges)
        first = ragged.offsets_of(sizes)
        return TurnGraph(self.cost, self.length, first, before[order], self.bend[order], self.streets)


class Tree:
    """Memory for trees of cheapest routes on a graph or its reverse, one after the other.

    For each edge that was reached: the `cost` of the route up to its end, the length of this route (`way`), the edge
    `before` it, and the number of edges of the route (`hops`).
    """

    def __init__(self, graph: TurnGraph) -> None:
        # Every arc lets one edge wait, at most.
        edges, most = graph.edges, len(graph.following) + 1
        self.cost = np.full(edges, np.inf)
        self.way = np.empty(edges)
        self.before, self.hops, self._order = (np.empty(edges, dtype=np.int32) for _ in range(3))
        self._settled = 0
        # Room for edges that wait: their keys, the edges, and which is next in the same bucket.
        self._now = np.empty(most), np.empty(most, dtype=np.int32)
        self._later = np.empty(most), np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
        self._buckets = np.empty(0, dtype=np.int32)

    def grow(self, graph: TurnGraph, cost: Floats, root: int, farthest: float = math.inf) -> Ints32:
        """Make a new tree from the edge `root`, with routes up to about the length `farthest`. Return its edges,
        nearest first."""
        self.cost[self._order[: self._settled]] = np.inf
        longest = float(cost.max()) + graph.dearest_bend
        width = max(float(cost.mean()) / _FINE, longest / _BUCKETS, 1e-300)
        buckets = int(longest / width) + 2
        if len(self._buckets) < buckets:
            self._buckets = np.empty(buckets, dtype=np.int32)
        arcs = (graph.first, graph.following, graph.bend)
        tree = (self.cost, self.way, self.before, self.hops, self._order)
        waiting = (*self._now, self._buckets[:buckets], *self._later)
        self._settled = _grow(arcs, cost, graph.length, root, farthest, width, tree, waiting)
        return self._order[: self._settled]

    def ways(self, leaves: Ints32, backward: bool = False) -> tuple[Ints32, Ints]:
        """Return the routes from the root to edges of the tree (`backward`: from the edges to the root), and their
        sizes."""
        sizes = self.hops[leaves].astype(np.int64)
        edges = np.empty(sizes.sum(), dtype=np.int32)
        _walk_back(leaves, sizes, self.before, edges, backward)
        return edges, sizes


def _streets(before: Ints32, after: Ints32, edges: int) -> Ints32:
    """Return the number of the street of each edge, from 0. Edges that only follow each other are one street.

    >>> _streets(np.array([0, 1, 1]), np.array([1, 2, 3]), 4).tolist()
    [0, 0, 1, 2]
    """
    only = (np.bincount(before, minlength=edges)[before] == 1) & (
        np.bincount(after, minlength=edges)[after] == 1
    )
    pairs = csr_array((np.ones(only.sum()), (before[only], after[only])), shape=(edges, edges))
    return connected_components(pairs, directed=False)[1].astype(np.int32)


def side_of(roads: RoadNetwork) -> float:
    """Return the side of a square with the area of the map, in the unit of lengths."""
    x0, y0, x1, y1 = roads.bounds()
    across, up = roads.scale
    # A map that is a line has no area; its length will do.
    return max(math.sqrt((x1 - x0) * across * (y1 - y0) * up), 0.1 * max((x1 - x0) * across, (y1 - y0) * up))


# A metre at a junction takes as long as this many more metres elsewhere; the delay falls off over this many metres, and
# on a small map over this share of its side (docs/lab/streets.md, "Districts, streets and junctions").
DELAY, REACH, REACH_SHARE = 1.0, 30.0, 0.0025
# Places on an edge whose delays are averaged, as shares of its length.
_PLACES = (0.1, 0.3, 0.5, 0.7, 0.9)


def felt_lengths(roads: RoadNetwork) -> Floats:
    """Return lengths of all edges that are longer near junctions, where people slow down or wait.

    Where speeds are not known, the time on an edge is proportional to its length. This decides on which part of a route
    a trip spends its time, not how long the trip takes.

    >>> cross = RoadNetwork.of([0, 60, -60, 0], [0, 0, 0, 60], source=[0, 0, 0], target=[1, 2, 3])
    >>> (felt_lengths(cross) > cross.length).tolist()
    [True, True, True]
    """
    if not roads.junctions.any():
        return roads.length.copy()
    across, up = roads.scale
    x, y = roads.x * across, roads.y * up
    junctions = cKDTree(np.c_[x[roads.junctions], y[roads.junctions]])
    reach, slow = min(REACH, REACH_SHARE * side_of(roads)), np.zeros(roads.edges)
    for share in _PLACES:
        at = ((1 - share) * ends[roads.source] + share * ends[roads.target] for ends in (x, y))
        slow += np.exp(-junctions.query(np.column_stack(tuple(at)))[0] / reach)
    felt: Floats = roads.length * (1 + DELAY * slow / len(_PLACES))
    return felt


@kernel
def _grow(arcs, cost, length, root, farthest, width, tree, waiting):  # type: ignore[no-untyped-def]
    """Run Dijkstra's algorithm over edges, and return the number of settled edges.

    Waiting edges are in buckets of the width `width`, each a linked list from its last entry. There are more buckets
    than any step is long, so they are used in turn. The present bucket is sorted, with the next edge last. `reached`
    must be infinite everywhere. Edges beyond `farthest` are settled but not followed, so that every reached edge is in
    `order`.
    """
    first, following, bend = arcs
    reached, way, before, hops, order = tree
    keys, edges, buckets, later_key, later_edge, later_next = waiting
    buckets[:] = -1
    reached[root] = cost[root]
    before[root] = -1
    keys[0], edges[0] = cost[root], root
    current, size, entries, left, settled = int(cost[root] / width), 1, 0, 0, 0
    while size > 0 or left > 0:
        if size == 0:
            current += 1
            slot = current % len(buckets)
            entry = buckets[slot]
            buckets[slot] = -1
            while entry >= 0:
                left -= 1
                if later_key[entry] <= reached[later_edge[entry]]:
                    _insert(keys, edges, size, later_key[entry], later_edge[entry])
                    size += 1
                entry = later_next[entry]
            continue
        size -= 1
        key, edge = keys[size], edges[size]
        if key > reached[edge]:
            continue
        earlier = before[edge]
        if earlier < 0:
            way[edge], hops[edge] = length[edge], 1
        else:
            way[edge], hops[edge] = way[earlier] + length[edge], hops[earlier] + 1
        order[settled] = edge
        settled += 1
        if way[edge] > farthest:
            continue
        for arc in range(first[edge], first[edge + 1]):
            there = following[arc]
            new = key + bend[arc] + cost[there]
            if new < reached[there]:
                reached[there] = new
                before[there] = edge
                bucket = int(new / width)
                if bucket <= current:
                    _insert(keys, edges, size, new, there)
                    size += 1
                    continue
                slot = bucket % len(buckets)
                later_key[entries], later_edge[entries], later_next[entries] = new, there, buckets[slot]
                buckets[slot] = entries
                entries += 1
                left += 1
    return settled


@kernel
def _insert(keys, edges, size, key, edge):  # type: ignore[no-untyped-def]
    """Insert a number into a list in descending order."""
    at = size
    while at > 0 and keys[at - 1] < key:
        keys[at], edges[at] = keys[at - 1], edges[at - 1]
        at -= 1
    keys[at], edges[at] = key, edge


@kernel
def _walk_back(leaves, sizes, before, edges, backward):  # type: ignore[no-untyped-def]
    filled = 0
    for k in range(len(leaves)):
        edge = leaves[k]
        for hop in range(sizes[k]):
            edges[filled + (hop if backward else sizes[k] - 1 - hop)] = edge
            edge = before[edge]
        filled += sizes[k]
