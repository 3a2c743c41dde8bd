"""Small delimited tables that describe places: columns by their usual names, numbers that are numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from ldptrace.core.arrays import Floats
from ldptrace.core.columns import GEOGRAPHIC, PLANAR
from ldptrace.core.values import pc
from ldptrace.errors import FormatError, InputError


def read_table(path: str | Path, *, text: Sequence[str] = ()) -> pa.Table:
    """A text table with a header; columns are parted by comma, semicolon or tab, as the header tells.

    The file may be packed with gzip. Columns with one of the names in `text` are read as text, whatever they
    look like.
    """
    source = Path(path)
    if not source.is_file():
        raise InputError(f"there is no file {source}")
    try:
        with pa.input_stream(str(source), compression="detect") as stream:
            header = stream.read(65536).decode("utf-8-sig", errors="replace").partition("\n")[0].rstrip("\r")
        delimiter = max(",;\t", key=header.count)
        names = [name.strip('" ') for name in header.split(delimiter)]
        wanted = {_key(name) for name in text}
        as_text = {name: pa.string() for name in names if _key(name) in wanted}
        return csv.read_csv(
            source,
            parse_options=csv.ParseOptions(delimiter=delimiter),
            convert_options=csv.ConvertOptions(column_types=as_text, strings_can_be_null=True),
        )
    except (pa.ArrowInvalid, UnicodeDecodeError, OSError) as error:
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
    values = optional_numbers(table, name, path)
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise FormatError(f"column {name} of {path} has no finite number in line {bad[0] + 2}")
    return values


def optional_numbers(table: pa.Table, name: str, path: str | Path) -> Floats:
    """A column of numbers, not a number where a row has none."""
    try:
        values = pc.cast(table[name], pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise FormatError(f"column {name} of {path} holds values that are not numbers") from None
    return np.asarray(values, dtype=np.float64)


def positions(table: pa.Table, path: str | Path) -> tuple[Floats, Floats, bool]:
    """Coordinates of the rows, and whether they are degrees of longitude and latitude."""
    x, y = (find(table, names) for names in PLANAR)
    if x is not None and y is not None:
        return numbers(table, x, path), numbers(table, y, path), False
    lon, lat = (find(table, names) for names in GEOGRAPHIC)
    if lon is None or lat is None:
        raise FormatError(
            f"{path} has no columns x and y or lon and lat; its columns are {', '.join(table.column_names)}"
        )
    return numbers(table, lon, path), numbers(table, lat, path), True


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
