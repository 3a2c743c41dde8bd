"""GeoPackage and Shapefile: layers of points and lines, read and written with pyogrio, which is an extra.

Geometries are parsed from well-known binary into columns, without any other library.

The library behind pyogrio, GDAL, recognises files by their content, and some of its formats are documents that name
other files, databases and addresses to open. So a file is opened only if its first bytes are those of a GeoPackage or a
Shapefile, and with the driver of this format alone.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import struct
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.atomic import fullness
from ldptrace.core.crs import WGS84
from ldptrace.core.extras import needed
from ldptrace.core.values import pc
from ldptrace.errors import FormatError

Bytes = NDArray[np.uint8]

POINT, LINE, MULTI_POINT, MULTI_LINE = 1, 2, 4, 5
# Bytes of the byte order and the kind, of a count, and of a coordinate.
_HEAD, _COUNT, _NUMBER = 5, 4, 8


@dataclass(frozen=True, eq=False)
class Shapes:
    """The parts of many geometries, one after the other; a point is a part with one point. `kind[k]` is the kind of
    geometry of row `k`, or 0 if the row has none. Part `p` belongs to the row `row[p]`, and its points are
    `offsets[p]:offsets[p + 1]`. `m` are the measures, or NaN. Geometries that are neither points nor lines have no
    parts.
    """

    kind: Ints
    row: Ints
    offsets: Ints
    x: Floats
    y: Floats
    m: Floats

    def only(self, kinds: Sequence[int]) -> Shapes:
        """Return the shapes without the parts of other kinds."""
        return self._taken(np.flatnonzero(np.isin(self.kind[self.row], kinds)))

    def in_every_row(self, points: int) -> Shapes:
        """Return the shapes with one more part in each row that has none: this number of points without a place."""
        rows = np.setdiff1d(np.arange(len(self.kind)), self.row)
        sizes = np.concatenate([np.diff(self.offsets), np.full(len(rows), points)])
        nowhere = np.full(points * len(rows), np.nan)
        x, y, m = (np.concatenate([values, nowhere]) for values in (self.x, self.y, self.m))
        found = Shapes(self.kind, np.concatenate([self.row, rows]), ragged.offsets_of(sizes), x, y, m)
        return found._taken(np.argsort(found.row, kind="stable"))

    def _taken(self, parts: Ints) -> Shapes:
        offsets, at = ragged.taken(self.offsets, parts)
        return Shapes(self.kind, self.row[parts], offsets, self.x[at], self.y[at], self.m[at])


@dataclass(frozen=True)
class _Layout:
    """How the numbers of a geometry are stored: the byte order, and whether there are heights and measures."""

    order: str
    height: bool
    measured: bool

    @property
    def wide(self) -> int:
        return 2 + self.height + self.measured


def shapes_of(column: pa.ChunkedArray) -> Shapes:
    """Parse the geometries of a column. Missing geometries have no parts.

    >>> import struct
    >>> found = shapes_of(pa.chunked_array([[struct.pack("<BIIdddd", 1, 2, 2, 0.0, 1.0, 2.0, 3.0), None]]))
    >>> found.kind.tolist(), found.x.tolist(), found.y.tolist()
    ([2, 0], [0.0, 2.0], [1.0, 3.0])
    """
    known = pc.greater(pc.binary_length(column), _HEAD).fill_null(False)
    rows = np.flatnonzero(known.to_numpy())
    kind = np.zeros(len(column), dtype=np.int64)
    found = [(rows[:0], rows[:0], np.empty((0, 3)))]
    if len(rows):
        blobs = pa.concat_arrays(column.filter(known).cast(pa.large_binary()).chunks)
        _, ends, data = blobs.buffers()
        starts = np.frombuffer(ends, np.int64)[blobs.offset : blobs.offset + len(blobs)]
        found += _parts(np.frombuffer(data, np.uint8), starts, rows, kind)
    row, sizes, points = (np.concatenate(columns) for columns in zip(*found, strict=True))
    all_of = Shapes(kind, row, ragged.offsets_of(sizes), *points.T)
    return all_of._taken(np.argsort(row, kind="stable"))


def _parts(
    data: Bytes, starts: Ints, rows: Ints, kinds: Ints | None = None
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield the rows, sizes and points of the parts of geometries that begin at `starts`, and fill `kinds`."""
    heads = data[starts[:, None] + np.arange(_HEAD)]
    packed = heads @ (1 << 8 * np.arange(_HEAD))
    for layout_code in np.unique(packed):
        own = np.flatnonzero(packed == layout_code)
        head = heads[own[0]]
        order = "<" if head[0] == 1 else ">"
        code = int(head[1:].copy().view(f"{order}u4")[0])
        # ISO encodes heights and measures as thousands, others as high bits.
        thousands, kind = divmod(code & 0xFFFF, 1000)
        height, measured = (
            bool(code >> 31) or thousands in (1, 3),
            bool(code >> 30 & 1) or thousands in (2, 3),
        )
        layout = _Layout(order, height, measured)
        if kinds is not None:
            kinds[rows[own]] = kind
        at = starts[own] + _HEAD + (_COUNT if code >> 29 & 1 else 0)
        if kind == POINT:
            points = _points(data, at, np.ones(len(at), dtype=np.int64), layout)
            # A point that is empty has no place.
            placed = ~np.isnan(points[:, :2]).all(axis=1)
            yield rows[own][placed], np.ones(int(placed.sum()), dtype=np.int64), points[placed]
        elif kind == LINE:
            sizes = _counts(data, at, order)
            yield rows[own], sizes, _points(data, at + _COUNT, sizes, layout)
        elif kind in (MULTI_POINT, MULTI_LINE):
            members, whose = _members(data, at, rows[own], layout, lines=kind == MULTI_LINE)
            yield from _parts(data, members, whose)


def _members(data: Bytes, at: Ints, rows: Ints, layout: _Layout, *, lines: bool) -> tuple[Ints, Ints]:
    """Return where the members of collections begin, and to which collection they belong: first all first members, then
    all second members, and so on."""
    left, at = _counts(data, at, layout.order), at + _COUNT
    starts, whose = [at[:0]], [rows[:0]]
    while (more := left > 0).any():
        at, rows, left = at[more], rows[more], left[more] - 1
        starts.append(at)
        whose.append(rows)
        point = _NUMBER * layout.wide
        size = _COUNT + point * _counts(data, at + _HEAD, layout.order) if lines else point
        at = at + _HEAD + size
    return np.concatenate(starts), np.concatenate(whose)


def _counts(data: Bytes, at: Ints, order: str) -> Ints:
    return data[at[:, None] + np.arange(_COUNT)].view(f"{order}u4")[:, 0].astype(np.int64)


def _points(data: Bytes, at: Ints, sizes: Ints, layout: _Layout) -> Floats:
    """Return x, y and m of points: `sizes[k]` of them stand one after the other from the byte `at[k]` on."""
    point = _NUMBER * layout.wide
    _, starts = ragged.ranges(np.zeros_like(at), sizes)
    first = np.repeat(at, sizes) + point * starts
    values = np.full((len(first), 3), np.nan)
    for column, place in ((0, 0), (1, 1), *(((2, layout.wide - 1),) if layout.measured else ())):
        own = data[(first + _NUMBER * place)[:, None] + np.arange(_NUMBER)]
        values[:, column] = own.view(f"{layout.order}f8")[:, 0]
    return values


DEGREES_LIKE_WGS84 = {"EPSG:4258", "EPSG:4269", "EPSG:4283", "EPSG:4490", "OGC:CRS84"}


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of a file: its name, the kind of its shapes as the file states it, the shapes of its rows, their other
    columns, its coordinate system, and notes."""

    name: str
    kind: str
    shapes: Shapes
    columns: pa.Table
    crs: str | None
    notes: tuple[str, ...]


def read_layer(path: Path, kinds: Sequence[str], prefer: str | None = None, *, public: bool = True) -> Layer:
    """Read the preferred layer of a file, or the first layer with geometries of these kinds (`Point`, `LineString`).

    If a public file states no coordinate system, its numbers are taken as degrees where they can be. The numbers of
    a file that is not public decide nothing.
    """
    with opened(path) as (pyogrio, path):
        # A layer of any geometries says that its kind is unknown.
        held = ("Unknown", *kinds)
        listed = ((str(name), str(kind)) for name, kind in pyogrio.list_layers(path))
        layers = {name: kind for name, kind in listed if any(one in kind for one in held)}
        if not layers:
            wanted = " or ".join({"Point": "points", "LineString": "lines"}[kind] for kind in kinds)
            raise FormatError(f"there is no layer of {wanted} in it")
        name = prefer if prefer in layers else next(iter(layers))
        meta, table = pyogrio.read_arrow(path, layer=name)
    # A Shapefile has no name for it.
    geometry = meta["geometry_name"] or "wkb_geometry"
    shapes = shapes_of(table[geometry])
    crs, notes = _label(meta["crs"], shapes if public else None)
    if crs is None and not public:
        notes += ("no coordinate system is given; name it with crs (--crs), such as EPSG:4326 for degrees",)
    notes += (f"layer {name} of {len(layers)}: {', '.join(layers)}",) if len(layers) > 1 else ()
    return Layer(
        name, layers[name], shapes, table.drop_columns([geometry]).replace_schema_metadata(None), crs, notes
    )


def stated_crs(path: Path) -> str | None:
    """Return the coordinate system of the first layer, also if it has no rows."""
    with opened(path) as (pyogrio, path):
        return _label(pyogrio.read_info(path)["crs"])[0]


def write_lines(
    path: Path, name: str, lines: Sequence[Floats], columns: Mapping[str, Any], crs: str | None
) -> None:
    """Write a GeoPackage with one layer of lines. A line of one point becomes a Point, and one without points has no
    geometry."""
    pyogrio = needed("pyogrio", "roads")
    head = np.array([(1, 2, 0)], dtype=[("order", "u1"), ("kind", "<u4"), ("count", "<u4")])
    point = struct.pack("<BI", 1, POINT)
    blobs: list[bytes | None] = []
    for line in lines:
        head["count"] = len(line)
        start = head.tobytes() if len(line) > 1 else point
        blobs.append(start + np.ascontiguousarray(line, dtype="<f8").tobytes() if len(line) else None)
    table = pa.table({**columns, "geometry": pa.array(blobs, type=pa.binary())})
    with warnings.catch_warnings():
        # Some networks have no coordinate system.
        warnings.filterwarnings("ignore", "'crs' was not provided")
        # In memory, because the library does not report that the last part did not fit on the disk.
        written = BytesIO()
        pyogrio.write_arrow(
            *(table, written, name),
            driver="GPKG",
            geometry_name="geometry",
            geometry_type="Unknown" if any(len(line) == 1 for line in lines) else "LineString",
            crs=crs,
        )
    path.write_bytes(written.getvalue())


def check_geopackage(path: Path, rows: Mapping[str, int]) -> None:
    """Raise an error of the system unless a file that was just written holds these layers with these numbers of rows.

    GDAL reports no error if the last part of a file did not fit on the disk.
    """
    try:
        with closing(sqlite3.connect(path)) as database:
            (sound,) = database.execute("PRAGMA integrity_check").fetchone()
            layers = database.execute("SELECT table_name, column_name FROM gpkg_geometry_columns").fetchall()
            held, indexed = (
                {
                    name[0]: database.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
                    for name, table in names
                }
                for names in (
                    [(layer, layer[0]) for layer in layers],
                    [(layer, "rtree_{}_{}".format(*layer)) for layer in layers],
                )
            )
        whole = sound == "ok" and held == indexed == dict(rows)
    except sqlite3.Error:
        whole = False
    if not whole:
        code = fullness(path) or errno.EIO
        raise OSError(code, os.strerror(code))


# The drivers that are meant, by GDAL's names, with the bytes that their files begin with: where, and which.
GEOPACKAGE, SHAPEFILE = "GPKG", "ESRI Shapefile"
_MAGIC: dict[str, tuple[tuple[int, tuple[bytes, ...]], ...]] = {
    GEOPACKAGE: ((0, (b"SQLite format 3\0",)), (68, (b"GPKG", b"GP10", b"GP11"))),
    SHAPEFILE: ((0, (b"\x00\x00\x27\x0a",)), (28, (b"\xe8\x03\x00\x00",))),
}
_HEADER = 100
# The drivers of GDAL belong to the process, and so does the right to change them.
_DRIVERS = threading.RLock()


def driver_of(path: Path) -> str:
    """Return the driver that reads a file, by its first bytes. Any other file is an error."""
    with path.open("rb") as file:
        head = file.read(_HEADER)
    for name, marks in _MAGIC.items():
        if all(head.startswith(known, at) for at, known in marks):
            return name
    raise FormatError("cannot be read: its content is neither a GeoPackage nor a Shapefile")


@contextmanager
def opened(path: Path) -> Iterator[tuple[Any, Path]]:
    """Give the library pyogrio with the driver of this file alone, and the path to open. Errors of the library become
    errors of this package."""
    pyogrio = needed("pyogrio", "roads")
    name = driver_of(path)
    with warnings.catch_warnings(), only_driver(name):
        # What comes through a pipe has no name of its own.
        warnings.filterwarnings("ignore", ".*non conformant file extension", RuntimeWarning)
        try:
            # A path from the root cannot be taken for the name of a virtual file system.
            yield pyogrio, path.resolve()
        except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError) as error:
            raise FormatError(f"cannot be read: {str(error).splitlines()[0]}") from None


@contextmanager
def only_driver(name: str) -> Iterator[None]:
    """Leave GDAL one driver, and give it back the others afterwards."""
    pyogrio = needed("pyogrio", "roads")
    with _DRIVERS:
        before = pyogrio.get_gdal_config_option("GDAL_SKIP")
        others = ",".join(other for other in pyogrio.list_drivers() if other != name)
        try:
            _register(pyogrio, others)
            if set(pyogrio.list_drivers()) - {name}:
                raise FormatError("cannot be read: the drivers of GDAL cannot be limited")
            yield
        finally:
            _register(pyogrio, before)


def _register(pyogrio: Any, without: str | None) -> None:
    """Register the drivers of GDAL again, without these."""
    pyogrio.set_gdal_config_options({"GDAL_SKIP": without})
    pyogrio._ogr._register_drivers()


def _label(crs: str | None, shapes: Shapes | None = None) -> tuple[str | None, tuple[str, ...]]:
    """Return the coordinate system of a file. Systems that nearly agree with WGS84 are treated as WGS84, and so are
    numbers without a system that can be degrees."""
    if crs in DEGREES_LIKE_WGS84:
        return WGS84, (f"{crs} is taken as {WGS84}, they differ by a metre or so",)
    if crs is None and shapes is not None and len(shapes.x) and _fit_degrees(shapes):
        return WGS84, (f"no coordinate system is given; the numbers are taken as degrees ({WGS84})",)
    return crs, ()


def _fit_degrees(shapes: Shapes) -> bool:
    return bool(np.all(np.abs(shapes.x) <= 180) and np.all(np.abs(shapes.y) <= 90))
