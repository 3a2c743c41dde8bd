"""Read OpenStreetMap extracts (`.osm.pbf`, `.osm`); needs `pip install 'ldptrace[roads]'`."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.crs import WGS84
from ldptrace.core.extras import needed
from ldptrace.errors import FormatError
from ldptrace.roads.classes import Mode
from ldptrace.roads.readers.lines import Lines
from ldptrace.roads.readers.streets import Streets

USEFUL = (
    *("name", "highway", "oneway", "oneway:bicycle", "junction", "maxspeed", "service", "area"),
    *("access", "vehicle", "motor_vehicle", "motorcar", "bicycle", "foot"),
    *("cycleway", "cycleway:left", "cycleway:right", "cycleway:both"),
)


def read(path: Path, mode: Mode) -> Streets:
    """Read the streets of an extract: its ways with a tag `highway`, cut at the nodes that they share."""
    osmium = needed("osmium", "roads")
    refs: list[int] = []
    lon: list[float] = []
    lat: list[float] = []
    ends = [0]
    tags: list[dict[str, str]] = []
    ids: list[str] = []
    outside = 0
    ways = (
        osmium.FileProcessor(str(path), osmium.osm.NODE | osmium.osm.WAY)
        .with_locations()
        .with_filter(osmium.filter.EntityFilter(osmium.osm.WAY))
        .with_filter(osmium.filter.KeyFilter("highway"))
    )
    try:
        for way in ways:
            own = {name: way.tags[name] for name in USEFUL if name in way.tags}
            nodes: list[Any] = list(way.nodes)  # the filter leaves ways only
            # Nodes outside of an extract have no place: there the way is interrupted.
            for placed, run in groupby(nodes, key=lambda node: node.location.valid()):
                if not placed:
                    outside += 1
                    continue
                part = list(run)
                refs += [node.ref for node in part]
                lon += [node.lon for node in part]
                lat += [node.lat for node in part]
                ends.append(len(refs))
                tags.append(own)
                ids.append(str(way.id))
    except (RuntimeError, ValueError) as error:
        raise FormatError(f"this is not an OpenStreetMap extract: {error}") from None
    cut_off = (f"ways reach beyond the extract in {outside:,} places and were cut off there",)
    lines = Lines(
        *(np.array(lon), np.array(lat), np.array(ends), tags, WGS84, "OpenStreetMap"),
        notes=cut_off if outside else (),
        ids=ids,
    )
    return lines.streets(mode, np.array(refs, dtype=np.int64))
