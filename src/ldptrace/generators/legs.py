"""Legs played on a network: who goes where, when and how fast, turned into sampled noisy points."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.errors import InputError
from ldptrace.generators.roads import Floats, Ints, RoadNetwork

GPS_MEMORY = 30.0  # seconds over which the error of a receiver stays alike
GPS_LIMIT = 4.0  # the error never exceeds this many standard deviations


@dataclass(frozen=True, eq=False)
class Legs:
    """One way each, between a root of the shortest-path trees and any node.

    `outward` legs lead from the root to the node, others from the node to the root. `pace` stretches the
    time: 1 is the speed of the empty road, 2 is half as fast. `depart` is in seconds.
    """

    root: Ints
    node: Ints
    outward: NDArray[np.bool_]
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
        """A car, which stops at some junctions and parks in the middle of a street."""
        return Recorder(interval, noise, stop_chance=0.12, stop_seconds=12.0, along_street=True).checked()

    def checked(self) -> Recorder:
        """The recorder itself, if it makes sense."""
        if not (np.isfinite(self.interval) and self.interval > 0):
            raise InputError(
                f"the sampling interval must be a positive number of seconds, got {self.interval!r}"
            )
        if not (np.isfinite(self.noise) and self.noise >= 0):
            raise InputError(f"the noise must be zero or a positive number of metres, got {self.noise!r}")
        return self


class _Net(NamedTuple):
    """The network as plain arrays for the kernels."""

    first: NDArray[np.int32]
    neighbour: NDArray[np.int32]
    edge: NDArray[np.int32]
    seconds: Floats
    x: Floats
    y: Floats
    ahead: Ints


class Tracks(NamedTuple):
    """Points of all legs; leg `k` is `offsets[k]:offsets[k + 1]`."""

    x: Floats
    y: Floats
    t: Floats
    offsets: NDArray[np.int64]


def record(
    roads: RoadNetwork, ahead: Ints, legs: Legs, recorder: Recorder, rng: np.random.Generator
) -> Tracks:
    """Points of the legs at every tick, from the departure to the first tick after the arrival.

    `ahead` are the trees of `RoadNetwork.trees`. Chunks draw from their own random source, so that the result
    does not depend on the number of threads.
    """
    net = _net(roads, ahead)
    n = len(legs.root)
    count = len(chunks(n))
    stops, errors = rng.spawn(count), rng.spawn(count)
    offsets = np.zeros(n + 1, dtype=np.int64)

    def measure(chunk: int, start: int, stop: int) -> None:
        # A copy: the stops are drawn again, the same ones, when the points are written.
        source = copy.deepcopy(stops[chunk])
        _measure(net, legs.root, legs.node, legs.outward, legs.pace, recorder, start, stop, source, offsets)

    def write(chunk: int, start: int, stop: int) -> None:
        _write(
            net,
            legs.root,
            legs.node,
            legs.outward,
            legs.pace,
            legs.depart,
            recorder,
            start,
            stop,
            stops[chunk],
            errors[chunk],
            tracks,
        )

    map_chunks(measure, n)
    np.cumsum(offsets, out=offsets)
    points = int(offsets[-1])
    tracks = Tracks(np.empty(points), np.empty(points), np.empty(points), offsets)
    map_chunks(write, n)
    return tracks


def travel_seconds(roads: RoadNetwork, ahead: Ints, nodes: Ints) -> Floats:
    """Time from every node in `nodes` to every root of the trees, along the trees, without stops."""
    seconds = np.empty((len(nodes), len(ahead)))
    _travel_seconds(_net(roads, ahead), nodes, Recorder(1.0, 0.0), np.random.default_rng(0), seconds)
    return seconds


def _net(roads: RoadNetwork, ahead: Ints) -> _Net:
    adjacency = roads.adjacency
    return _Net(
        adjacency.indptr, adjacency.indices, adjacency.data - 1, roads.seconds, roads.x, roads.y, ahead
    )


@numba.njit(cache=True, nogil=True)
def _travel_seconds(net, nodes, recorder, rng, seconds):  # type: ignore[no-untyped-def]
    path = np.empty(len(net.x), dtype=np.int32)
    arrive, leave = np.empty(len(net.x)), np.empty(len(net.x))
    for k in range(len(nodes)):
        for root in range(len(net.ahead)):
            count, _, _ = _route(net, root, nodes[k], False, 1.0, recorder, rng, path, arrive, leave)
            seconds[k, root] = arrive[count - 1]


@numba.njit(cache=True, nogil=True)
def _route(net, root, node, outward, pace, recorder, rng, path, arrive, leave):  # type: ignore[no-untyped-def]
    """Nodes of a leg and when it reaches and leaves them; returns how many, `head` and `tail`.

    The leg begins at the share `head` of its first edge and ends at the share `tail` of its last one.
    """
    count = 0
    while node >= 0:
        path[count] = node
        count += 1
        node = net.ahead[root, node]
    if outward:
        for k in range(count // 2):
            path[k], path[count - 1 - k] = path[count - 1 - k], path[k]
    head, tail = 0.0, 1.0
    if recorder.along_street:
        head, tail = 0.5 * rng.random(), 1.0 - 0.5 * rng.random()
    arrive[0] = leave[0] = 0.0
    for k in range(1, count):
        slot = net.first[path[k - 1]]
        while net.neighbour[slot] != path[k]:
            slot += 1
        share = 1.0
        if k == 1:
            share -= head
        if k == count - 1:
            share -= 1.0 - tail
        arrive[k] = leave[k - 1] + share * pace * net.seconds[net.edge[slot]]
        leave[k] = arrive[k]
        if k < count - 1 and recorder.stop_chance > 0.0 and rng.random() < recorder.stop_chance:
            leave[k] += recorder.stop_seconds * rng.standard_exponential()
    return count, head, tail


@numba.njit(cache=True, nogil=True)
def _measure(net, root, node, outward, pace, recorder, start, stop, stops, sizes):  # type: ignore[no-untyped-def]
    """Number of points of the legs start..stop, written at `sizes[1 + leg]`."""
    path = np.empty(len(net.x), dtype=np.int32)
    arrive, leave = np.empty(len(net.x)), np.empty(len(net.x))
    for k in range(start, stop):
        count, _, _ = _route(net, root[k], node[k], outward[k], pace[k], recorder, stops, path, arrive, leave)
        sizes[k + 1] = 1 + max(1, int(np.ceil(arrive[count - 1] / recorder.interval)))


@numba.njit(cache=True, nogil=True)
def _write(  # type: ignore[no-untyped-def]
    net, root, node, outward, pace, depart, recorder, start, stop, stops, errors, tracks
):
    """Points of the legs start..stop. The GPS error drifts: a first-order autoregressive process."""
    path = np.empty(len(net.x), dtype=np.int32)
    arrive, leave = np.empty(len(net.x)), np.empty(len(net.x))
    keep = np.exp(-recorder.interval / GPS_MEMORY)
    fresh = recorder.noise * np.sqrt(1.0 - keep * keep)
    limit = GPS_LIMIT * recorder.noise
    for k in range(start, stop):
        count, head, tail = _route(
            net, root[k], node[k], outward[k], pace[k], recorder, stops, path, arrive, leave
        )
        ex = recorder.noise * errors.standard_normal()
        ey = recorder.noise * errors.standard_normal()
        edge = 1
        for p in range(tracks.offsets[k], tracks.offsets[k + 1]):
            passed = (p - tracks.offsets[k]) * recorder.interval
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
            tracks.x[p] = net.x[before] + share * (net.x[after] - net.x[before]) + ex
            tracks.y[p] = net.y[before] + share * (net.y[after] - net.y[before]) + ey
            tracks.t[p] = depart[k] + passed
            ex = keep * ex + fresh * errors.standard_normal()
            ey = keep * ey + fresh * errors.standard_normal()
