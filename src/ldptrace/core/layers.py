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
from ldptrace.errors import FormatError

# Kinds of geometries, as Shapely numbers them.
POINT, LINE, MULTI_POINT, MULTI_LINE = 0, 1, 4, 5


@dataclass(frozen=True, eq=False)
class Shapes:
    """The parts of many geometries, one after the other; a point is a part with one point. `kind[k]` is the kind of
    geometry of row `k`, or -1 if the row has none. Part `p` belongs to the row `row[p]`, and its points are
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
        shapes = Shapes(self.kind, np.concatenate([self.row, rows]), ragged.offsets_of(sizes), x, y, m)
        return shapes._taken(np.argsort(shapes.row, kind="stable"))

    def _taken(self, parts: Ints) -> Shapes:
        offsets, at = ragged.taken(self.offsets, parts)
        return Shapes(self.kind, self.row[parts], offsets, self.x[at], self.y[at], self.m[at])


def shapes_of(column: pa.ChunkedArray) -> Shapes:
    """Parse the geometries of a column, in well-known binary. A missing or broken one has no parts.

    >>> import shapely
    >>> blobs = [shapely.to_wkb(shapely.LineString([(0, 1), (2, 3)])), None]
    >>> shapes = shapes_of(pa.chunked_array([blobs]))
    >>> shapes.kind.tolist(), shapes.x.tolist(), shapes.y.tolist()
    ([1, -1], [0.0, 2.0], [1.0, 3.0])
    """
    # Few inputs have geometries.
    import shapely

    with np.errstate(all="ignore"):
        geometries = shapely.from_wkb(column.to_numpy(), on_invalid="ignore")
    kind = shapely.get_type_id(geometries)
    rows = np.flatnonzero(np.isin(kind, (POINT, LINE, MULTI_POINT, MULTI_LINE)))
    parts, owner = shapely.get_parts(geometries[rows], return_index=True)
    # A point that is empty has no place.
    placed = (shapely.get_type_id(parts) != POINT) | ~shapely.is_empty(parts)
    points, part = shapely.get_coordinates(parts[placed], include_m=True, return_index=True)
    sizes = np.bincount(part, minlength=int(np.count_nonzero(placed)))
    return Shapes(kind.astype(np.int64), rows[owner[placed]], ragged.offsets_of(sizes), *points.T)


def geometries_of(x: Floats, y: Floats, offsets: Ints) -> NDArray[np.object_]:
    """Return the geometry of each trajectory: a line, a Point where it has one point, and None where it has none."""
    import shapely

    points, sizes = np.column_stack([x, y]), np.diff(offsets)
    geometries = np.full(len(sizes), None, dtype=object)
    single, line = sizes == 1, sizes >= 2
    geometries[single] = shapely.points(points[offsets[:-1][single]])
    owner = np.repeat(np.arange(line.sum()), sizes[line])
    geometries[line] = shapely.linestrings(points[np.repeat(line, sizes)], indices=owner)
    return geometries


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
    path: Path, name: str, lines: NDArray[np.object_], columns: Mapping[str, Any], crs: str | None
) -> None:
    """Write a GeoPackage with one layer of lines, as `geometries_of` makes them."""
    import shapely

    pyogrio = needed("pyogrio", "roads")
    table = pa.table({**columns, "geometry": pa.array(shapely.to_wkb(lines), type=pa.binary())})
    with warnings.catch_warnings():
        # Some networks have no coordinate system.
        warnings.filterwarnings("ignore", "'crs' was not provided")
        # In memory, because the library does not report that the last part did not fit on the disk.
        written = BytesIO()
        pyogrio.write_arrow(
            *(table, written, name),
            driver="GPKG",
            geometry_name="geometry",
            geometry_type="Unknown" if np.any(shapely.get_type_id(lines) == POINT) else "LineString",
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

            def size(table: str) -> int:
                return int(database.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])

            held = {name: size(name) for name, _ in layers}
            indexed = {name: size(f"rtree_{name}_{column}") for name, column in layers}
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
    errors of this package, and GDAL gets its other drivers back afterwards."""
    pyogrio = needed("pyogrio", "roads")
    name = driver_of(path)
    with warnings.catch_warnings(), _DRIVERS:
        # What comes through a pipe has no name of its own.
        warnings.filterwarnings("ignore", ".*non conformant file extension", RuntimeWarning)
        before = pyogrio.get_gdal_config_option("GDAL_SKIP")
        try:
            _register(pyogrio, ",".join(other for other in pyogrio.list_drivers() if other != name))
            if set(pyogrio.list_drivers()) - {name}:
                raise FormatError("cannot be read: the drivers of GDAL cannot be limited")
            # A path from the root cannot be taken for the name of a virtual file system.
            yield pyogrio, path.resolve()
        except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError) as error:
            raise FormatError(f"cannot be read: {str(error).splitlines()[0]}") from None
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
    if crs is not None or shapes is None or len(shapes.x) == 0:
        return crs, ()
    if (np.abs(shapes.x) <= 180).all() and (np.abs(shapes.y) <= 90).all():
        return WGS84, (f"no coordinate system is given; the numbers are taken as degrees ({WGS84})",)
    return crs, ()
