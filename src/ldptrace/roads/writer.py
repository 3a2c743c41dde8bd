"""Road networks as two tables in a folder."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from ldptrace.errors import InputError
from ldptrace.roads.network import RoadNetwork


def check_folder(folder: Path) -> None:
    """An error if no road network could be written there."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"cannot write {folder}: it is a file, and a road network is a folder")
    if not folder.parent.is_dir():
        raise InputError(f"cannot write {folder}: the folder {folder.parent} does not exist")


def write_roads(roads: RoadNetwork, path: str | Path) -> None:
    """Write `nodes.csv` and `edges.csv`, which `read_roads` reads: every directed edge is a row.

    The folder is made if only its last part is missing.
    """
    folder = Path(path)
    check_folder(folder)
    folder.mkdir(exist_ok=True)
    mark = secrets.token_hex(4)
    tables = {"nodes.csv": _nodes(roads), "edges.csv": _edges(roads)}
    try:
        for name, table in tables.items():
            with (folder / f".{mark}.{name}").open("wb") as file:
                # Arrow would put the names of columns in quotes.
                file.write((",".join(table.column_names) + "\n").encode())
                csv.write_csv(table, file, csv.WriteOptions(include_header=False))
        for name in tables:
            os.replace(folder / f".{mark}.{name}", folder / name)
    finally:
        for name in tables:
            (folder / f".{mark}.{name}").unlink(missing_ok=True)


def _nodes(roads: RoadNetwork) -> pa.Table:
    x, y = ("lon", "lat") if roads.is_geographic else ("x", "y")
    return pa.table({"node_id": np.arange(roads.nodes), x: roads.x, y: roads.y})


def _edges(roads: RoadNetwork) -> pa.Table:
    """One row for each directed edge, so that `oneway` is always 1."""
    columns: dict[str, object] = {
        "from": roads.source,
        "to": roads.target,
        "length_m" if roads.is_geographic else "length": roads.length,
    }
    if roads.seconds is not None:
        columns["seconds"] = roads.seconds
    if roads.classes:
        columns["class"] = pa.array(
            np.array([*roads.classes, None], dtype=object)[roads.road_class], type=pa.string()
        )
    if roads.edge_id is not None:
        columns["edge_id"] = pa.array(roads.edge_id.tolist())
    columns["oneway"] = np.ones(roads.edges, dtype=np.int8)
    if roads.shape_offsets is not None:
        columns["geometry"] = pa.array(_wkt(roads), type=pa.string())
    return pa.table(columns)


def _wkt(roads: RoadNetwork) -> list[str | None]:
    """The lines of the edges as text; none for a straight one."""
    x, y, offsets = roads.lines(np.arange(roads.edges))
    points = [f"{a!r} {b!r}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    return [
        f"LINESTRING ({', '.join(points[first:last])})" if last - first > 2 else None
        for first, last in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ]
