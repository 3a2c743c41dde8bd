"""Read networks that are XML: those of SUMO (`.net.xml`), with edges between junctions and their lanes, and GraphML as
OSMnx writes it, in degrees or projected."""

from __future__ import annotations

import ast
import gzip
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.core.crs import WGS84
from ldptrace.core.extras import needed
from ldptrace.core.values import NUMBER
from ldptrace.errors import FormatError
from ldptrace.roads.classes import FORWARD, Mode, limit_kmh, way_class
from ldptrace.roads.network import Offsets
from ldptrace.roads.readers.lines import from_wkt
from ldptrace.roads.readers.streets import KMH, Streets, coded

# What SUMO calls those who travel in each way.
VEHICLES = {"car": "passenger", "bicycle": "bicycle", "foot": "pedestrian"}
# SUMO's word for coordinates without a projection.
PLANAR = "!"


def read_sumo(path: Path, mode: Mode) -> Streets:
    """Read the streets of a network: the edges that the mode may use, each in one direction, with their ids."""
    location: dict[str, str] = {}
    places: dict[str, tuple[float, float]] = {}
    edges: list[tuple[dict[str, str], list[dict[str, str]]]] = []
    dropped: Counter[str] = Counter()
    for element in elements(path, {"location", "junction", "edge"}):
        own = dict(element.attrib)
        if element.tag == "location":
            location = own
        elif element.tag == "junction":
            places[own["id"]] = float(own["x"]), float(own["y"])
        elif own.get("function", "normal") == "normal":
            lanes = [dict(lane.attrib) for lane in element.findall("lane")]
            open_lanes = [lane for lane in lanes if open_to(lane, VEHICLES[mode])]
            if open_lanes:
                edges.append((own, open_lanes))
            else:
                dropped[f"not for a {VEHICLES[mode]}"] += 1
    if not edges:
        raise FormatError(f"there are no edges for a {VEHICLES[mode]} in it")
    number = {name: place for place, name in enumerate(places)}
    try:
        start, end = (
            np.array([number[own[side]] for own, _ in edges], dtype=np.int32) for side in ("from", "to")
        )
    except KeyError as error:
        raise FormatError(
            f"an edge leads to the junction {error.args[0]!r}, which the file does not have"
        ) from None
    xy, shape = np.array(list(places.values())), _shapes(edges)
    x, y, crs = _placed(xy[:, 0], xy[:, 1], location)
    shape_x, shape_y, _ = _placed(shape[0], shape[1], location)
    # Networks that were made from OpenStreetMap have its names of classes.
    kinds = [own.get("type", "").rpartition("highway.")[2].partition("|")[0] for own, _ in edges]
    return Streets(
        x,
        y,
        start,
        end,
        np.ones(len(edges), dtype=np.bool_),
        np.zeros(len(edges), dtype=np.bool_),
        *coded(kinds),
        length=np.array([float(lanes[0]["length"]) for _, lanes in edges]),
        speed=KMH * np.array([float(lanes[0]["speed"]) for _, lanes in edges]),
        shape=(shape_x, shape_y, shape[2]),
        crs=crs,
        format="SUMO network",
        dropped=dropped,
        ids=np.array([own["id"] for own, _ in edges]).astype(np.str_),
        names=np.array([own.get("name", "") for own, _ in edges]).astype(np.str_),
    )


def elements(path: Path, tags: set[str], what: str = "a network of SUMO") -> Iterator[ElementTree.Element]:
    """Yield the elements of a network with these tags, in any namespace."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for _, element in ElementTree.iterparse(file):
                element.tag = element.tag.rpartition("}")[2]
                if element.tag in tags:
                    yield element
                if element.tag in ("junction", "node", "edge", "connection"):
                    element.clear()
    except (ElementTree.ParseError, OSError, EOFError) as error:
        raise FormatError(f"this is not {what}: {error}") from None


def open_to(lane: Mapping[str, str], vehicle: str) -> bool:
    """Whether a lane or a connection allows a kind of vehicle. Without a rule, it allows all.

    >>> open_to({"allow": "pedestrian bicycle"}, "passenger"), open_to({"disallow": "tram"}, "passenger")
    (False, True)
    """
    if "allow" in lane:
        return bool({vehicle, "all"} & set(lane["allow"].split()))
    return not {vehicle, "all"} & set(lane.get("disallow", "").split())


def _shapes(edges: list[tuple[dict[str, str], list[dict[str, str]]]]) -> tuple[Floats, Floats, Offsets]:
    """Return the points of each edge between its junctions."""
    lines = [
        [point.split(",")[:2] for point in (own.get("shape") or lanes[0]["shape"]).split()][1:-1]
        for own, lanes in edges
    ]
    points = np.array([point for line in lines for point in line], dtype=np.float64).reshape(-1, 2)
    return points[:, 0], points[:, 1], np.cumsum([0, *map(len, lines)])


def _placed(x: Floats, y: Floats, location: dict[str, str]) -> tuple[Floats, Floats, str | None]:
    """Return the coordinates of a network in degrees if it states its projection, otherwise as they were before
    `netconvert` moved them."""
    projection = location.get("projParameter", PLANAR)
    dx, dy = (float(part) for part in location.get("netOffset", "0,0").split(","))
    if projection == PLANAR:
        return x - dx, y - dy, None
    pyproj = needed("pyproj")
    try:
        lon, lat = pyproj.Proj(projection)(x - dx, y - dy, inverse=True)
    except pyproj.exceptions.CRSError as error:
        raise FormatError(f"its projection {projection!r} is not known: {error}") from None
    return np.asarray(lon), np.asarray(lat), WGS84


Row = dict[str, str]


def read_graphml(path: Path, mode: Mode) -> Streets:
    """Read the streets of a graph: nodes with x and y, and edges with the attributes of OSMnx."""
    graph, nodes, edges = _parse(path)
    place = {name: number for number, (name, _) in enumerate(nodes)}
    try:
        x, y = (np.array([float(row[axis]) for _, row in nodes]) for axis in ("x", "y"))
    except KeyError as error:
        raise FormatError(f"a node has no attribute {error.args[0]!r}; OSMnx writes x and y") from None
    except ValueError as error:
        raise FormatError(f"a coordinate of a node is not a number: {error}") from None
    judged = [way_class({key: first_word(value) for key, value in row.items()}, mode) for *_, row in edges]
    dropped = Counter(reason for _, reason in judged if reason is not None)
    kept = [edge for edge, (_, reason) in zip(edges, judged, strict=True) if reason is None]
    kind, kinds = coded([kind for kind, reason in judged if reason is None])
    stray = next((end for a, b, _ in kept for end in (a, b) if end not in place), None)
    if stray is not None:
        raise FormatError(f"an edge leads to the node {stray!r}, which the file does not have")
    count = len(kept)
    directed = graph.get("edgedefault") != "undirected"
    # A directed graph has a second edge for the way back; an undirected one only the sign.
    backward = [not directed and row.get("oneway", "").lower() not in FORWARD for *_, row in kept]
    return Streets(
        x,
        y,
        np.array([place[a] for a, _, _ in kept], dtype=np.int32),
        np.array([place[b] for _, b, _ in kept], dtype=np.int32),
        forward=np.ones(count, dtype=bool),
        backward=np.array(backward, dtype=bool),
        kind=kind,
        kinds=kinds,
        length=_attribute(kept, ("length",)),
        seconds=_attribute(kept, ("travel_time", "seconds")),
        speed=_attribute(kept, ("speed_kph", "speed_kmh")),
        limit=np.array([limit_kmh(row.get("maxspeed", "")) for *_, row in kept]),
        shape=from_wkt([row.get("geometry") for *_, row in kept]),
        crs=_label(graph.get("crs")),
        format="GraphML",
        dropped=dropped,
        ids=np.flatnonzero([reason is None for _, reason in judged]).astype(np.str_),
        names=np.array([first_word(row.get("name", "")) for *_, row in kept]).astype(np.str_),
    )


def first_word(text: str) -> str:
    """Return the first of several values, which OSMnx writes if it joined different ways.

    >>> first_word("['residential', 'tertiary']"), first_word("primary")
    ('residential', 'primary')
    """
    if not text.startswith("["):
        return text
    try:
        values = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
    return str(values[0]) if values else ""


def _parse(path: Path) -> tuple[Row, list[tuple[str, Row]], list[tuple[str, str, Row]]]:
    """Return the attributes of the graph, of each node and of each edge, by name."""
    names: dict[str, str] = {}
    graph: Row = {}
    nodes: list[tuple[str, Row]] = []
    edges: list[tuple[str, str, Row]] = []
    for element in elements(path, {"key", "node", "edge", "graph"}, "well-formed XML"):
        if element.tag == "key":
            names[element.get("id", "")] = element.get("attr.name", "")
            continue
        row = {names.get(data.get("key", ""), ""): data.text or "" for data in element if data.tag == "data"}
        if element.tag == "node":
            nodes.append((element.get("id", ""), row))
        elif element.tag == "edge":
            edges.append((element.get("source", ""), element.get("target", ""), row))
        else:
            graph = {"edgedefault": element.get("edgedefault", "directed"), **row}
    if not graph:
        raise FormatError("this is XML, but there is no graph in it")
    return graph, nodes, edges


def _attribute(edges: list[tuple[str, str, Row]], names: tuple[str, ...]) -> Floats:
    """Return the first of these attributes that each edge has as a number; NaN if it has none."""
    words = (first_word(next((row[name] for name in names if name in row), "")) for *_, row in edges)
    return np.array([float(word) if re.match(NUMBER, word) else np.nan for word in words])


def _label(text: str | None) -> str | None:
    """Return the label of a coordinate system. OSMnx writes `epsg:4326`, and long texts for some projections."""
    if not text:
        return None
    return text.upper() if text.lower().startswith("epsg:") else (WGS84 if "WGS84" in text else text)
