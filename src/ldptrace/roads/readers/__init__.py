"""Readers of road networks in common file formats."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ldptrace.errors import FormatError, InputError
from ldptrace.roads.classes import checked_mode
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.readers import folder, lines, xml_graphs

READERS = {
    ".osm.pbf": lines.read_osm,
    ".pbf": lines.read_osm,
    ".osm": lines.read_osm,
    ".osm.gz": lines.read_osm,
    ".osm.bz2": lines.read_osm,
    ".graphml": xml_graphs.read_graphml,
    ".net.xml": xml_graphs.read_sumo,
    ".net.xml.gz": xml_graphs.read_sumo,
    ".geojson": lines.read_geojson,
    ".geojson.gz": lines.read_geojson,
    ".json": lines.read_geojson,
    ".gpkg": lines.read_ogr,
    ".shp": lines.read_ogr,
}


def read_roads(path: str | Path, mode: str = "car", *, connected: bool = True) -> RoadNetwork:
    """Read a road network from a file or folder, for one mode of travel: `car`, `bicycle` or `foot`.

    The formats are OpenStreetMap extracts (`.osm.pbf`), GraphML of OSMnx, SUMO (`.net.xml`), lines in GeoPackage,
    GeoJSON or Shapefile, and a folder with `nodes.csv` and `edges.csv`.

    By default the result is the largest part of the network in which every node can be reached from every other node.
    `connected=False` keeps all parts. The attribute `account` of the result says what was omitted and what was
    assumed.
    """
    means, source = checked_mode(mode), Path(path)
    if not source.exists():
        raise InputError(f"there is no file or folder {source}")
    name = source.name.lower()
    reader = next((read for end, read in READERS.items() if name.endswith(end)), None)
    try:
        if source.is_dir():
            streets = folder.read_pair(*folder.tables_in(source))
        elif reader is not None:
            streets = reader(source, means)
        else:
            raise FormatError(
                f"a road network is a folder with nodes.csv and edges.csv, or a file {', '.join(READERS)}"
            )
        roads = streets.network(means, str(source))
    except InputError as error:
        raise type(error)(f"{source}: {error}") from None
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror or error}") from None
    whole = roads.largest_component() if connected else roads
    # The name is published with the trips: it has no folders of this machine.
    return replace(whole, name=source.resolve().name)
