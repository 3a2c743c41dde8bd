"""GeoPackage and Shapefile: layers of points and lines, read and written with pyogrio, which is an extra."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldptrace.core.crs import WGS84
from ldptrace.core.wkb import Shapes, shapes_of
from ldptrace.errors import FormatError, InputError

DEGREES_LIKE_WGS84 = {"EPSG:4258", "EPSG:4269", "EPSG:4283", "EPSG:4490", "OGC:CRS84"}


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of a file: the shapes of its rows, their other columns, its coordinate system, and notes."""

    shapes: Shapes
    columns: pa.Table
    crs: str | None
    notes: tuple[str, ...]


def read_layer(path: Path, kinds: Sequence[str], prefer: str | None = None) -> Layer:
    """The first layer of a file that holds geometries of some kinds (`Point`, `LineString`), or the preferred one."""
    with _opened(path) as pyogrio:
        layers = [str(name) for name, kind in pyogrio.list_layers(path) if _holds(str(kind), kinds)]
        if not layers:
            wanted = " or ".join({"Point": "points", "LineString": "lines"}[kind] for kind in kinds)
            raise FormatError(f"there is no layer of {wanted} in it")
        name = prefer if prefer in layers else layers[0]
        meta, table = pyogrio.read_arrow(path, layer=name)
    # A Shapefile has no name for it.
    geometry = meta["geometry_name"] or "wkb_geometry"
    shapes = shapes_of(table[geometry])
    crs, notes = _label(meta["crs"], shapes)
    notes += (f"layer {name} of {len(layers)}: {', '.join(layers)}",) if len(layers) > 1 else ()
    return Layer(shapes, table.drop_columns([geometry]).replace_schema_metadata(None), crs, notes)


def stated_crs(path: Path) -> str | None:
    """The coordinate system of the first layer, also of one without rows."""
    with _opened(path) as pyogrio:
        return _label(pyogrio.read_info(path)["crs"])[0]


def write_lines(
    path: Path, name: str, lines: Sequence[NDArray[np.float64]], columns: Mapping[str, Any], crs: str | None
) -> None:
    """A GeoPackage with one layer of lines."""
    pyogrio = _pyogrio(path)
    head = np.array([(1, 2, 0)], dtype=[("order", "u1"), ("kind", "<u4"), ("count", "<u4")])
    blobs = []
    for line in lines:
        head["count"] = len(line)
        blobs.append(head.tobytes() + np.ascontiguousarray(line, dtype="<f8").tobytes())
    table = pa.table({**columns, "geometry": pa.array(blobs, type=pa.binary())})
    with warnings.catch_warnings():
        # Some networks have no coordinate system.
        warnings.filterwarnings("ignore", "'crs' was not provided")
        pyogrio.write_arrow(
            *(table, path, name),
            driver="GPKG",
            geometry_name="geometry",
            geometry_type="LineString",
            crs=crs,
        )


def _holds(kind: str, kinds: Sequence[str]) -> bool:
    """Whether a layer may hold such geometries; one of any kind says it is of unknown kind."""
    return kind == "Unknown" or any(wanted in kind for wanted in kinds)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The library, while it reads a file; its complaints are ours."""
    pyogrio = _pyogrio(path)
    with warnings.catch_warnings():
        # What comes through a pipe has no name of its own.
        warnings.filterwarnings("ignore", ".*non conformant file extension", RuntimeWarning)
        try:
            yield pyogrio
        except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError) as error:
            raise FormatError(f"cannot be read: {str(error).splitlines()[0]}") from None


def _pyogrio(path: Path) -> Any:
    try:
        import pyogrio
    except ImportError:
        raise InputError(
            f"pyogrio is needed for {path.suffix} files; install it with: pip install 'ldptrace[roads]'"
        ) from None
    return pyogrio


def _label(crs: str | None, shapes: Shapes | None = None) -> tuple[str | None, tuple[str, ...]]:
    """The coordinate system of a file; degrees of other surveys are taken as those of GPS."""
    if crs in DEGREES_LIKE_WGS84:
        return WGS84, (f"{crs} is taken as {WGS84}, they differ by a metre or so",)
    if crs is None and shapes is not None and len(shapes.x) and _fit_degrees(shapes):
        return WGS84, (f"no coordinate system is given; the numbers are taken as degrees ({WGS84})",)
    return crs, ()


def _fit_degrees(shapes: Shapes) -> bool:
    return bool(np.all(np.abs(shapes.x) <= 180) and np.all(np.abs(shapes.y) <= 90))
