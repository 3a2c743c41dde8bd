"""What public knowledge gives by itself: the two controls beside every set when there is a road network.

The map alone is a broad library of routes with public weights, without any report. Plain routing takes the quickest
route (the shortest, if the network has no travel times) between the first and the last point of each synthetic trip:
what is left of a set when only its ends are kept.
"""

from __future__ import annotations

import heapq
import math

import numpy as np
from scipy.spatial import cKDTree

from ldptrace.core import ragged
from ldptrace.core.arrays import Ints, Ints32
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.measured import chosen
from ldptrace.roads.library import Library
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes

MAP_ALONE, PLAIN_ROUTING = "map_alone", "plain_routing"
CONTROLS = {MAP_ALONE: "the map alone", PLAIN_ROUTING: "plain routing"}
# Routes of the map alone, and trips of a set that are routed again: enough that chance, which makes divergences of few
# trips large, does not speak against the controls.
ROUTES, ROUTED = 50_000, 30_000
_CHUNK = 256


def map_alone(roads: RoadNetwork, rng: np.random.Generator, routes: int = ROUTES) -> Trajectories:
    """Return trips by the public law alone: routes of a broad library, drawn by their weights."""
    library = Library(routes=routes).draw(roads, rng)
    picked = rng.choice(len(library), routes, p=library.weights)
    return library.points(picked)


def plain_routing(roads: RoadNetwork, trips: Trajectories, rng: np.random.Generator) -> Trajectories:
    """Return the quickest routes (shortest, if the network has no travel times) between the ends of at most `ROUTED`
    trips.

    A trip whose two ends are nearest to the same node has no way to go; it stays as it is.
    """
    trips = chosen(trips, ROUTED, rng)
    across, up = roads.scale
    tree = cKDTree(np.column_stack((roads.x * across, roads.y * up)))
    first, last = trips.offsets[:-1], trips.offsets[1:] - 1
    start, end = (
        tree.query(np.column_stack((trips.x[at] * across, trips.y[at] * up)))[1].astype(np.int64)
        for at in (first, last)
    )
    edges, offsets = shortest_ways(roads, start, end)
    moved = np.diff(offsets) > 0
    parts = []
    if moved.any():
        kept = ragged.offsets_of(np.diff(offsets)[moved])
        ones = np.ones(len(kept) - 1)
        routed = Routes(roads, edges, kept, 0 * ones, ones, ones / len(ones)).points()
        parts.append(Trajectories(routed.x, routed.y, routed.offsets, crs=trips.crs))
    if not moved.all():
        still = trips.take(~moved)
        parts.append(Trajectories(still.x, still.y, still.offsets, crs=trips.crs))
    return Trajectories.concat(parts)


def shortest_ways(roads: RoadNetwork, start: Ints, end: Ints) -> tuple[Ints32, Ints]:
    """Return edges of the shortest route between each pair of nodes, one after the other, and where each begins.

    >>> line = RoadNetwork.of([0, 1, 2], [0, 0, 0], [0, 1, 1, 2], [1, 2, 0, 1])
    >>> [part.tolist() for part in shortest_ways(line, np.array([0, 2]), np.array([2, 2]))]
    [[0, 1], [0, 2, 2]]
    """
    order = np.argsort(roads.source, kind="stable").astype(np.int32)
    first = np.searchsorted(roads.source[order], np.arange(roads.nodes + 1))
    cost = roads.length if roads.seconds is None else roads.seconds
    across, up = roads.scale
    x, y = roads.x * across, roads.y * up
    straight = np.hypot(x[roads.source] - x[roads.target], y[roads.source] - y[roads.target])
    # No way is cheaper than the straight line at the best price there is: a lower bound of what is left to go.
    apart = straight > 0
    price = float((cost[apart] / straight[apart]).min()) if apart.any() else 0.0

    graph = (roads.source, roads.target, cost, order, first)

    def work(_: int, begin: int, stop: int) -> tuple[Ints32, Ints]:
        return _search((x, y, price), graph, start[begin:stop], end[begin:stop])

    return ragged.joined(map_chunks(work, len(start), _CHUNK))


@kernel
def _search(places, graph, start, end):  # type: ignore[no-untyped-def]
    """Search by A* between pairs of nodes; no way at all is an empty one."""
    (x, y, price), (source, target, cost, order, first) = places, graph
    nodes = len(x)
    best = np.full(nodes, np.inf)
    came = np.full(nodes, -1, dtype=np.int32)
    seen = np.empty(nodes, dtype=np.int64)
    ways = np.empty(1024, dtype=np.int32)
    sizes = np.zeros(len(start), dtype=np.int64)
    filled = 0
    for k in range(len(start)):
        touched = 0
        goal = end[k]
        best[start[k]] = 0.0
        seen[touched] = start[k]
        touched += 1
        heap = [(0.0, 0.0, start[k])]
        while len(heap) > 0:
            _, spent, node = heapq.heappop(heap)
            if node == goal:
                break
            if spent > best[node]:
                continue
            for entry in range(first[node], first[node + 1]):
                edge = order[entry]
                other = target[edge]
                total = spent + cost[edge]
                if total < best[other]:
                    if best[other] == np.inf:
                        seen[touched] = other
                        touched += 1
                    best[other] = total
                    came[other] = edge
                    left = math.sqrt((x[other] - x[goal]) ** 2 + (y[other] - y[goal]) ** 2) * price
                    heapq.heappush(heap, (total + left, total, np.int64(other)))
        if best[goal] < np.inf and goal != start[k]:
            node = goal
            while node != start[k]:
                sizes[k] += 1
                node = source[came[node]]
            if filled + sizes[k] > len(ways):
                larger = np.empty(2 * (filled + sizes[k]), dtype=np.int32)
                larger[:filled] = ways[:filled]
                ways = larger
            node = goal
            for step in range(sizes[k]):
                edge = came[node]
                ways[filled + sizes[k] - 1 - step] = edge
                node = source[edge]
            filled += sizes[k]
        for entry in range(touched):
            best[seen[entry]] = np.inf
            came[seen[entry]] = -1
    return ways[:filled].copy(), sizes
