"""Areas from GeoJSON: the polygons of a file, whatever they are named."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ldptrace.core.area import Area
from ldptrace.errors import FormatError, InputError

Json = Any


def read_area(path: str | Path) -> Area:
    """All polygons of a GeoJSON file as one area; coordinates must be those of the trajectories."""
    source = Path(path)
    if not source.is_file():
        raise InputError(f"there is no file {source}")
    try:
        content = source.read_bytes()
        document = json.loads(gzip.decompress(content) if source.suffix == ".gz" else content)
    except (ValueError, OSError) as error:
        raise FormatError(f"{source}: this is not GeoJSON: {error}") from None
    try:
        polygons = list(_polygons(document))
        if not polygons:
            raise FormatError("there are no polygons in it")
        return Area.of(polygons)
    except InputError as error:
        raise type(error)(f"{source}: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError, IndexError):
        raise FormatError(f"{source}: a polygon is broken") from None


def _polygons(node: Json) -> Iterator[Json]:
    kind = node["type"]
    if kind == "Polygon":
        yield node["coordinates"]
    elif kind == "MultiPolygon":
        yield from node["coordinates"]
    elif kind == "Feature" and node["geometry"] is not None:
        yield from _polygons(node["geometry"])
    elif kind == "FeatureCollection":
        for feature in node["features"]:
            yield from _polygons(feature)
    elif kind == "GeometryCollection":
        for geometry in node["geometries"]:
            yield from _polygons(geometry)
