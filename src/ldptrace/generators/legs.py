"""Legs played on a network: who goes where, when and how fast, turned into sampled noisy points."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from ldptrace.core.arrays import Flags, Floats, Ints32
from ldptrace.core.crs import LocalPlane
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Bounds
from ldptrace.roads.network import RoadNetwork

GPS_MEMORY = 30.0  # seconds over which the error of a receiver stays alike
GPS_LIMIT = 4.0  # the error never exceeds this many standard deviations
TREES_PER_MOOD = 16  # destinations that see the same perturbed costs; fewer would only cost time


class Trees(NamedTuple):
    """Cheapest ways to every root and back, negative at the root itself.

    `ahead[r, v]` is the node after `v` on the way to root `r`, `behind[r, v]` the node before `v` on the way
    from it; they are one array where every street leads both ways.
    """

    ahead: Ints32
    behind: Ints32


class Legs(NamedTuple):
    """One way each, between a root of the shortest-path trees and any node.

    `outward` legs lead from the root to the node, others from the node to the root. `pace` stretches the
    time: 1 is the speed of the empty road, 2 is half as fast. `depart` is in seconds.
    """

    root: Ints32
    node: Ints32
    outward: Flags
    depart: Floats
    pace: Floats


class Recorder(NamedTuple):
    """How legs are recorded.

    Seconds between points, standard deviation of the GPS error in metres, chance and mean seconds of a stop
    at a junction, and whether legs begin and end somewhere along a street.
    """

    interval: float
    noise: float
    stop_chance: float = 0.0
    stop_seconds: float = 0.0
    along_street: bool = False

    @staticmethod
    def driving(interval: float, noise: float) -> Recorder:
        """Return a car, which stops at some junctions and parks in the middle of a street."""
        return Recorder(interval, noise, stop_chance=0.12, stop_seconds=12.0, along_street=True).checked()

    def checked(self) -> Recorder:
        """Return the recorder, or raise an error if its settings make no sense."""
        if not (np.isfinite(self.interval) and self.interval > 0):
            raise InputError(
                f"the sampling interval must be a positive number of seconds, got {self.interval!r}"
            )
        if not (np.isfinite(self.noise) and self.noise >= 0):
            raise InputError(f"the noise must be zero or a positive number of metres, got {self.noise!r}")
        return self


class _Net(NamedTuple):
    """The network as plain arrays for the kernels."""

    first: Ints32
    neighbour: Ints32
    edge: Ints32
    seconds: Floats
    x: Floats
    y: Floats
    ahead: Ints32
    behind: Ints32


def grow(
    roads: RoadNetwork, roots: Ints32, weight: Floats, *, spread: float, rng: np.random.Generator
) -> tuple[Trees, NDArray[np.float32]]:
    """Return the trees of the cheapest ways between all nodes and the roots, and the costs of the ways to the roots.

    The weights of the edges are perturbed by a lognormal factor of the given spread, one for both ways of a
    street and anew for every few roots: people do not all know the same shortest route.
    """
    one = np.arange(roads.edges)
    one = np.where(roads.opposite < 0, one, np.minimum(roads.opposite, one))
    streets, street = np.unique(one, return_inverse=True)
    two_way = bool((roads.opposite >= 0).all()) and np.array_equal(weight, weight[roads.opposite])
    ahead = np.empty((len(roots), roads.nodes), dtype=np.int32)
    behind = ahead if two_way else np.empty_like(ahead)
    cost = np.empty((len(roots), roads.nodes), dtype=np.float32)
    for first in range(0, len(roots), TREES_PER_MOOD):
        block = slice(first, first + TREES_PER_MOOD)
        felt = weight * rng.lognormal(0.0, spread, len(streets))[street]
        costs = _matrix(roads, np.maximum(felt, 1e-9))
        back = costs if two_way else costs.T.tocsr()
        cost[block], ahead[block] = dijkstra(back, indices=roots[block], return_predecessors=True)
        if not two_way:
            behind[block] = dijkstra(costs, indices=roots[block], return_predecessors=True)[1]
    return Trees(ahead, behind), cost


def fastest_only(roads: RoadNetwork, seconds: Floats) -> Flags:
    """Return which edges are the fastest from their source to their target."""
    order = np.lexsort((seconds, roads.target, roads.source))
    pair = roads.source[order].astype(np.int64) * roads.nodes + roads.target[order]
    kept = np.zeros(roads.edges, dtype=bool)
    kept[order[np.r_[True, np.diff(pair) != 0]]] = True
    return kept


def known_seconds(roads: RoadNetwork) -> Floats:
    """Return the travel times of all edges, or raise an error if they are not known."""
    if roads.seconds is None:
        raise InputError(f"{roads.name}: trips need the speeds of the roads, and none is known")
    return roads.seconds


def map_bounds(x: Floats, y: Floats, margin: float, plane: LocalPlane | None) -> Bounds:
    """Return the box around points in metres, grown by a margin, in the map's coordinates and in round numbers."""
    low, high = np.array([[x.min()], [y.min()]]) - margin, np.array([[x.max()], [y.max()]]) + margin
    if plane is not None:
        low, high = np.array(plane.to_degrees(*low)), np.array(plane.to_degrees(*high))
    unit = 1.0 if plane is None else 1e5
    (x0, y0), (x1, y1) = (np.floor(unit * low) / unit).ravel(), (np.ceil(unit * high) / unit).ravel()
    return float(x0), float(y0), float(x1), float(y1)


def record(
    roads: RoadNetwork, trees: Trees, legs: Legs, recorder: Recorder, rng: np.random.Generator
) -> Trajectories:
    """Return points of the legs, in metres, at every tick, from the departure to the first tick after the arrival.

    No two edges of the network lead from one node to the same other. Chunks draw from their own random
    source, so that the result does not depend on the number of threads.
    """
    net = _net(roads, trees)
    n = len(legs.root)
    count = len(chunks(n))
    stops, errors = rng.spawn(count), rng.spawn(count)
    offsets = np.zeros(n + 1, dtype=np.int64)

    def measure(chunk: int, start: int, stop: int) -> None:
        # A copy: the stops are drawn again, the same ones, when the points are written.
        source = copy.deepcopy(stops[chunk])
        _measure(net, legs, recorder, start, stop, source, offsets)

    def write(chunk: int, start: int, stop: int) -> None:
        _write(net, legs, recorder, start, stop, stops[chunk], errors[chunk], (x, y, t, offsets))

    map_chunks(measure, n)
    np.cumsum(offsets, out=offsets)
    points = int(offsets[-1])
    x, y, t = np.empty(points), np.empty(points), np.empty(points)
    map_chunks(write, n)
    return Trajectories(x, y, offsets, t=t)


def travel_seconds(roads: RoadNetwork, trees: Trees, nodes: Ints32) -> Floats:
    """Return the travel time from each of the `nodes` to the root of each tree, along the tree and without stops."""
    cost, roots = _matrix(roads, known_seconds(roads)), np.arange(len(trees.ahead))
    here = np.repeat(nodes[:, None], len(roots), axis=1)
    seconds = np.zeros(here.shape)
    while True:
        ahead = trees.ahead[roots, here]
        going = ahead >= 0
        if not going.any():
            return seconds
        seconds[going] += cost[here[going], ahead[going]]
        here[going] = ahead[going]


def _matrix(roads: RoadNetwork, values: NDArray[np.generic]) -> csr_array:
    """Return a sparse matrix of the values of the edges, with a row for each source and a column for each target."""
    return csr_array((values, (roads.source, roads.target)), shape=(roads.nodes, roads.nodes))


def _net(roads: RoadNetwork, trees: Trees) -> _Net:
    edges = _matrix(roads, np.arange(1, roads.edges + 1, dtype=np.int32))
    return _Net(edges.indptr, edges.indices, edges.data - 1, known_seconds(roads), roads.x, roads.y, *trees)


@kernel
def _route(net, legs, k, recorder, rng, path, arrive, leave):  # type: ignore[no-untyped-def]
    """Fill in the nodes of a leg (`path`) and when it reaches and leaves them; return their number, `head` and `tail`.

    The leg begins at the share `head` of its first edge and ends at the share `tail` of its last one.
    """
    root, node, outward, pace = legs.root[k], legs.node[k], legs.outward[k], legs.pace[k]
    tree = net.behind if outward else net.ahead
    count = 0
    while node >= 0:
        path[count] = node
        count += 1
        node = tree[root, node]
    if outward:
        path[:count] = path[:count][::-1].copy()
    head, tail = 0.0, 1.0
    if recorder.along_street:
        head, tail = 0.5 * rng.random(), 1.0 - 0.5 * rng.random()
    arrive[0] = leave[0] = 0.0
    for step in range(1, count):
        slot = net.first[path[step - 1]]
        while net.neighbour[slot] != path[step]:
            slot += 1
        share = 1.0
        if step == 1:
            share -= head
        if step == count - 1:
            share -= 1.0 - tail
        arrive[step] = leave[step - 1] + share * pace * net.seconds[net.edge[slot]]
        leave[step] = arrive[step]
        if step < count - 1 and recorder.stop_chance > 0.0 and rng.random() < recorder.stop_chance:
            leave[step] += recorder.stop_seconds * rng.standard_exponential()
    return count, head, tail


@kernel
def _measure(net, legs, recorder, start, stop, stops, sizes):  # type: ignore[no-untyped-def]
    """Write the number of points of the legs start..stop to `sizes[1 + leg]`."""
    path = np.empty(len(net.x), dtype=np.int32)
    arrive, leave = np.empty(len(net.x)), np.empty(len(net.x))
    for k in range(start, stop):
        count, _, _ = _route(net, legs, k, recorder, stops, path, arrive, leave)
        sizes[k + 1] = 1 + max(1, int(np.ceil(arrive[count - 1] / recorder.interval)))


@kernel
def _write(net, legs, recorder, start, stop, stops, errors, tracks):  # type: ignore[no-untyped-def]
    """Write the points of the legs start..stop. The GPS error drifts: a first-order autoregressive process."""
    x, y, t, offsets = tracks
    path = np.empty(len(net.x), dtype=np.int32)
    arrive, leave = np.empty(len(net.x)), np.empty(len(net.x))
    keep = np.exp(-recorder.interval / GPS_MEMORY)
    fresh = recorder.noise * np.sqrt(1.0 - keep * keep)
    limit = GPS_LIMIT * recorder.noise
    for k in range(start, stop):
        count, head, tail = _route(net, legs, k, recorder, stops, path, arrive, leave)
        ex = recorder.noise * errors.standard_normal()
        ey = recorder.noise * errors.standard_normal()
        edge = 1
        for p in range(offsets[k], offsets[k + 1]):
            passed = (p - offsets[k]) * recorder.interval
            while edge < count - 1 and passed > leave[edge]:
                edge += 1
            before, after = path[max(edge - 1, 0)], path[min(edge, count - 1)]
            share = 1.0
            if edge < count and passed < arrive[edge]:
                share = (passed - leave[edge - 1]) / (arrive[edge] - leave[edge - 1])
            low = head if edge == 1 else 0.0
            high = tail if edge == count - 1 else 1.0
            share = low + share * (high - low)
            ex = min(max(ex, -limit), limit)
            ey = min(max(ey, -limit), limit)
            x[p] = net.x[before] + share * (net.x[after] - net.x[before]) + ex
            y[p] = net.y[before] + share * (net.y[after] - net.y[before]) + ey
            t[p] = legs.depart[k] + passed
            ex = keep * ex + fresh * errors.standard_normal()
            ey = keep * ey + fresh * errors.standard_normal()
