"""Read GeoPackage and Shapefile, and write GeoPackage: each line is a trajectory, and points are read as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core.columns import find_columns
from ldptrace.core.layers import geometries_of, read_layer, write_lines
from ldptrace.core.layers import stated_crs as stated_crs
from ldptrace.core.positions import X, Y, are_lines, listing, of_lines, of_points
from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import ID, Trajectories
from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io.account import Account, Parsed, each, of_table
from ldptrace.io.text import Write, joined_lists, paste, strings

# The layer that is written; a point in it is a trajectory.
LAYER, TIMES = "trips", "times"
# Kinds of layers whose lines may have measures.
MEASURED = re.compile(r"Unknown|Measured|\bZ?M\b")
MEASURES = "times taken from the measures of the lines"


@each
def read(path: Path, reading: Reading) -> Parsed:
    """Read the first layer of points or lines. Every row keeps its place: a row without a geometry is a trajectory, or
    a point of a table, without a position."""
    layer = read_layer(path, ("Point", "LineString"), public=False)
    shapes = layer.shapes
    none = int(np.count_nonzero(~np.isin(np.arange(len(shapes.kind)), shapes.row)))
    if len(shapes.kind) == none > 0:
        raise NothingUsable("there are no lines or points in it, only: no geometry")
    notes, doubts = layer.notes, {}
    own = layer.name == LAYER and ID in layer.columns.column_names
    unknown = "Unknown" in layer.kind and not own
    columns = find_columns(list(dict.fromkeys([X, Y, *layer.columns.column_names])), reading.names)
    if are_lines(layer.columns, shapes, columns, "a layer") if unknown else own or "Point" not in layer.kind:
        table, t = of_lines(
            layer.columns, shapes, reading.names.t, measured=MEASURED.search(layer.kind) is not None
        )
        if t is not None and listing(layer.columns, reading.names.t) is None:
            notes += (MEASURES,)
        doubts = {"rows without a geometry": none}
    else:
        table, t = of_points(layer.columns, shapes, columns.t)
    try:
        trajectories, account = of_table(table, replace(reading, names=replace(reading.names, x=X, y=Y, t=t)))
    except FormatError as error:
        # A layer without rows is a null answer of a device, so an error must not tell that there are some.
        raise NothingUsable(str(error)) from None
    account = Account(notes=notes) + account + Account(doubts=doubts)
    return replace(trajectories, crs=layer.crs), replace(account, rows=len(shapes.kind))


@contextmanager
def writer(path: Path) -> Iterator[Write]:
    """Open a new GeoPackage with one row per trajectory, whose times are a list in a text. All sets are written at the
    end, because together they decide the kind of the layer."""
    parts: list[Trajectories] = []
    yield parts.append
    trips = Trajectories.concat(parts)
    columns: dict[str, Any] = {ID: pa.array(trips.numbers)}
    if trips.t is not None:
        columns[TIMES] = paste("[", joined_lists(trips.offsets, strings(trips.t), ","), "]")
    if trips.extra is not None:
        further = {name: trips.extra[name] for name in trips.extra.column_names if name not in columns}
        columns |= {name: column for name, column in further.items() if not pa.types.is_nested(column.type)}
    write_lines(path, LAYER, geometries_of(trips.x, trips.y, trips.offsets), columns, trips.crs)
