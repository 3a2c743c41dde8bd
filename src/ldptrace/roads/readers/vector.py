"""Files of lines: GeoJSON by the standard library, GeoPackage and Shapefile by the extra `roads`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.crs import WGS84
from ldptrace.core.layers import read_layer
from ldptrace.core.wkb import LINE, MULTI_LINE
from ldptrace.errors import FormatError
from ldptrace.roads.classes import Mode
from ldptrace.roads.readers.lines import Lines
from ldptrace.roads.readers.streets import Streets
from ldptrace.roads.readers.tags import Tags

Json = Any
# Columns that other makers name otherwise; the names of OpenStreetMap come first.
SYNONYMS = {
    "highway": ("highway", "fclass", "class", "edge_class", "road_class", "type", "mtfcc"),
    "oneway": ("oneway", "one_way", "oneway_s"),
    "maxspeed": ("maxspeed", "max_speed", "speedlimit", "speed_limit", "speed_lim"),
    "speed_kmh": ("speed_kmh", "speed_kph"),
}


def read_geojson(path: Path, mode: Mode) -> Streets:
    """The streets of the LineString and MultiLineString features of a file."""
    try:
        content = path.read_bytes()
        document = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    except (ValueError, OSError) as error:
        raise FormatError(f"this is not GeoJSON: {error}") from None
    features = document.get("features", [document]) if isinstance(document, dict) else None
    if not isinstance(features, list):
        raise FormatError("this is JSON, but not a FeatureCollection of lines")
    lines: list[list[list[float]]] = []
    tags: list[Tags] = []
    numbers: list[int] = []
    for number, feature in enumerate(features, 1):
        try:
            geometry = feature.get("geometry", feature) or {}
            if geometry.get("type") in ("LineString", "MultiLineString"):
                coordinates = geometry["coordinates"]
                own = [coordinates] if geometry["type"] == "LineString" else coordinates
                lines += own
                tags += [plain_tags(feature.get("properties") or {})] * len(own)
                numbers += [number - 1] * len(own)
        except (AttributeError, KeyError, TypeError):
            raise FormatError(f"feature {number} is broken") from None
    try:
        points = np.array([point[:2] for line in lines for point in line], dtype=np.float64).reshape(-1, 2)
    except (TypeError, ValueError):
        raise FormatError("a coordinate is not a pair of numbers") from None
    offsets = np.cumsum([0, *map(len, lines)])
    crs = _geojson_crs(document)
    ids = edge_ids(tags, numbers)
    return Lines(points[:, 0], points[:, 1], offsets, tags, crs, "GeoJSON", ids=ids).streets(mode)


def read_ogr(path: Path, mode: Mode) -> Streets:
    """The streets of a GeoPackage, a Shapefile, or another file of lines that GDAL reads."""
    # OSMnx names its two layers nodes and edges.
    layer = read_layer(path, ("LineString",), prefer="edges")
    shapes = layer.shapes.only((LINE, MULTI_LINE))
    rows = [plain_tags(row) for row in layer.columns.to_pylist()] or [{}] * len(shapes.kind)
    numbers = shapes.row.tolist()
    tags = [rows[number] for number in numbers]
    kind = {".gpkg": "GeoPackage", ".shp": "Shapefile"}.get(path.suffix.lower(), "lines")
    return Lines(
        *(shapes.x, shapes.y, shapes.offsets, tags, layer.crs, kind, layer.notes), edge_ids(tags, numbers)
    ).streets(mode)


def plain_tags(properties: dict[str, Json]) -> Tags:
    """The properties of a feature as tags of OpenStreetMap, as far as their names allow.

    >>> plain_tags({"FCLASS": "primary", "oneway": True, "lanes": None})
    {'fclass': 'primary', 'oneway': 'yes', 'highway': 'primary'}
    """
    tags = {name.lower(): _text(value) for name, value in properties.items() if _text(value)}
    for name, synonyms in SYNONYMS.items():
        found = next((tags[synonym] for synonym in synonyms if synonym in tags), None)
        if found is not None:
            tags[name] = found.strip("[]").split(",")[0].strip(" '\"").lower()
    return tags


def edge_ids(tags: list[Tags], numbers: list[int]) -> list[str]:
    """The name of each line: its `edge_id`, where all have one, or the number of its feature.

    >>> edge_ids([{"edge_id": "a7"}], [0]), edge_ids([{}], [0])
    (['a7'], ['0'])
    """
    named = [own.get("edge_id", "") for own in tags]
    return named if all(named) else [str(number) for number in numbers]


def _text(value: Json) -> str:
    """A value as a tag; nothing for what is not there."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, list):
        return _text(value[0]) if value else ""
    text = str(value).strip()
    return text.removesuffix(".0") if isinstance(value, float) else text


def _geojson_crs(document: Json) -> str | None:
    """Degrees, as the standard says, unless an old member `crs` says otherwise."""
    named = document.get("crs") if isinstance(document, dict) else None
    if not named:
        return WGS84
    name = str((named.get("properties") or {}).get("name", "")) if isinstance(named, dict) else ""
    if "CRS84" in name:
        return WGS84
    code = name.rpartition(":")[2]
    return f"EPSG:{code}" if code.isdecimal() else None
