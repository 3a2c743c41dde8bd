"""Small road networks for the tests, and small files of roads that tests write for themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.roads.network import RoadNetwork

# A block of about 100 m a side, in degrees, and the ends of a street through its middle.
CORNERS = {1: (13.400, 52.500), 2: (13.4015, 52.500), 3: (13.4015, 52.501), 4: (13.400, 52.501)}
MIDDLE = {5: (13.40075, 52.500), 6: (13.40075, 52.501)}
PLACES = CORNERS | MIDDLE

Feature = dict[str, Any]


def lattice_roads(k: int = 5, block: float = 100.0, **more: object) -> RoadNetwork:
    """k x k junctions, all streets both ways."""
    number = np.arange(k * k).reshape(k, k)
    here = np.r_[number[:-1].ravel(), number[:, :-1].ravel()]
    there = np.r_[number[1:].ravel(), number[:, 1:].ravel()]
    i, j = np.divmod(np.arange(k * k), k)
    return RoadNetwork.of(i * block, j * block, np.r_[here, there], np.r_[there, here], **more)  # type: ignore[arg-type]


def square(**more: object) -> RoadNetwork:
    """Four corners 100 apart, both ways round, and a one-way street out to a fifth node."""
    there, back = [0, 1, 2, 3], [1, 2, 3, 0]
    return RoadNetwork.of(
        [0, 100, 100, 0, 300],
        [0, 0, 100, 100, 0],
        [*there, *back, 1],
        [*back, *there, 4],
        **more,  # type: ignore[arg-type]
    )


def scattered_roads(nodes: int = 60, seed: int = 0, **more: object) -> RoadNetwork:
    """Junctions at random places of a square of 1000, each joined to its four nearest, strongly connected."""
    rng = np.random.default_rng(seed)
    x, y = rng.random((2, nodes)) * 1000
    apart = np.hypot(np.subtract.outer(x, x), np.subtract.outer(y, y))
    near = np.argsort(apart, axis=1)[:, 1:5]
    pairs = {(int(a), int(b)) for a in range(nodes) for b in near[a]}
    both = sorted(pairs | {(b, a) for a, b in pairs})
    source, target = np.array(both).T
    return RoadNetwork.of(x, y, source, target, **more).largest_component()  # type: ignore[arg-type]


def feature(points: list[tuple[float, float]], **tags: object) -> Feature:
    """A line with properties."""
    line = {"type": "LineString", "coordinates": [list(point) for point in points]}
    return {"type": "Feature", "geometry": line, "properties": tags}


def block() -> list[Feature]:
    """The block: a ring drawn as one line, a one-way street through it with a bend, and a footway."""
    ring = [PLACES[k] for k in (1, 5, 2, 3, 6, 4, 1)]
    return [
        feature(ring, highway="residential", maxspeed="30"),
        feature([MIDDLE[5], (13.4008, 52.5005), MIDDLE[6]], highway="living_street", oneway="yes"),
        feature([CORNERS[1], (13.39, 52.5)], highway="footway"),
    ]


def write_geojson(path: Path, features: list[Feature], **more: object) -> Path:
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features, **more}))
    return path


def write_pbf(path: Path, features: list[Feature], missing: frozenset[int] = frozenset()) -> Path:
    """An OpenStreetMap extract of the lines; nodes of `missing` are named by ways and not written."""
    import osmium

    nodes: dict[tuple[float, float], int] = {}
    ways = []
    for line in features:
        points = [tuple(point) for point in line["geometry"]["coordinates"]]
        ways.append(([nodes.setdefault(point, len(nodes) + 1) for point in points], line["properties"]))
    with osmium.SimpleWriter(str(path)) as writer:
        for place, number in nodes.items():
            if number not in missing:
                writer.add_node(osmium.osm.mutable.Node(id=number, location=place))
        for number, (refs, tags) in enumerate(ways, 1):
            writer.add_way(osmium.osm.mutable.Way(id=number, nodes=refs, tags=tags))
    return path
