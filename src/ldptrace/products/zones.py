"""Zones: polygons of a file, or the cells of H3 at a resolution."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core import layers
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.crs import WGS84, check_degrees, is_geographic, transform
from ldptrace.core.extras import needed
from ldptrace.core.words import count
from ldptrace.errors import DataWarning, FormatError, InputError
from ldptrace.io.geojson import stated_crs
from ldptrace.protocol.grid import Bounds
from ldptrace.protocol.lattice import cell_name

# Columns that name a zone, in the order in which they are looked for.
NAMES = ("zone_id", "zone", "id", "code", "name")
# Two zones share no more than this part of the smaller one: borders that were digitised twice.
OVERLAP = 1e-3
POLYGONS, NO_SHAPE = {"Polygon", "MultiPolygon"}, "rows without a shape"
FINEST = 15
NOWHERE = -1
# The names of zones, and the zone of each point as a number of its name, or `NOWHERE`.
Located = tuple[tuple[str, ...], Ints]


@dataclass(frozen=True, eq=False)
class Polygons:
    """Polygons that do not overlap, in coordinates of `crs` (None: those of the trips).

    >>> import shapely
    >>> halves = Polygons("halves", ("west", "east"), [shapely.box(0, 0, 1, 2), shapely.box(1, 0, 2, 2)])
    >>> halves.locate(np.array([0.5, 1.5, 9.0]), np.array([1.0, 1.0, 1.0]), None)[1].tolist()
    [0, 1, -1]
    """

    name: str
    ids: tuple[str, ...]
    shapes: Any
    crs: str | None = None

    def __post_init__(self) -> None:
        for zone, times in Counter(self.ids).most_common(1):
            if times > 1:
                raise InputError(
                    f"{self.name}: {times} polygons are named {zone!r}; every zone needs a name of its own: merge its "
                    "polygons, or name a column that distinguishes zones with --zone-id"
                )
        shapely = needed("shapely", "planning")
        shapes = np.asarray(self.shapes, dtype=object)
        first, second = shapely.STRtree(shapes).query(shapes, predicate="intersects")
        first, second = first[first < second], second[first < second]
        shared = shapely.area(shapely.intersection(shapes[first], shapes[second]))
        smaller = np.minimum(shapely.area(shapes[first]), shapely.area(shapes[second]))
        wrong = np.flatnonzero(shared > OVERLAP * smaller)
        if len(wrong):
            a, b = self.ids[first[wrong[0]]], self.ids[second[wrong[0]]]
            others = f", and {len(wrong) - 1:,} other pairs" if len(wrong) > 1 else ""
            raise InputError(
                f"{self.name}: zones {a!r} and {b!r} overlap{others}; a trip can begin in one zone only"
            )

    def locate(self, x: Floats, y: Floats, crs: str | None) -> Located:
        """Find the zones of points in the coordinate system `crs`."""
        shapely = needed("shapely", "planning")
        if self.crs is None or is_geographic(self.crs):
            check_degrees(shapely.total_bounds(self.shapes), crs, f"{self.name}: the corners of its zones")
        if self.crs is not None and crs is not None:
            try:
                x, y = transform(x, y, crs, self.crs)
            except InputError as error:
                raise InputError(
                    f"{self.name}: {error}; save the zones in a system of a known place, such as EPSG:4326"
                ) from None
        shapes = np.asarray(self.shapes, dtype=object)
        point, zone = shapely.STRtree(shapes).query(shapely.points(x, y), predicate="intersects")
        place = np.full(len(x), len(shapes), dtype=np.int64)
        # A point on a border belongs to the first of its zones.
        np.minimum.at(place, point, zone)
        place[place == len(shapes)] = NOWHERE
        if len(x) and not (place != NOWHERE).any():
            raise InputError(self._apart(shapely.total_bounds(shapes), x, y))
        return self.ids, place

    def _apart(self, bounds: Floats, x: Floats, y: Floats) -> str:
        """Return the error message if no trip begins or ends in any zone."""
        x0, y0, x1, y1 = bounds
        where, trips = (
            ",".join(f"{value:.6g}" for value in box)
            for box in (bounds, (x.min(), y.min(), x.max(), y.max()))
        )
        said = f"{self.name}: no trip begins or ends in any of its zones; they lie in {where}, the trips in {trips}"
        if ((y >= x0) & (y <= x1) & (x >= y0) & (x <= y1)).any():
            return f"{said}: x and y of the zones seem to be swapped"
        return f"{said}: the zones name no coordinate system" if self.crs is None else said


@dataclass(frozen=True)
class Squares:
    """The squares of a map. Columns are named by letters from the west, rows by numbers from the south.

    >>> Squares((0, 0, 4, 4), 4).locate(np.array([0.5, 3.5]), np.array([0.5, 1.5]), None)[0][:5]
    ('A1', 'A2', 'A3', 'A4', 'B1')
    """

    bounds: Bounds
    side: int
    name: str = "squares"

    @property
    def ids(self) -> tuple[str, ...]:
        """The names of all squares, column by column."""
        return tuple(cell_name(square, self.side) for square in range(self.side**2))

    def locate(self, x: Floats, y: Floats, crs: str | None) -> Located:
        """Find the squares of points; the nearest for those outside."""
        x0, y0, x1, y1 = self.bounds
        column, row = (
            np.clip(np.floor(self.side * (axis - low) / max(high - low, 1e-300)), 0, self.side - 1)
            for axis, low, high in ((x, x0, x1), (y, y0, y1))
        )
        return self.ids, (self.side * column + row).astype(np.int64)


@dataclass(frozen=True)
class H3:
    """The hexagons of H3 at a resolution from 0 to 15. Hexagons in which trips begin or end are the zones.

    >>> zones, place = H3(7).locate(np.array([13.40, 13.40]), np.array([52.50, 52.60]), "EPSG:4326")
    >>> [zones[k] for k in place]
    ['871f1d48bffffff', '871f1d41affffff']
    """

    resolution: int

    @property
    def name(self) -> str:
        return f"h3:{self.resolution}"

    def locate(self, x: Floats, y: Floats, crs: str | None) -> Located:
        """Find the hexagons of points."""
        h3 = needed("h3", "planning")
        if crs is None:
            raise InputError(
                f"{self.name}: hexagons of H3 need longitudes and latitudes, and the trips name no coordinate "
                "system; give it with --crs"
            )
        lon, lat = transform(x, y, crs, WGS84)
        places = zip(lat.tolist(), lon.tolist(), strict=True)
        cells = [h3.latlng_to_cell(north, east, self.resolution) for north, east in places]
        zones, place = np.unique(np.array(cells, dtype=str), return_inverse=True)
        return tuple(zones.tolist()), place.astype(np.int64)


# A division of the plane, or of a part of it, into zones with names: it has a `name`, and locates points.
Zones = Polygons | Squares | H3


def read_zones(source: str | Path, column: str | None = None) -> Zones:
    """Read the zones of `h3:R`, or of a GeoJSON, GeoPackage or Shapefile of polygons. `column` has the names of the
    zones. By default this is the first existing column of zone_id, zone, id, code and name; without any, zones are
    numbered from 1.
    """
    text = str(source)
    if text.lower().startswith("h3:"):
        resolution = text[3:]
        if not resolution.isdigit() or int(resolution) > FINEST:
            raise InputError(f"h3 takes a resolution from 0 to {FINEST}, such as h3:8, got {text!r}")
        return H3(int(resolution))
    path = Path(source)
    if not path.exists():
        raise InputError(f"there is no file {path}; zones are a file of polygons, or h3:R")
    frame = _frame(path)
    crs = None if frame.crs is None else frame.crs.to_string()
    names = _names(frame, column, path)
    return Polygons(str(path), names, _repaired(frame.geometry, names, path), crs)


def _frame(path: Path) -> Any:
    """Read the rows of a file of polygons."""
    geopandas = needed("geopandas", "planning")
    try:
        with warnings.catch_warnings():
            # Of a file with several layers the first one is read.
            warnings.filterwarnings("ignore", "More than one layer found")
            # Corners that are no numbers are looked for below.
            warnings.filterwarnings("ignore", "invalid value encountered")
            with path.open("rb") as file:
                start = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
            if start.startswith(b"{"):
                frame = _of_features(geopandas, path)
            else:
                with layers.opened(path) as (_, resolved):
                    frame = geopandas.read_file(resolved, engine="pyogrio")
    except Exception as error:  # GDAL's drivers fail in many ways, all of which mean the same here
        reason = str(error).partition(";")[0].rstrip(".").removeprefix("cannot be read: ")
        raise FormatError(f"{path}: the zones cannot be read: {reason}") from None
    kinds: set[str] = set()
    if len(frame):
        placed = getattr(frame, "active_geometry_name", None) is not None
        kinds = set(frame.geom_type.fillna(NO_SHAPE)) if placed else {NO_SHAPE}
    if not kinds or not kinds <= POLYGONS:
        raise FormatError(
            f"{path}: zones are polygons, this file has {', '.join(sorted(kinds - POLYGONS)) or 'none'}"
        )
    return frame


def _of_features(geopandas: Any, path: Path) -> Any:
    """Read the features of GeoJSON. An id beside the properties is a column `id`."""
    document = json.loads(path.read_bytes())
    if "type" not in document:
        raise FormatError("it is not GeoJSON")
    single = document if "geometry" in document else {"geometry": document}
    features = [
        {
            "geometry": feature["geometry"],
            "properties": {key: feature[key] for key in ("id",) if key in feature}
            | (feature.get("properties") or {}),
        }
        for feature in document.get("features", [single])
    ]
    if not features:
        return geopandas.GeoDataFrame()
    return geopandas.GeoDataFrame.from_features(features, crs=stated_crs(path))


def _repaired(shapes: Any, names: Sequence[str], path: Path) -> Any:
    """Return the shapes of zones, with self-crossing shapes repaired. A shape without area is an error."""
    shapely = needed("shapely", "planning")
    if not np.isfinite(shapely.get_coordinates(shapes)).all():
        raise FormatError(f"{path}: some corners of the zones are not finite numbers")
    valid = shapes.make_valid().to_numpy()
    flat = np.flatnonzero(shapely.area(valid) == 0)
    if len(flat):
        raise FormatError(
            f"{path}: {len(flat):,} of {len(names):,} zones cover no ground, such as {names[flat[0]]!r}; "
            "omit or repair them"
        )
    crossed = np.flatnonzero(~shapes.is_valid.to_numpy())
    if len(crossed):
        warnings.warn(
            f"{path}: {count(len(crossed), 'zone')} with an outline that crosses or touches itself, such as "
            f"{names[crossed[0]]!r}, repaired: look at the result",
            DataWarning,
            stacklevel=3,
        )
    return valid


def _names(frame: Any, column: str | None, path: Path) -> tuple[str, ...]:
    if column is not None and column not in frame.columns:
        known = ", ".join(map(str, frame.columns.drop(frame.active_geometry_name))) or "none"
        raise InputError(f"{path}: there is no column {column!r}; its columns are {known}")
    lower = {str(name).lower(): name for name in frame.columns}
    usual = [lower[name] for name in NAMES if name in lower and any(map(_text, frame[lower[name]]))]
    name = column or next(iter(usual), None)
    if name is None:
        return tuple(str(number) for number in range(1, len(frame) + 1))
    names = tuple(map(_text, frame[name]))
    unnamed = names.count("")
    if unnamed:
        raise InputError(
            f"{path}: {unnamed:,} of {len(frame):,} zones have no value in the column {str(name)!r}, which names them; "
            "fill it, or name another column with --zone-id"
        )
    return names


def _text(value: Any) -> str:
    """Return the name of a zone without blanks around it and without the decimal point of whole numbers, or an empty
    text.

    >>> _text(12.0), _text(" A7"), _text(None), _text(float("nan"))
    ('12', 'A7', '', '')
    """
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
