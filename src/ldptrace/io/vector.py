"""Read GeoPackage and Shapefile: each line is a trajectory, and points are read as a table."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.layers import LINE, MULTI_LINE, MULTI_POINT, POINT, Layer, read_layer
from ldptrace.core.reading import Reading
from ldptrace.core.values import text_of
from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io.account import Parsed, each, of_table

POINTS, LINES = (POINT, MULTI_POINT), (LINE, MULTI_LINE)
X, Y, T = "x", "y", "t"
# Columns with the times of all points of a line.
LISTS = ("times", T, "coordTimes", "datetimes")
# Kinds of layers whose lines may have measures.
MEASURED = re.compile(r"Unknown|Measured|\bZ?M\b")


def read_file(path: Path, reading: Reading) -> Parsed:
    """Read the first layer of points or lines. Every row keeps its place: a row without a geometry is a trajectory, or
    a point of a table, without a position."""
    layer = read_layer(path, ("Point", "LineString"), public=False)
    shapes = layer.shapes
    none = int(np.count_nonzero(~np.isin(np.arange(len(shapes.kind)), shapes.row)))
    if len(shapes.kind) == none > 0:
        raise NothingUsable("there are no lines or points in it, only: no geometry")
    of_points = _of_points(layer)
    parsed = (_points if of_points else _lines)(layer, reading)
    doubts = {} if of_points or not none else {"rows without a geometry": none}
    return replace(
        parsed,
        trajectories=replace(parsed.trajectories, crs=layer.crs),
        rows=len(shapes.kind),
        notes=(*layer.notes, *parsed.notes),
        doubts=dict(parsed.doubts) | doubts,
    )


read = each(read_file)


def _of_points(layer: Layer) -> bool:
    """Whether the rows of a layer are points, by the kind that it states. If it states none, the rows must agree."""
    if "Unknown" not in layer.kind:
        return "Point" in layer.kind
    points = int(np.count_nonzero(np.isin(layer.shapes.kind, POINTS)))
    lines = int(np.count_nonzero(np.isin(layer.shapes.kind, LINES)))
    if lines and points > lines:
        raise NothingUsable(
            f"{points:,} rows are points and {lines:,} are lines: a layer has either points or lines"
        )
    return lines == 0


def _points(layer: Layer, reading: Reading) -> Parsed:
    """Read a layer with one row per point."""
    shapes = layer.shapes.only(POINTS).in_every_row(1)
    # Columns that say the same in other words would be taken for the coordinates.
    columns = _columns(layer, shapes.row, (X, Y)) | {X: pa.array(shapes.x), Y: pa.array(shapes.y)}
    try:
        return of_table(pa.table(columns), replace(reading, names=replace(reading.names, x=X, y=Y)))
    except FormatError as error:
        # A layer without rows is a null answer of a device, so an error must not tell that there are some.
        raise NothingUsable(str(error)) from None


def _lines(layer: Layer, reading: Reading) -> Parsed:
    """Read a layer with one row per line. Each part of a line is a trajectory."""
    shapes = layer.shapes.in_every_row(0)
    columns = _columns(layer, shapes.row, (X, Y))
    name = reading.names.t or next((name for name in LISTS if name in columns), None)
    given = columns.pop(name, None) if name is not None else None

    def lists(values: Floats | pa.Array) -> pa.Array:
        return pa.LargeListArray.from_arrays(pa.array(shapes.offsets), pa.array(values))

    times: pa.Array | None = None
    notes: tuple[str, ...] = ()
    if given is not None:
        times = lists(_listed(given, np.diff(shapes.offsets)))
    elif MEASURED.search(layer.kind):
        times, notes = lists(shapes.m), ("times taken from the measures of the lines",)
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


def _listed(column: pa.ChunkedArray, sizes: Ints) -> pa.Array:
    """Return the times of all points of each line as texts, from lists or JSON texts. A line whose list has not one
    time for each point has none."""
    found: list[str | None] = []
    for value, size in zip(column.to_pylist(), sizes.tolist(), strict=True):
        times = _loaded(value) if isinstance(value, str) else value
        found += map(text_of, times) if isinstance(times, list) and len(times) == size else [None] * size
    return pa.array(found, pa.string())


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
