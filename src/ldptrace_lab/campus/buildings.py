"""Buildings of a campus and what they are for: read from GeoJSON or a table, or generated."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.spatial import cKDTree
from shapely.errors import ShapelyError
from shapely.geometry import MultiPolygon, Polygon, shape

from ldptrace.core.arrays import Floats
from ldptrace.core.crs import WGS84, LocalPlane
from ldptrace.errors import FormatError, InputError
from ldptrace.roads.readers.folder import find, numbers, positions, read_table
from ldptrace_lab.campus.pois import Pois

USAGE_NAMES = ("BLDG_USAGE", "usage", "category", "use", "type", "building", "amenity")
TITLE_NAMES = ("name", "title", "building_name", "label")

# Zones of a generated campus: how many, how far from the middle (share of its radius), and the mix of usages.
ZONES: tuple[tuple[int, float, float, dict[str, float]], ...] = (
    (
        4,
        0.0,
        0.3,
        {"academic": 6, "research": 2, "commons": 1, "services": 1, "administrative": 1, "commercial": 0.4},
    ),
    (3, 0.3, 0.55, {"research": 3, "academic": 3, "services": 2, "operations": 1, "parking": 0.7}),
    (3, 0.5, 0.8, {"studenthousing": 8, "commons": 0.6, "commercial": 0.6, "services": 0.5}),
    (4, 0.65, 0.95, {"housing": 9, "services": 0.8, "commercial": 0.4, "parking": 0.4}),
    (1, 0.6, 0.8, {"athletics": 5, "parking": 1}),
    (1, 0.75, 0.9, {"operations": 5, "parking": 1}),
)


class Usage(NamedTuple):
    """What a category of buildings is like.

    Its place in the tree of categories, its opening hours, how much it draws people, at which hour most and
    how many hours around it, and how many minutes they stay.
    """

    path: str
    opens: float
    closes: float
    draw: float
    peak: float
    width: float
    stay: float


USAGES = {
    "academic": Usage("study/academic", 7, 22, 5.0, 12.5, 4.0, 60),
    "research": Usage("study/research", 7, 21, 2.0, 13.0, 4.0, 80),
    "commons": Usage("study/commons", 7, 24, 3.0, 14.0, 6.0, 40),
    "library": Usage("study/library", 8, 24, 3.0, 15.0, 6.0, 80),
    "administrative": Usage("work/administrative", 8, 17, 1.0, 11.5, 3.0, 30),
    "operations": Usage("work/operations", 6, 18, 0.6, 10.0, 4.0, 60),
    "services": Usage("service/services", 8, 20, 1.5, 13.0, 4.0, 15),
    "commercial": Usage("service/commercial", 8, 23, 2.0, 12.5, 3.0, 25),
    "athletics": Usage("leisure/athletics", 6, 23, 1.5, 18.0, 3.0, 60),
    "housing": Usage("living/housing", 0, 24, 1.5, 20.0, 5.0, 90),
    "studenthousing": Usage("living/student housing", 0, 24, 3.0, 20.0, 5.0, 90),
    "parking": Usage("transport/parking", 0, 24, 0.8, 12.0, 7.0, 5),
}
# Where nothing is known about a category.
ORDINARY = Usage("other", 8, 20, 0.7, 13.0, 4.0, 30)


def usage_of(category: str) -> Usage:
    """Return what is known about a category; an unknown one is ordinary, under its own name.

    >>> usage_of("StudentHousing").path, usage_of("Observatory").path
    ('living/student housing', 'other/observatory')
    """
    leaf = category.rsplit("/", 1)[-1].strip().lower()
    known = USAGES.get("".join(leaf.split()))
    if known is not None:
        return known
    return ORDINARY if leaf in {"", "other"} else ORDINARY._replace(path=f"other/{leaf}")


@dataclass(frozen=True, eq=False)
class Buildings:
    """Buildings as public places, in metres; `plane` leads back to degrees if they came in degrees.

    `tilt` is the direction along which they stand, in radians.
    """

    pois: Pois
    tilt: float
    plane: LocalPlane | None = None

    def published(self) -> Pois:
        """Return the places in the coordinates they came in."""
        if self.plane is None:
            return self.pois
        lon, lat = self.plane.to_degrees(self.pois.x, self.pois.y)
        return replace(self.pois, x=lon, y=lat, crs=WGS84)


def read_buildings(path: str | Path, hours: Mapping[str, tuple[float, float]] | None = None) -> Buildings:
    """Read the buildings of a GeoJSON file (polygons or points) or of a table with coordinates.

    The category is the column or property `BLDG_USAGE`, `usage`, `category`, ...; `hours` overrides the
    opening hours of categories by their name in the file or in the tree.
    """
    source = Path(path)
    geojson = source.suffix.lower() in {".geojson", ".json"}
    table = _features(source) if geojson else read_table(source)
    x, y, in_degrees = positions(table, source)
    if in_degrees and len(y) and np.abs(y).max() > 90 and np.abs(x).max() <= 90:
        warnings.warn(f"longitude and latitude are swapped in {source}; they were swapped back", stacklevel=3)
        x, y = y, x
    column, title, size = (find(table, names) for names in (USAGE_NAMES, TITLE_NAMES, ("area", "footprint")))
    if column is None:
        raise FormatError(
            f"{source} has no column for the category of a building ({', '.join(USAGE_NAMES)}); "
            f"its columns are {', '.join(table.column_names)}"
        )
    usage, names = _text(table[column]), [""] * len(x) if title is None else _text(table[title])
    area = np.zeros(len(x)) if size is None else numbers(table, size, source)
    if len(x) < 2:
        raise InputError(f"{source} holds {len(x)} usable buildings; walks need at least 2")
    plane = LocalPlane.around(x, y) if in_degrees else None
    if plane is not None:
        x, y = plane.to_metres(x, y)
        area = area * np.prod(plane.scale)
    # Larger buildings hold more people, less than in proportion; unknown areas count as the usual one.
    known = area > 0
    usual = float(np.median(area[known])) if known.any() else 1.0
    popularity = np.sqrt(np.where(known, area, usual) / usual)
    return Buildings(places(x, y, usage, names, popularity, hours or {}), _tilt(x, y), plane)


def _tilt(x: Floats, y: Floats) -> float:
    """Return the direction, up to right angles, in which most buildings have their neighbours."""
    _, near = cKDTree(np.c_[x, y]).query(np.c_[x, y], k=min(4, len(x)))
    dx, dy = x[near[:, 1:]] - x[:, None], y[near[:, 1:]] - y[:, None]
    # Four times an angle is the same for directions that differ by right angles, so their mean is that of unit vectors.
    return float(np.angle(np.sum(np.exp(4j * np.arctan2(dy, dx)))) / 4)


def places(
    x: Floats,
    y: Floats,
    usage: list[str],
    names: list[str],
    popularity: Floats,
    hours: Mapping[str, tuple[float, float]],
) -> Pois:
    paths = [usage_of(category).path for category in usage]
    spans = {usage_of(category).path: usage_of(category)[1:3] for category in usage}
    for category, span in hours.items():
        path = category if category in spans else usage_of(category).path
        if path not in spans:
            raise InputError(
                f"no building has the category {category!r}; there are {', '.join(sorted(spans))}"
            )
        spans[path] = span
    return Pois.build(x, y, paths, spans, names, popularity)


def _text(column: pa.ChunkedArray) -> list[str]:
    return ["" if value is None else str(value) for value in column.to_pylist()]


def _features(path: Path) -> pa.Table:
    """Return a table with a row for each feature of a GeoJSON file that has a place."""
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    try:
        features = json.loads(path.read_text(encoding="utf-8"))["features"]
        rows = [row for feature in features if (row := _building(feature)) is not None]
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, ShapelyError):
        raise FormatError(f"{path} is not a GeoJSON collection of features with polygons or points") from None
    if len(rows) < len(features):
        warnings.warn(
            f"{len(features) - len(rows)} features of {path} are neither polygons nor points", stacklevel=4
        )
    x, y, area, usage, names = zip(*rows, strict=True) if rows else [()] * 5
    if rows and not any(usage):
        raise FormatError(
            f"no feature of {path} has a property for the category of a building ({', '.join(USAGE_NAMES)})"
        )
    in_degrees = bool(np.all(np.abs(x) <= 180) and np.all(np.abs(y) <= 90))
    middles = dict(zip(("lon", "lat") if in_degrees else ("x", "y"), (x, y), strict=True))
    return pa.table({**middles, "area": area, "usage": usage, "name": names})


def _building(feature: Mapping[str, Any]) -> tuple[float, float, float, str, str] | None:
    """Return the middle, area, usage and name of a feature, or None if it has no place."""
    geometry, properties = feature.get("geometry") or {}, feature.get("properties") or {}
    known = {name.lower(): str(value) for name, value in properties.items() if value is not None}
    usage = next((known[name.lower()] for name in USAGE_NAMES if name.lower() in known), "")
    name = next((known[name] for name in TITLE_NAMES if name in known), "")
    if geometry.get("type") == "Point":
        lon, lat = geometry["coordinates"][:2]
        return float(lon), float(lat), 0.0, usage, name
    if geometry.get("type") not in {"Polygon", "MultiPolygon"}:
        return None
    # Without the holes of courtyards.
    outlines = [Polygon(part.exterior) for part in getattr(shape(geometry), "geoms", [shape(geometry)])]
    area = sum(outline.area for outline in outlines)
    middle = MultiPolygon(outlines).centroid
    if middle.is_empty:
        return None
    return middle.x, middle.y, area, usage, name


def made_up_buildings(rng: np.random.Generator, count: int = 320, size: float = 2400.0) -> Buildings:
    """Generate the buildings of a campus, in zones of study, living, sport and works, in `size` x `size` metres."""
    if count < 2:
        raise InputError(f"a campus needs at least 2 buildings, got {count}")
    seeds, mixes = [], []
    for number, near, far, mix in ZONES:
        turn = rng.uniform(0, 2 * np.pi)
        for zone in range(number):
            angle = turn + 2 * np.pi * (zone + rng.uniform(-0.2, 0.2)) / number
            radius = 0.46 * size * rng.uniform(near, far)
            seeds.append((0.5 * size + radius * np.cos(angle), 0.5 * size + radius * np.sin(angle)))
            mixes.append(mix)
    tilt = rng.uniform(0, np.pi / 2)
    pitch = 0.58 * size / np.sqrt(count)
    half = int(size / pitch)
    i, j = (
        axis.ravel() * pitch for axis in np.meshgrid(np.arange(-half, half + 1), np.arange(-half, half + 1))
    )
    x = 0.5 * size + i * np.cos(tilt) - j * np.sin(tilt) + rng.normal(0, 0.1 * pitch, i.size)
    y = 0.5 * size + i * np.sin(tilt) + j * np.cos(tilt) + rng.normal(0, 0.1 * pitch, i.size)
    # About half of the plots are built on: near the middle of zones, not on the green through the campus.
    gap, zone = cKDTree(seeds).query(np.c_[x, y])
    outside = np.hypot(x - 0.5 * size, y - 0.5 * size) > 0.47 * size
    score = (
        gap / (0.1 * size) + rng.exponential(0.5, i.size) + 5.0 * (np.abs(j) < 0.6 * pitch) + 1e9 * outside
    )
    order = np.argsort(score)[:count]
    x, y, zone = x[order], y[order], zone[order]
    usage = []
    for mix in (mixes[number] for number in zone):
        weight = np.array(list(mix.values()))
        usage.append(str(rng.choice(list(mix), p=weight / weight.sum())))
    numbered = [f"{category.capitalize()} {number + 1}" for number, category in enumerate(usage)]
    return Buildings(places(x, y, usage, numbered, rng.lognormal(0.0, 0.5, len(x)), {}), tilt)
