"""Small delimited tables that describe places: columns by their usual names, numbers that are numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from ldptrace.errors import FormatError, InputError
from ldptrace.generators.roads import Floats

X_NAMES = ("x", "easting", "x_coord", "pos_x")
Y_NAMES = ("y", "northing", "y_coord", "pos_y")
LON_NAMES = ("lon", "lng", "long", "longitude")
LAT_NAMES = ("lat", "latitude")


def read_table(path: str | Path) -> pa.Table:
    """A text table with a header; columns are parted by comma, semicolon or tab, as the header tells."""
    source = Path(path)
    if not source.is_file():
        raise InputError(f"there is no file {source}")
    try:
        with source.open(encoding="utf-8-sig") as lines:
            header = lines.readline()
        delimiter = max(",;\t", key=header.count)
        return csv.read_csv(source, parse_options=csv.ParseOptions(delimiter=delimiter))
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise FormatError(f"{source} is not a table of text columns: {str(error).splitlines()[0]}") from None


def find(table: pa.Table, names: Sequence[str]) -> str | None:
    """The first column that has one of the names; case and punctuation do not matter.

    >>> find(pa.table({"Node-ID": [1]}), ("id", "node_id"))
    'Node-ID'
    """
    known = {_key(name): name for name in reversed(table.column_names)}
    return next((known[_key(name)] for name in names if _key(name) in known), None)


def need(table: pa.Table, names: Sequence[str], path: str | Path) -> str:
    """As `find`, and an error where there is none."""
    name = find(table, names)
    if name is None:
        raise FormatError(
            f"{path} has no column {' or '.join(names)}; its columns are {', '.join(table.column_names)}"
        )
    return name


def numbers(table: pa.Table, name: str, path: str | Path) -> Floats:
    """A column of finite numbers."""
    try:
        values = pc.cast(table[name], pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise FormatError(f"column {name} of {path} holds values that are not numbers") from None
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise FormatError(f"column {name} of {path} has no finite number in line {bad[0] + 2}")
    return np.asarray(values, dtype=np.float64)


def positions(table: pa.Table, path: str | Path) -> tuple[Floats, Floats, bool]:
    """Coordinates of the rows, and whether they are degrees of longitude and latitude."""
    x, y = find(table, X_NAMES), find(table, Y_NAMES)
    if x is not None and y is not None:
        return numbers(table, x, path), numbers(table, y, path), False
    lon, lat = find(table, LON_NAMES), find(table, LAT_NAMES)
    if lon is None or lat is None:
        raise FormatError(
            f"{path} has no columns x and y or lon and lat; its columns are {', '.join(table.column_names)}"
        )
    return numbers(table, lon, path), numbers(table, lat, path), True


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
