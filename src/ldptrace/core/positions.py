"""The positions of a table as columns x and y, where the table says them otherwise: origins and destinations, points or
lines as WKT, GeoJSON or WKB, and cells of H3.

The names and types of columns decide whether a row is a point or a trajectory. A column of geometries may hold both:
then lines decide, and a table in which they are not the most, or which would read the points differently if there were
no lines, is an error.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.columns import Columns, find_columns
from ldptrace.core.crs import WGS84
from ldptrace.core.extras import needed
from ldptrace.core.layers import LINE, MULTI_LINE, MULTI_POINT, POINT, Shapes, shapes_of
from ldptrace.core.reading import Names
from ldptrace.core.values import (
    NUMBER,
    flat_lists,
    is_list,
    is_number,
    is_text,
    list_offsets,
    numbers,
    numbers_of,
    pc,
    text_of,
)
from ldptrace.errors import FormatError, NothingUsable

X, Y, T = "x", "y", "t"
# The column that numbers the rows whose lines have parts: all parts of a line are one trip.
ROW = "row of the line"
# Columns with the times of all points of a line.
LISTS = ("times", T, "timestamps", "coordTimes", "datetimes")
POINTS, LINES = (POINT, MULTI_POINT), (LINE, MULTI_LINE)
KINDS = {"point": POINT, "linestring": LINE, "multilinestring": MULTI_LINE}
WKT = rf"(?is)^\s*(?:SRID=(?P<srid>\d+);)?\s*(?P<kind>{'|'.join(KINDS)})\s*(?:ZM|Z|M)?\s*\((?P<body>.*)\)\s*$"
JSON_KIND = rf'(?i)"type"\s*:\s*"(?P<kind>{"|".join(KINDS)})"'
JSON_BODY = r'"coordinates"\s*:\s*\[(?P<body>[^"{}]*)\]'
# From the bodies of both to one form: points "x y" with ; between, and parts of a line with | between.
OF_WKT = ((r"\)\s*,\s*\(", "|"), (",", ";"), (r"[()]", ""))
OF_JSON = ((r"\]\s*\]\s*,\s*\[\s*\[", "|"), (r"\]\s*,\s*\[", ";"), (r"[\[\]]", ""), (",", " "))
PAIR = r"^\s*(?P<x>\S+)\s+(?P<y>\S+)(?:\s|$)"


def rows_are_trips(schema: pa.Schema, columns: Columns) -> bool | None:
    """Whether a row is a trajectory, by the columns and their types. None: the geometries say it."""
    place = columns.geometry or columns.cells or columns.cell or columns.x
    if columns.geometry is not None and not is_list(schema.field(columns.geometry).type):
        return None
    return (
        bool(columns.ends) or columns.cells is not None or bool(place and is_list(schema.field(place).type))
    )


def positioned(
    table: pa.Table,
    names: Names | None = None,
    *,
    lines: bool | None = None,
    place: str = "row",
    first: int = 1,
) -> tuple[pa.Table, Columns]:
    """Return the table with its positions in columns of x and y, and its columns. These are lists if a row is a
    trajectory.

    `lines` says whether geometries are lines, for a part of a table; by default they say it themselves. An error
    message names the `place` (row or line), counted from `first`.
    """
    columns = find_columns(table.column_names, names)
    given = None if names is None else names.t
    if columns.ends:
        x0, y0, t0, x1, y1, t1 = columns.ends
        ends = [pa.array(numbers(table[end], end, place, first)) for end in map(str, (x0, x1, y0, y1))]
        both = {X: _paired(*ends[:2]), Y: _paired(*ends[2:])}
        if t0 is not None:
            both[T] = _paired(table[t0].combine_chunks(), table[t1].combine_chunks())
        rest = table.drop_columns([name for name in columns.ends if name is not None])
        return _with(rest, both), replace(columns, x=X, y=Y, t=None if t0 is None else T, ends=())
    if columns.geometry is not None:
        column, rest = table[columns.geometry], table.drop_columns([columns.geometry])
        if is_list(column.type):
            x, y, times, crs = _of_places(column, columns.geometry)
            placed, t = _with_lists(rest, list_offsets(column), x, y, given, times)
            return placed, replace(columns, x=X, y=Y, t=t, geometry=None, crs=crs)
        shapes, crs = geometries(column, columns.geometry, part=lines is not None)
        lines = are_lines(rest, shapes, columns, known=lines)
        placed, t = of_lines(rest, shapes, given) if lines else of_points(rest, shapes, columns.t)
        return placed, replace(columns, x=X, y=Y, t=t, geometry=None, crs=crs)
    name = columns.cells or columns.cell
    if name is None:
        return table, columns
    cells, rest = table[name], table.drop_columns([name])
    if is_text(cells.type) and columns.cells is not None:
        cells = pc.utf8_trim(cells, ' []",;|')
        cells = pc.split_pattern_regex(pc.if_else(pc.equal(cells, ""), None, cells), r'[\s,;|"]+')
    columns = replace(columns, x=X, y=Y, cells=None, cell=None)
    if not is_list(cells.type):
        return _with(rest, dict(zip((X, Y), _centres(cells, name), strict=True))), columns
    placed, t = _with_lists(rest, list_offsets(cells), *_centres(flat_lists(cells), name), given)
    return placed, replace(columns, t=t)


def geometries(column: pa.ChunkedArray, name: str, *, part: bool = False) -> tuple[Shapes, str | None]:
    """Parse points and lines that are written as WKT, with or without SRID, as GeoJSON or as WKB. Also returns the
    coordinate system that they name. If most are neither, that is an error, but not for a part of the data.

    >>> shapes, crs = geometries(pa.chunked_array([["LINESTRING (0 1, 2 3)", None, "POINT (4 5)"]]), "wkt")
    >>> shapes.row.tolist(), shapes.offsets.tolist(), shapes.x.tolist(), crs
    ([0, 2], [0, 2, 3], [0.0, 2.0, 4.0], None)
    """
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        shapes, crs = shapes_of(column), None
    elif is_text(kind):
        shapes, crs = _of_texts(column)
    else:
        raise NothingUsable(f"column {name} must hold points or lines as WKT or GeoJSON, it holds {kind}")
    if not part and 2 * sum(counts(shapes)) < len(column):
        known = column.drop_null()
        sample = str(known[0].as_py())[:60] if len(known) else None
        raise NothingUsable(f"column {name} must hold points or lines as WKT or GeoJSON, it holds {sample!r}")
    return shapes, crs


def _of_places(column: pa.ChunkedArray, name: str) -> tuple[Floats, Floats, pa.Array | None, str | None]:
    """Return x, y, times and the coordinate system of lists of places, which are `[x, y]` or have named fields."""
    places = flat_lists(column)
    if is_list(places.type) and is_number(places.type.value_type):
        pairs = pc.list_slice(places, 0, 2, return_fixed_size_list=True).combine_chunks()
        x, y = numbers_of(pairs.flatten().cast(pa.float64())).reshape(-1, 2).T
        return x, y, None, None
    if not pa.types.is_struct(places.type):
        raise NothingUsable(f"column {name} must hold lists of places, it holds {column.type}")
    names = find_columns([field.name for field in places.type])
    if names.x is None or names.y is None:
        raise FormatError(f"column {name} must hold places with x and y, it holds {column.type}")
    x, y = (numbers(pc.struct_field(places, axis), axis) for axis in (names.x, names.y))
    return x, y, None if names.t is None else pc.struct_field(places, names.t).combine_chunks(), names.crs


def counts(shapes: Shapes) -> tuple[int, int]:
    """Return how many rows are points, and how many are lines."""
    points, lines = (int(np.count_nonzero(np.isin(shapes.kind, kinds))) for kinds in (POINTS, LINES))
    return points, lines


def are_lines(
    table: pa.Table, shapes: Shapes, columns: Columns, what: str = "a table", *, known: bool | None = None
) -> bool:
    """Whether rows with these shapes are lines, which is `known` of a part of a table.

    If there are lines, they must be the most, and each point must be read as in a table of points: it must be the only
    point of its trip, and have no column for its time.
    """
    points, lines = counts(shapes)
    if known is None and 0 < lines <= points:
        raise NothingUsable(mixed(f"{points:,} rows are points and {lines:,} are lines", what))
    if lines and known is False:
        raise NothingUsable(mixed())
    if points and (lines or known):
        here = pa.array(np.flatnonzero(np.isin(shapes.kind, POINTS)))
        keys = [table[name].take(here).to_pylist() for name in (columns.user, columns.id) if name is not None]
        if not are_apart(keys) or (columns.t is not None and not is_list(table[columns.t].type)):
            raise NothingUsable(mixed(what=what))
    return lines > 0 if known is None else known


def are_apart(keys: Sequence[Sequence[object]]) -> bool:
    """Whether no two rows have the same keys, and each row has a last key. Without keys nothing holds rows together.

    >>> are_apart([[1, 2]]), are_apart([[1, 1]]), are_apart([["a", "a"], [1, None]]), are_apart([])
    (True, False, False, True)
    """
    rows = list(zip(*keys, strict=True))
    return len(set(map(str, rows))) == len(rows) and not any(row[-1] is None for row in rows)


def mixed(counted: str = "some rows are points and others are lines", what: str = "a table") -> str:
    """Return the message that rows are of both kinds."""
    return f"{counted}: {what} has either points or lines; among lines, a point must be a whole trip without a time"


def of_points(table: pa.Table, shapes: Shapes, t: str | None = None) -> tuple[pa.Table, str | None]:
    """Return a table with one row per point, and the name of its column of times: column `t`, or one that lists the
    times of lines, of which a point has one. A row without a point has no position."""
    shapes = shapes.only(POINTS).in_every_row(1)
    table = table.take(pa.array(shapes.row))
    columns = {X: pa.array(shapes.x), Y: pa.array(shapes.y)}
    if t is None and (name := listing(table, None)) is not None:
        columns[T], t = _listed(table[name], np.ones(len(table), dtype=np.int64)), T
        table = table.drop_columns([name])
    return _with(table, columns), t


def of_lines(
    table: pa.Table, shapes: Shapes, t: str | None = None, *, measured: bool = False
) -> tuple[pa.Table, str | None]:
    """Return a table with one row per part of a line, and the name of its column of times, which column `t` or one
    with a usual name lists, or otherwise the measures of the lines. A row without a line has no points. The column
    `ROW` says which parts are of one line."""
    shapes = shapes.in_every_row(0)
    rows = pa.array(shapes.row)
    parts, measures = _with(table.take(rows), {ROW: rows}), shapes.m if measured else None
    return _with_lists(parts, shapes.offsets, shapes.x, shapes.y, t, measures)


def _with_lists(
    table: pa.Table, offsets: Ints, x: Floats, y: Floats, t: str | None, own: Floats | pa.Array | None = None
) -> tuple[pa.Table, str | None]:
    def lists(values: Floats | pa.Array) -> pa.Array:
        return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values))

    t = listing(table, t)
    columns = {X: lists(x), Y: lists(y)}
    if t is not None:
        columns[T] = lists(_listed(table[t], np.diff(offsets)))
        table = table.drop_columns([t])
    elif own is not None:
        columns[T] = lists(own)
    return _with(table, columns), T if T in columns else None


def listing(table: pa.Table, t: str | None) -> str | None:
    """Return the column `t`, or one with a usual name that may hold lists of times."""
    known = (name for name in LISTS if name in table.column_names)
    return t or next((name for name in known if is_list(kind := table[name].type) or is_text(kind)), None)


def _with(table: pa.Table, columns: Mapping[str, Any]) -> pa.Table:
    """Return the table with further columns. Columns with their names, which say the same in other words, go."""
    names = [name for name in table.column_names if name not in columns]
    return pa.table({name: table[name] for name in names} | dict(columns))


def _paired(one: pa.Array, two: pa.Array) -> pa.Array:
    """Return lists of two values: one of each column."""
    if one.type != two.type:
        one, two = one.cast(pa.string()), two.cast(pa.string())
    rows = len(one)
    order = np.arange(2 * rows).reshape(2, rows).T.ravel()
    values = pa.concat_arrays([one, two]).take(pa.array(order))
    return pa.LargeListArray.from_arrays(pa.array(np.arange(0, 2 * rows + 1, 2)), values)


def _of_texts(column: pa.ChunkedArray) -> tuple[Shapes, str | None]:
    """Parse WKT and GeoJSON. A number that is none becomes NaN."""
    text, kind, body = (pc.extract_regex(column, form) for form in (WKT, JSON_KIND, JSON_BODY))
    kinds = pc.coalesce(pc.struct_field(text, "kind"), pc.struct_field(kind, "kind"))
    codes = np.array([-1, *KINDS.values()])[
        pc.index_in(pc.utf8_lower(kinds), pa.array(list(KINDS))).fill_null(-1).to_numpy() + 1
    ]
    bodies = pc.coalesce(
        *(
            reduce(
                lambda given, form: pc.replace_substring_regex(given, *form),
                forms,
                pc.struct_field(extracted, "body"),
            )
            for extracted, forms in ((text, OF_WKT), (body, OF_JSON))
        )
    )
    codes[pc.is_null(bodies).to_numpy()] = -1
    rows = np.flatnonzero(codes >= 0)
    parts = pc.split_pattern(bodies.filter(pa.array(codes >= 0)), "|")
    points = pc.split_pattern(flat_lists(parts), ";")
    values = flat_lists(points)
    # What is empty has one empty point.
    filled = pc.not_equal(pc.utf8_trim_whitespace(values), "").to_numpy()
    pairs = pc.extract_regex(values.filter(pa.array(filled)), PAIR)
    x, y = (_numbers(pc.struct_field(pairs, axis)) for axis in (X, Y))
    row = rows[ragged.owners(list_offsets(parts))]
    offsets = ragged.kept(list_offsets(points), filled)
    srids = pc.struct_field(text.drop_null(), "srid")
    named = {f"EPSG:{srid}" if srid else None for srid in pc.unique(srids).to_pylist()}
    named |= {WGS84} if pc.any(pc.and_(pc.is_valid(kind), pc.is_null(text))).as_py() else set()
    if len(named) > 1:
        raise NothingUsable(several_systems(named))
    return Shapes(codes, row, offsets, x, y, np.full(len(x), np.nan)), next(iter(named), None)


def several_systems(named: Iterable[str | None]) -> str:
    """Return the message that geometries disagree about their coordinate system."""
    systems = ", ".join(sorted(str(name or "none") for name in named))
    return f"geometries name different coordinate systems: {systems}"


def _numbers(texts: pa.ChunkedArray) -> Floats:
    good = pc.match_substring_regex(texts, NUMBER).fill_null(False)
    return pc.if_else(good, texts, None).cast(pa.float64()).to_numpy()


def _listed(column: pa.ChunkedArray, sizes: Ints) -> pa.Array:
    """Return the times of all points of each line as texts, from lists or JSON texts. A line whose list has not one
    time for each point has none."""
    moments: list[str | None] = []
    for value, size in zip(column.to_pylist(), sizes.tolist(), strict=True):
        times = value
        if isinstance(value, str):
            with suppress(ValueError):
                times = json.loads(value)
        moments += map(text_of, times) if isinstance(times, list) and len(times) == size else [None] * size
    return pa.array(moments, pa.string())


def _centres(cells: pa.ChunkedArray, name: str) -> tuple[Floats, Floats]:
    """Return longitude and latitude of the centres of cells, which are texts or numbers; NaN for any other value."""
    h3 = needed("h3", "planning")
    encoded = pc.dictionary_encode(cells.combine_chunks())
    places = np.full((len(encoded.dictionary) + 1, 2), np.nan)
    for number, value in enumerate(encoded.dictionary.to_pylist()):
        text = str(value)
        # As a decimal number, a cell has 18 or 19 digits; as a text 15 or 16.
        text = f"{int(text):x}" if text.isdecimal() and len(text) > 16 and int(text) < 1 << 64 else text
        if h3.is_valid_cell(text):
            places[number] = h3.cell_to_latlng(text)
    if len(cells) > 2 * np.count_nonzero(np.isfinite(places[:-1, 0])) == 0:
        raise NothingUsable(f"column {name} must hold cells of H3, it holds {cells[0].as_py()!r}")
    lat, lon = places[encoded.indices.fill_null(-1).to_numpy()].T
    return lon, lat
