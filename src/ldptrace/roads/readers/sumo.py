"""Read SUMO networks (`.net.xml`): edges between junctions, their lanes, and the coordinate system."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.core.crs import WGS84
from ldptrace.core.extras import needed
from ldptrace.errors import FormatError
from ldptrace.roads.classes import Mode
from ldptrace.roads.network import Offsets
from ldptrace.roads.readers.streets import KMH, Streets, coded

# What SUMO calls those who travel in each way.
VEHICLES = {"car": "passenger", "bicycle": "bicycle", "foot": "pedestrian"}
# SUMO's word for coordinates without a projection.
PLANAR = "!"


def read(path: Path, mode: Mode) -> Streets:
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
