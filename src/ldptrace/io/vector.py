"""GeoPackage and Shapefile: lines, each one trajectory, or points, a table of them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core import ragged
from ldptrace.core.layers import Layer, read_layer
from ldptrace.core.values import is_list
from ldptrace.core.wkb import LINE, MULTI_LINE, MULTI_POINT, POINT
from ldptrace.errors import NothingUsable
from ldptrace.io.account import Parsed, each
from ldptrace.io.reading import Reading
from ldptrace.io.tables import of_table

POINTS, LINES = (POINT, MULTI_POINT), (LINE, MULTI_LINE)
X, Y, T = "x", "y", "t"
# Columns with the times of all points of a line.
LISTS = ("times", T, "coordTimes", "datetimes")


def read_file(path: Path, reading: Reading) -> Parsed:
    """The first layer of points or lines; where it holds both, points are counted and omitted."""
    layer = read_layer(path, ("Point", "LineString"))
    kinds = {shape.kind for shape in layer.shapes if shape.parts}
    chosen = POINTS if kinds and kinds <= set(POINTS) else LINES
    others: Counter[str] = Counter()
    for shape in layer.shapes:
        if not shape.parts:
            others["no geometry"] += 1
        elif shape.kind not in chosen:
            others["geometry is a point"] += 1
    if len(layer.shapes) and sum(others.values()) == len(layer.shapes):
        raise NothingUsable(f"there are no lines or points in it, only: {', '.join(others)}")
    parsed = (_points if chosen == POINTS else _lines)(layer, reading)
    return replace(
        parsed,
        trajectories=replace(parsed.trajectories, crs=layer.crs),
        rows=len(layer.shapes),
        notes=(*layer.notes, *parsed.notes),
        dropped_points=dict(others) | dict(parsed.dropped_points)
        if chosen == POINTS
        else parsed.dropped_points,
        dropped=dict(others) if chosen == LINES else {},
    )


read = each(read_file)


def _points(layer: Layer, reading: Reading) -> Parsed:
    """One row per point."""
    rows = np.repeat(np.arange(len(layer.shapes)), [len(shape.parts) for shape in layer.shapes])
    places = np.concatenate([part[:, :2] for shape in layer.shapes for part in shape.parts])
    # Columns that say the same in other words would be taken for the coordinates.
    table = _without(layer.columns, (X, Y)).take(pa.array(rows))
    table = table.append_column(X, pa.array(places[:, 0])).append_column(Y, pa.array(places[:, 1]))
    return of_table(table, replace(reading, names=replace(reading.names, x=X, y=Y)))


def _lines(layer: Layer, reading: Reading) -> Parsed:
    """One row per line; each part of a line is a trajectory."""
    shapes = [shape if shape.kind in LINES else replace(shape, parts=()) for shape in layer.shapes]
    rows = np.repeat(np.arange(len(shapes)), [len(shape.parts) for shape in shapes])
    parts = [part for shape in shapes for part in shape.parts]
    offsets = ragged.offsets_of(np.array([len(part) for part in parts], dtype=np.int64))
    columns = layer.columns.take(pa.array(rows))
    times: pa.Array | None = None
    notes: tuple[str, ...] = ()
    if parts and all(shape.measured for shape in shapes if shape.parts):
        times = pa.LargeListArray.from_arrays(
            pa.array(offsets), pa.array(np.concatenate([p[:, 2] for p in parts]))
        )
        notes = ("times taken from the measures of the lines",)
    name = reading.names.t or next((name for name in LISTS if name in columns.column_names), None)
    if times is None and name is not None:
        times, notes = _listed(columns[name], np.diff(offsets), name)
    places = np.concatenate([np.empty((0, 2)), *(part[:, :2] for part in parts)])
    table = _without(columns, (X, Y, T, *([name] if name is not None else [])))
    for axis, values in zip((X, Y), places.T, strict=True):
        table = table.append_column(axis, pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values)))
    if times is not None:
        table = table.append_column(T, times)
    names = replace(reading.names, x=X, y=Y, t=None if times is None else T)
    parsed = of_table(table, replace(reading, names=names))
    found = parsed.trajectories
    if found.ids is not None and len(np.unique(found.ids)) < len(found.ids):
        found = replace(found, ids=None)
    return replace(parsed, trajectories=found, notes=(*notes, *parsed.notes))


def _listed(
    column: pa.ChunkedArray, sizes: np.ndarray[Any, Any], name: str
) -> tuple[pa.Array | None, tuple[str, ...]]:
    """Times of all points of each line: lists, or lists written as JSON, where they are as many as the points."""
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


def _without(table: pa.Table, names: tuple[str, ...]) -> pa.Table:
    return table.select([name for name in table.column_names if name not in names])
