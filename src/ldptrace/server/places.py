"""Names of places in the files of a road network: nodes with a name, and the places of OpenStreetMap."""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from pathlib import Path

# Kinds of places by their size; others come last.
KINDS = ("city", "borough", "town", "suburb", "village", "quarter", "neighbourhood", "hamlet", "locality")
X, Y = ("x", "lon", "longitude"), ("y", "lat", "latitude")


@dataclass(frozen=True)
class Place:
    """A name and where it is; `rank` is smaller for larger places."""

    x: float
    y: float
    name: str
    rank: int


def places_in(path: Path) -> list[Place]:
    """The named places of a network; none where its format has none."""
    if path.is_dir():
        found = [one for one in (path / "nodes.csv", path / "nodes.csv.gz") if one.exists()]
        return _of_nodes(found[0]) if found else []
    if ".osm" in path.name.lower() or path.suffix.lower() == ".pbf":
        return _of_openstreetmap(path)
    return []


def _of_nodes(path: Path) -> list[Place]:
    """Nodes with something in a column `name`; a column `place` says what kind of place it is."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = csv.DictReader(io.StringIO(data.decode("utf-8-sig", "replace")))
    columns = {name.strip().lower(): name for name in rows.fieldnames or ()}
    x, y = (next((columns[name] for name in names if name in columns), None) for names in (X, Y))
    if "name" not in columns or x is None or y is None:
        return []
    places = []
    for row in rows:
        name = (row[columns["name"]] or "").strip()
        kind = (row[columns["place"]] or "").strip() if "place" in columns else ""
        try:
            point = float(row[x]), float(row[y])
        except (TypeError, ValueError):
            continue
        if name and name.isprintable():
            places.append(Place(*point, name[:60], _rank(kind)))
    return places


def _of_openstreetmap(path: Path) -> list[Place]:
    import osmium

    nodes = (
        osmium.FileProcessor(str(path), osmium.osm.NODE)
        .with_filter(osmium.filter.EntityFilter(osmium.osm.NODE))
        .with_filter(osmium.filter.KeyFilter("place"))
    )
    places = []
    for node in nodes:
        name, kind = node.tags.get("name", ""), node.tags.get("place", "")
        if name and name.isprintable() and kind in KINDS:
            places.append(Place(node.lon, node.lat, name[:60], _rank(kind)))  # type: ignore[union-attr]
    return places


def _rank(kind: str) -> int:
    """How small a kind of place is.

    >>> _rank("city"), _rank("suburb"), _rank("bench")
    (0, 3, 9)
    """
    return KINDS.index(kind) if kind in KINDS else len(KINDS)
