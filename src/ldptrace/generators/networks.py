"""Trips on a given road network: nodes and edges from two tables."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError
from ldptrace.generators.legs import GPS_LIMIT, Recorder
from ldptrace.generators.plane import LocalPlane, map_bounds
from ldptrace.generators.roads import Floats, Ints, RoadNetwork
from ldptrace.generators.tables import find, need, numbers, positions, read_table
from ldptrace.generators.traffic import Attraction, Seed, Traffic, natural_hubs, whole

# Metres per second of class 0 and of the last; each class is slower than the one before by a factor.
FASTEST, SLOWEST, SLOWER = 22.0, 4.0, 1.35
STREET = 3

# Classes of OpenStreetMap's `highway` tag; links to a road count as the road.
HIGHWAY = {
    "motorway": 0,
    "trunk": 0,
    "primary": 1,
    "secondary": 2,
    "tertiary": 2,
    "unclassified": STREET,
    "residential": STREET,
    "road": STREET,
    "living_street": 4,
    "service": 5,
    "track": 6,
}


def network(
    nodes: str | Path,
    edges: str | Path,
    trajectories: int = 10_000,
    seed: Seed = None,
    *,
    interval: float = 15.0,
    noise: float = 8.0,
    minutes: float | None = None,
) -> Trajectories:
    """Trips on the road network of two tables; see `read_network` for the tables and `city` for the trips.

    Coordinates come out as they went in: planar units taken as metres, or degrees (`crs` "EPSG:4326").
    """
    count = whole(trajectories)
    world, day = np.random.default_rng(seed).spawn(2)
    traffic = network_traffic(nodes, edges, world, interval=interval, noise=noise, minutes=minutes)
    return traffic.trips(count, day)


def network_traffic(
    nodes: str | Path,
    edges: str | Path,
    seed: Seed = None,
    *,
    interval: float = 15.0,
    noise: float = 8.0,
    minutes: float | None = None,
) -> Traffic:
    """The network of two tables with its hubs and destinations, ready to draw trips."""
    rng = np.random.default_rng(seed)
    roads, plane = read_network(nodes, edges)
    attraction = Attraction.around(roads, *natural_hubs(roads, rng))
    recorder = Recorder.driving(interval, noise)
    bounds = map_bounds(roads.x, roads.y, GPS_LIMIT * noise, plane)
    return Traffic.prepare(roads, attraction, recorder, minutes, bounds, rng, plane)


def read_network(nodes: str | Path, edges: str | Path) -> tuple[RoadNetwork, LocalPlane | None]:
    """The largest connected part of the network, and the plane it was laid on if it came in degrees.

    Nodes: an identifier (`node_id`, `id`, ...) with `x` and `y`, or `lon` and `lat`. Edges: two node
    identifiers (`node1` and `node2`, `from` and `to`, `u` and `v`, ...) and a road class (`edge_class`,
    `class`, `highway`), a number from 0 for the fastest or a word of OpenStreetMap; without one all edges
    are streets.
    """
    node_table, edge_table = read_table(nodes), read_table(edges)
    x, y, in_degrees = positions(node_table, nodes)
    plane = LocalPlane.around(x, y) if in_degrees else None
    if plane is not None:
        x, y = plane.to_metres(x, y)
    name = need(node_table, ("node_id", "id", "osmid", "node", "nid"), nodes)
    identifiers = node_table[name].combine_chunks()
    if len(pc.unique(identifiers)) < len(identifiers):
        raise FormatError(f"column {name} of {nodes} names a node twice")
    start = _node_numbers(
        edge_table, ("node1", "from", "u", "source", "start", "start_node"), identifiers, edges
    )
    end = _node_numbers(edge_table, ("node2", "to", "v", "target", "end", "end_node"), identifiers, edges)
    kind = _classes(edge_table, edges)
    speed: Floats = np.maximum(FASTEST / SLOWER**kind, SLOWEST)
    roads = RoadNetwork(x, y, start, end, kind, speed)
    connected = roads.cleaned()
    if connected.nodes < roads.nodes:
        warnings.warn(
            f"{roads.nodes - connected.nodes:,} of {roads.nodes:,} nodes are cut off and stay empty",
            stacklevel=2,
        )
    return connected, plane


def _node_numbers(table: pa.Table, names: tuple[str, ...], identifiers: pa.Array, path: str | Path) -> Ints:
    name = need(table, names, path)
    try:
        ends = pc.cast(table[name], identifiers.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise FormatError(f"column {name} of {path} does not hold identifiers of nodes") from None
    found = pc.index_in(ends, value_set=identifiers)
    if found.null_count:
        line = pc.is_null(found).to_numpy(zero_copy_only=False).argmax()
        raise FormatError(
            f"line {line + 2} of {path} names a node that does not exist: {ends[line].as_py()!r}"
        )
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int32)


def _classes(table: pa.Table, path: str | Path) -> Ints:
    name = find(table, ("edge_class", "class", "highway", "road_class", "kind", "fclass"))
    if name is None:
        return np.full(table.num_rows, STREET, dtype=np.int32)
    column = table[name]
    if pa.types.is_string(column.type):
        words = pc.replace_substring_regex(column, "_link$", "")
        found = pc.index_in(words, value_set=pa.array(list(HIGHWAY)))
        if found.null_count:
            unknown = column.filter(pc.is_null(found))[0].as_py()
            raise FormatError(
                f"column {name} of {path} holds the road class {unknown!r}; "
                f"known are whole numbers from 0 and {', '.join(HIGHWAY)}"
            )
        return np.array(list(HIGHWAY.values()), dtype=np.int32)[found.to_numpy(zero_copy_only=False)]
    classes = numbers(table, name, path)
    if np.any((classes < 0) | (classes != np.floor(classes))):
        raise FormatError(f"column {name} of {path} must hold whole numbers from 0, the fastest roads")
    return np.minimum(classes, 99).astype(np.int32)
