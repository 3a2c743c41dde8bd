"""Write road networks: as two tables in a folder, as a file of lines, or as a picture."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pyarrow as pa
from pyarrow import csv

from ldptrace.core.arrays import Flags, Floats, Ints
from ldptrace.core.atomic import atomic_path, make_folder, together
from ldptrace.core.layers import geometries_of, write_lines
from ldptrace.errors import InputError
from ldptrace.roads.network import RoadNetwork

# Files of lines; everything else is a folder.
LINES = (".geojson", ".gpkg")
# SUMO's plain XML: a file of nodes, and one of edges beside it.
NODES, EDGES = ".nod.xml", ".edg.xml"
LAYER = "roads"
KMH = 3.6


def check_folder(folder: Path) -> None:
    """Raise an error if a road network cannot be written to this place."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"cannot write {folder}: it is a file, and a road network is a folder")
    if not folder.parent.is_dir():
        raise InputError(f"cannot write {folder}: the folder {folder.parent} does not exist")


def write_roads(roads: RoadNetwork, path: str | Path) -> None:
    """Write a file of lines (`.geojson`, `.gpkg`), a folder with `nodes.csv` and `edges.csv`, or the plain XML of SUMO
    (`NAME.nod.xml`, with `NAME.edg.xml` beside it).

    Every directed edge is a row, and `read_roads` reads all of them. Of plain XML, SUMO's program `netconvert` makes a
    network first. The folder is made if only its last part is missing.
    """
    target = Path(path)
    if target.name.endswith(NODES):
        _write_plain(roads, target)
        return
    if target.suffix.lower() in LINES and not target.is_dir():
        with atomic_path(target) as file:
            (_write_geojson if target.suffix.lower() == ".geojson" else _write_geopackage)(roads, file)
        return
    check_folder(target)
    x, y = ("lon", "lat") if roads.is_geographic else ("x", "y")
    places = pa.table({"node_id": np.arange(roads.nodes), x: roads.x, y: roads.y})
    with together():
        make_folder(target)
        with atomic_path(target / "nodes.csv") as nodes, atomic_path(target / "edges.csv") as edges:
            for file, table in ((nodes, places), (edges, _edges(roads))):
                with file.open("wb") as stream:
                    # Arrow would put the names of columns in quotes.
                    stream.write((",".join(table.column_names) + "\n").encode())
                    csv.write_csv(table, stream, csv.WriteOptions(include_header=False))


def _write_geojson(roads: RoadNetwork, path: Path) -> None:
    """Write one feature for each directed edge. Coordinates in degrees need no name of a coordinate system; others have
    theirs."""
    crs = None if roads.crs is None else {"type": "name", "properties": {"name": roads.crs}}
    member = "" if roads.is_geographic else f'"crs":{json.dumps(crs)},'
    rows, lines = pa.table(_attributes(roads)).to_pylist(), _polylines(roads, np.arange(roads.edges))
    with path.open("w", encoding="utf-8") as file:
        file.write(f'{{"type":"FeatureCollection",{member}"features":[')
        for number, (row, line) in enumerate(zip(rows, lines, strict=True)):
            geometry = {"type": "LineString", "coordinates": line.tolist()}
            feature = {"type": "Feature", "properties": row, "geometry": geometry}
            file.write((",\n" if number else "\n") + json.dumps(feature))
        file.write("\n]}\n")


def _write_geopackage(roads: RoadNetwork, path: Path) -> None:
    lines = geometries_of(*roads.lines(np.arange(roads.edges)))
    write_lines(path, LAYER, lines, _attributes(roads), roads.crs)


def _polylines(roads: RoadNetwork, edges: Ints) -> list[Floats]:
    x, y, offsets = roads.lines(edges)
    return np.split(np.c_[x, y], offsets[1:-1])


def _ids(roads: RoadNetwork) -> tuple[list[str], Flags]:
    """Return the id of each edge's street in the file of the network, and whether the edge leads against its line."""
    ids = [str(edge) for edge in range(roads.edges)] if roads.edge_id is None else roads.edge_id.tolist()
    return ids, np.zeros(roads.edges, dtype=np.bool_) if roads.backward is None else roads.backward


def _attributes(roads: RoadNetwork) -> dict[str, pa.Array]:
    """Return the known attributes of each directed edge. `direction` is relative to the line in the file of the
    network."""
    ids, backward = _ids(roads)
    columns = {
        "edge_id": pa.array(ids, type=pa.string()),
        "class": _classes(roads),
        "length": pa.array(roads.length),
        "direction": pa.array(np.where(backward, "backward", "forward").tolist()),
        # The way back is a row of its own.
        "oneway": pa.array(["yes"] * roads.edges),
    }
    if roads.street is not None:
        columns["name"] = pa.array(roads.street.tolist())
    if roads.seconds is not None:
        columns["seconds"] = pa.array(roads.seconds)
        columns["speed_kmh"] = pa.array(KMH * roads.length / roads.seconds)
    return columns


def _classes(roads: RoadNetwork) -> pa.Array:
    return pa.array(np.array([*roads.classes, None], dtype=object)[roads.road_class], type=pa.string())


def _edges(roads: RoadNetwork) -> pa.Table:
    """Return one row for each directed edge, so that `oneway` is always 1."""
    known = _attributes(roads)
    columns: dict[str, Any] = {"from": roads.source, "to": roads.target}
    columns["length_m" if roads.is_geographic else "length"] = roads.length
    given = {"class": bool(roads.classes), "edge_id": roads.edge_id is not None}
    for name in ("seconds", "class", "edge_id", "name"):
        if given.get(name, name in known):
            columns[name] = known[name]
    columns["oneway"] = np.ones(roads.edges, dtype=np.int8)
    if roads.shape_offsets is not None:
        x, y, offsets = roads.lines(np.arange(roads.edges))
        points = [f"{a!r} {b!r}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        # A straight edge has no text.
        columns["geometry"] = pa.array(
            [
                f"LINESTRING ({', '.join(points[first:last])})" if last - first > 2 else None
                for first, last in pairwise(offsets.tolist())
            ],
            type=pa.string(),
        )
    return pa.table(columns)


def edge_names(roads: RoadNetwork) -> list[str]:
    """Return a name of its own for each directed edge, as SUMO makes them: the id of its street, with `-` before it for
    the way back, and `#0`, `#1` ... behind it for the pieces of a street that was cut.

    >>> corner = RoadNetwork.of([0, 100, 100], [0, 0, 50], source=[0, 1, 1], target=[1, 0, 2])
    >>> edge_names(corner)
    ['0', '1', '2']
    """
    ids, back = _ids(roads)
    # SUMO allows few signs in a name.
    plain = [("-" if turned else "") + _SIGNS.sub("_", name) for name, turned in zip(ids, back, strict=True)]
    often, number = Counter(plain), Counter[str]()
    names = []
    for name in plain:
        names.append(name if often[name] == 1 else f"{name}#{number[name]}")
        number[name] += 1
    return names if len(set(names)) == len(names) else [str(edge) for edge in range(roads.edges)]


_SIGNS = re.compile(r"[^\w.#-]|^(?=:)")


def _write_plain(roads: RoadNetwork, path: Path) -> None:
    """Write the nodes and edges in the plain XML of SUMO, with speeds in metres per second."""
    x, y, offsets = roads.lines(np.arange(roads.edges))
    speed = None if roads.seconds is None else (roads.length / roads.seconds).tolist()
    classes = _classes(roads).to_pylist()
    street = [""] * roads.edges if roads.street is None else roads.street.tolist()
    places = list(zip(x.tolist(), y.tolist(), strict=True))
    with together():
        with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as file:
            file.write('<?xml version="1.0" encoding="UTF-8"?>\n<nodes>\n')
            for number, (a, b) in enumerate(zip(roads.x.tolist(), roads.y.tolist(), strict=True)):
                file.write(f'  <node id="{number}" x="{a!r}" y="{b!r}"/>\n')
            file.write("</nodes>\n")
        edges = path.with_name(path.name.removesuffix(NODES) + EDGES)
        with atomic_path(edges) as temporary, temporary.open("w", encoding="utf-8") as file:
            file.write('<?xml version="1.0" encoding="UTF-8"?>\n<edges>\n')
            for edge, name in enumerate(edge_names(roads)):
                more = "" if speed is None else f' speed="{speed[edge]:.3f}"'
                more += f" name={quoteattr(street[edge])}" if street[edge] else ""
                more += "" if classes[edge] is None else f" type={quoteattr(classes[edge])}"
                line = places[offsets[edge] : offsets[edge + 1]]
                if len(line) > 2:
                    more += f' shape="{" ".join(f"{a!r},{b!r}" for a, b in line)}"'
                file.write(
                    f'  <edge id={quoteattr(name)} from="{roads.source[edge]}" to="{roads.target[edge]}" numLanes="1"'
                    f"{more}/>\n"
                )
            file.write("</edges>\n")


FORMATS = (".pdf", ".png", ".svg")


def draw(roads: RoadNetwork, path: str | Path, *, inches: float = 7.0) -> None:
    """Write a picture. The extension of the file decides the format."""
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure

    if Path(path).suffix.lower() not in FORMATS:
        raise InputError(f"a picture can be {', '.join(FORMATS)}, not {Path(path).name}")
    x0, y0, x1, y1 = roads.bounds()
    across, up = roads.scale
    wide, high = max((x1 - x0) * across, 1e-9), max((y1 - y0) * up, 1e-9)
    figure = Figure(figsize=(inches, inches * min(max(high / wide, 0.3), 3.0)), facecolor="white")
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.96))
    axes.set_axis_off()
    axes.set_aspect(up / across)
    # One of the two ways of a street is enough.
    shown = np.flatnonzero((roads.opposite < 0) | (roads.opposite > np.arange(roads.edges)))
    speed = np.full(roads.edges, 1.0) if roads.seconds is None else roads.length / roads.seconds
    shown = shown[np.argsort(speed[shown], kind="stable")]
    low, high_speed = np.quantile(speed, (0.02, 0.98))
    rank = np.clip((speed[shown] - low) / max(high_speed - low, 1e-9), 0.0, 1.0)
    axes.add_collection(
        LineCollection(
            _polylines(roads, shown),
            colors=colormaps["viridis_r"](0.15 + 0.8 * rank),
            linewidths=0.4 + 1.6 * rank,
        )
    )
    axes.set_xlim(x0, x1)
    axes.set_ylim(y0, y1)
    figure.savefig(path, dpi=130)
