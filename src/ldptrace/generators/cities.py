"""Trips by car: in a city that does not exist, or on a road network that does."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.core.crs import WGS84, LocalPlane
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.generators.legs import GPS_LIMIT, Recorder, fastest_only, known_seconds, map_bounds
from ldptrace.generators.streets import MARGIN, CityMap, both_ways
from ldptrace.generators.traffic import Seed, Traffic, attraction, checked_minutes, natural_hubs, whole
from ldptrace.roads.classes import STREET, rank_speed
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.readers import read_roads
from ldptrace.roads.readers.folder import read_pair

# Metres of the side of a city: its streets then fill some gigabytes.
LARGEST = 200_000


def city(
    trajectories: int = 10_000,
    seed: Seed = None,
    *,
    size: float = 20_000.0,
    interval: float = 15.0,
    noise: float = 8.0,
    minutes: float | None = 11.0,
) -> Trajectories:
    """Return trips by car in a generated city of `size` x `size` metres; `t` is in seconds after midnight.

    Points come every `interval` seconds with a GPS error of `noise` metres (standard deviation). A trip
    takes `minutes` on average. All points lie in the bounds (0, 0, size, size), which are known beforehand
    and therefore public. The seed decides everything; the same seed with another number of trajectories is
    the same city.

    >>> trips = city(50, seed=1, size=4_000, minutes=3)
    >>> len(trips), bool(trips.sizes.min() >= 2)
    (50, True)
    """
    count = whole(trajectories)
    world, day = np.random.default_rng(seed).spawn(2)
    return city_traffic(world, size=size, interval=interval, noise=noise, minutes=minutes).trips(count, day)


def city_traffic(
    seed: Seed = None,
    *,
    size: float = 20_000.0,
    interval: float = 15.0,
    noise: float = 8.0,
    minutes: float | None = 11.0,
) -> Traffic:
    """Return a generated city with its destinations, ready to draw trips, also in batches; `network` is its roads."""
    if not 3000 <= size <= LARGEST:
        raise InputError(f"a city needs a side of 3,000 to {LARGEST:,} metres, got {size!r}")
    recorder, minutes = Recorder.driving(interval, noise), checked_minutes(minutes)
    if noise * GPS_LIMIT > MARGIN * size:
        raise InputError(
            f"noise may be up to {MARGIN * size / GPS_LIMIT:g} metres in a city of {size:g}, got {noise:g}"
        )
    rng = np.random.default_rng(seed)
    town = CityMap.generate(float(size), rng)
    hubs, roads = town.hubs, both_ways(town.roads)
    weights = attraction(roads, hubs.x, hubs.y, hubs.pull, hubs.reach)
    return Traffic.prepare(roads, weights, recorder, minutes, (0.0, 0.0, town.size, town.size), rng)


def network_traffic(
    nodes: str | Path | RoadNetwork,
    edges: str | Path | None = None,
    seed: Seed = None,
    *,
    interval: float = 15.0,
    noise: float = 8.0,
    minutes: float | None = None,
) -> Traffic:
    """Return a road network with its hubs and destinations, ready to draw trips.

    The network is two tables of nodes and edges, any file that `read_roads` reads, or a `RoadNetwork`. Trips
    follow its lines and its one-way streets; roads of which nothing is known count as residential streets. Coordinates
    come out as they went in: planar units taken as metres, or degrees (`crs` "EPSG:4326").
    """
    rng = np.random.default_rng(seed)
    recorder = Recorder.driving(interval, noise)
    given, plane = _in_metres(nodes, edges)
    roads = _passable(given)
    weights = attraction(roads, *natural_hubs(roads, rng))
    bounds = map_bounds(roads.x, roads.y, GPS_LIMIT * noise, plane)
    traffic = Traffic.prepare(roads, weights, recorder, minutes, bounds, rng, plane)
    return replace(traffic, public=given if plane is None else given.moved(plane.to_degrees, WGS84))


def _in_metres(
    nodes: str | Path | RoadNetwork, edges: str | Path | None
) -> tuple[RoadNetwork, LocalPlane | None]:
    """Return the largest connected part of the network, and the plane it was laid on if it came in degrees."""
    if edges is not None and not isinstance(nodes, RoadNetwork):
        streets = read_pair(Path(nodes), Path(edges))
        plane = LocalPlane.around(streets.x, streets.y) if streets.crs == WGS84 else None
        x, y = (streets.x, streets.y) if plane is None else plane.to_metres(streets.x, streets.y)
        shape = streets.shape
        if plane is not None and shape is not None:
            shape = (*plane.to_metres(shape[0], shape[1]), shape[2])
        # People drive along the lines: their length counts, not the one that a table says.
        laid = replace(streets, x=x, y=y, shape=shape, length=None, crs=None)
        roads = laid.network("car", str(edges)).largest_component()
    else:
        network = nodes if isinstance(nodes, RoadNetwork) else read_roads(nodes)
        plane = LocalPlane.around(network.x, network.y) if network.is_geographic else None
        roads = network if plane is None else network.moved(plane.to_metres, None)
    cut_off = sum(roads.account.dropped_nodes.values())
    if cut_off:
        warnings.warn(
            f"{cut_off:,} of {roads.nodes + cut_off:,} nodes are cut off and stay empty", stacklevel=3
        )
    if roads.seconds is None:
        return replace(roads, seconds=roads.length / rank_speed(STREET)), plane
    return roads, plane


def _passable(roads: RoadNetwork) -> RoadNetwork:
    """Return the network as it is driven: straight pieces, and the fastest of several between the same nodes."""
    seconds = known_seconds(roads)
    pieces = _straightened(roads, seconds)
    return pieces.take_edges(fastest_only(pieces, seconds if pieces.seconds is None else pieces.seconds))


def _straightened(roads: RoadNetwork, seconds: Floats) -> RoadNetwork:
    """Return the same network where every bend of a street is a node; time passes evenly along a street."""
    if roads.shape_x is None or roads.shape_y is None or len(roads.shape_x) == 0:
        return replace(roads, shape_x=None, shape_y=None, shape_offsets=None)
    x, y, offsets = roads.lines(np.arange(roads.edges))
    sizes = np.diff(offsets)
    owner = np.repeat(np.arange(roads.edges), sizes)
    bend = np.ones(len(x), dtype=bool)
    bend[offsets[:-1]] = bend[offsets[1:] - 1] = False
    node = roads.nodes + np.cumsum(bend) - 1
    node[offsets[:-1]], node[offsets[1:] - 1] = roads.source, roads.target
    first = np.setdiff1d(np.arange(len(x)), offsets[1:] - 1)
    along = np.maximum(np.hypot(x[first + 1] - x[first], y[first + 1] - y[first]), 1e-3)
    edge = owner[first]
    whole = np.bincount(edge, weights=along, minlength=roads.edges)
    return RoadNetwork.of(
        np.r_[roads.x, x[bend]],
        np.r_[roads.y, y[bend]],
        node[first],
        node[first + 1],
        length=along,
        seconds=seconds[edge] * along / whole[edge],
        road_class=roads.road_class[edge],
        classes=roads.classes,
        name=roads.name,
    )


# Settings of a city whose trips resemble a set of the paper.
PRESETS: dict[str, dict[str, Any]] = {
    "oldenburg": {"size": 30_000.0, "interval": 15.6, "minutes": 17.8},
    "porto": {"size": 13_000.0, "interval": 15.0, "minutes": 8.15},
}
