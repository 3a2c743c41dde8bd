"""Read GeoPackage and Shapefile: each line is a trajectory, and points are read as a table."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from ldptrace.core.layers import read_layer
from ldptrace.core.positions import X, Y, are_lines, counts, of_lines, of_points
from ldptrace.core.reading import Reading
from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io.account import Parsed, each, of_table

# Kinds of layers whose lines may have measures.
MEASURED = re.compile(r"Unknown|Measured|\bZ?M\b")
MEASURES = "times taken from the measures of the lines"


def read_file(path: Path, reading: Reading) -> Parsed:
    """Read the first layer of points or lines. Every row keeps its place: a row without a geometry is a trajectory, or
    a point of a table, without a position."""
    layer = read_layer(path, ("Point", "LineString"), public=False)
    shapes = layer.shapes
    none = int(np.count_nonzero(~np.isin(np.arange(len(shapes.kind)), shapes.row)))
    if len(shapes.kind) == none > 0:
        raise NothingUsable("there are no lines or points in it, only: no geometry")
    notes, doubts = layer.notes, {}
    if are_lines(*counts(shapes), "a layer") if "Unknown" in layer.kind else "Point" not in layer.kind:
        table, t = of_lines(
            layer.columns, shapes, reading.names.t, measured=MEASURED.search(layer.kind) is not None
        )
        if t is not None and t not in layer.columns.column_names:
            notes += (MEASURES,)
        doubts = {"rows without a geometry": none} if none else {}
    else:
        table, t = of_points(layer.columns, shapes), reading.names.t
    try:
        parsed = of_table(table, replace(reading, names=replace(reading.names, x=X, y=Y, t=t)))
    except FormatError as error:
        # A layer without rows is a null answer of a device, so an error must not tell that there are some.
        raise NothingUsable(str(error)) from None
    return replace(
        parsed,
        trajectories=replace(parsed.trajectories, crs=layer.crs),
        rows=len(shapes.kind),
        notes=(*notes, *parsed.notes),
        doubts=dict(parsed.doubts) | doubts,
    )


read = each(read_file)
