"""Read GeoPackage and Shapefile: each line is a trajectory, and points are read as a table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.layers import LINE, MULTI_LINE, MULTI_POINT, POINT, Layer, read_layer
from ldptrace.core.reading import Reading
from ldptrace.core.values import is_list
from ldptrace.core.words import total
from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io.account import Parsed, each, of_table

POINTS, LINES = (POINT, MULTI_POINT), (LINE, MULTI_LINE)
X, Y, T = "x", "y", "t"
# Columns with the times of all points of a line.
LISTS = ("times", T, "coordTimes", "datetimes")


def read_file(path: Path, reading: Reading) -> Parsed:
    """Read the first layer of points or lines. If the layer has both, points are counted and omitted."""
    layer = read_layer(path, ("Point", "LineString"))
    shapes = layer.shapes
    kinds = set(shapes.kind[shapes.row].tolist())
    chosen = POINTS if kinds and kinds <= set(POINTS) else LINES
    filled = np.zeros(len(shapes.kind), dtype=np.bool_)
    filled[shapes.row] = True
    others = total(
        [
            {
                "geometry is a point": int(np.count_nonzero(filled & ~np.isin(shapes.kind, chosen))),
                "no geometry": int(np.count_nonzero(~filled)),
            }
        ]
    )
    if len(shapes.kind) and sum(others.values()) == len(shapes.kind):
        raise NothingUsable(f"there are no lines or points in it, only: {', '.join(others)}")
    parsed = (_points if chosen == POINTS else _lines)(layer, reading)
    return replace(
        parsed,
        trajectories=replace(parsed.trajectories, crs=layer.crs),
        rows=len(shapes.kind),
        notes=(*layer.notes, *parsed.notes),
        dropped_points=dict(others) | dict(parsed.dropped_points)
        if chosen == POINTS
        else parsed.dropped_points,
        dropped=dict(others) if chosen == LINES else {},
    )


read = each(read_file)


def _points(layer: Layer, reading: Reading) -> Parsed:
    """Read a layer with one row per point."""
    shapes = layer.shapes
    # Columns that say the same in other words would be taken for the coordinates.
    columns = _columns(layer, shapes.row, (X, Y)) | {X: pa.array(shapes.x), Y: pa.array(shapes.y)}
    try:
        return of_table(pa.table(columns), replace(reading, names=replace(reading.names, x=X, y=Y)))
    except FormatError as error:
        # A layer without rows is a null answer of a device, so an error must not tell that there are some.
        raise NothingUsable(str(error)) from None


def _lines(layer: Layer, reading: Reading) -> Parsed:
    """Read a layer with one row per line. Each part of a line is a trajectory."""
    shapes = layer.shapes.only(LINES)
    columns = _columns(layer, shapes.row, (X, Y))
    name = reading.names.t or next((name for name in LISTS if name in columns), None)
    given = columns.pop(name, None) if name is not None else None

    def lists(values: Floats) -> pa.Array:
        return pa.LargeListArray.from_arrays(pa.array(shapes.offsets), pa.array(values))

    times: pa.Array | None = None
    notes: tuple[str, ...] = ()
    if len(shapes.m) and not np.isnan(shapes.m).any():
        times, notes = lists(shapes.m), ("times taken from the measures of the lines",)
    elif given is not None:
        times, notes = _listed(given, np.diff(shapes.offsets), str(name))
    columns |= {X: lists(shapes.x), Y: lists(shapes.y)} | ({} if times is None else {T: times})
    names = replace(reading.names, x=X, y=Y, t=None if times is None else T)
    parsed = of_table(pa.table(columns), replace(reading, names=names))
    found = parsed.trajectories
    if found.ids is not None and len(np.unique(found.ids)) < len(found.ids):
        found = replace(found, ids=None)
    return replace(parsed, trajectories=found, notes=(*notes, *parsed.notes))


def _columns(layer: Layer, rows: Ints, without: tuple[str, ...]) -> dict[str, Any]:
    """Return the other columns, repeated for each part of a shape."""
    table = layer.columns
    return {name: table[name].take(pa.array(rows)) for name in table.column_names if name not in without}


def _listed(column: pa.ChunkedArray, sizes: Ints, name: str) -> tuple[pa.Array | None, tuple[str, ...]]:
    """Return the times of all points of each line, from lists or JSON texts with as many times as points."""
    values = column.to_pylist()
    if not is_list(column.type):
        try:
            values = [json.loads(value) for value in values]
        except (TypeError, ValueError):
            return None, (f"column {name} omitted, because it is not a list of times for each line",)
    lengths = [len(value) if isinstance(value, list) else -1 for value in values]
    if lengths != sizes.tolist():
        return None, (f"column {name} omitted, because it has not one time for each point",)
    return pa.array(values), ()
