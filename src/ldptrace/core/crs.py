"""Coordinate systems, and the conversion between degrees and metres."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.core.extras import needed
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Bounds
from ldptrace.protocol.units import GEOGRAPHIC
from ldptrace.protocol.units import WGS84 as WGS84

# The mean radius of the earth in metres.
EARTH_RADIUS = 6_371_008.8
METRES_PER_DEGREE = math.radians(1.0) * EARTH_RADIUS


def is_geographic(crs: str | None) -> bool:
    """Whether x is longitude and y latitude, in degrees.

    >>> is_geographic("epsg:4326"), is_geographic("EPSG:32632"), is_geographic(None)
    (True, False, False)
    """
    return crs is not None and crs.upper() in GEOGRAPHIC


def same_crs(one: str, other: str) -> bool:
    """Whether two names stand for one coordinate system.

    >>> same_crs("WGS84", "epsg:4326"), same_crs("EPSG:32632", "EPSG:25832")
    (True, False)
    """
    return one.upper() == other.upper() or (is_geographic(one) and is_geographic(other))


def checked_crs(name: str) -> str:
    """Return the name of a coordinate system as files name it, or raise an error if there is none of this name. Without
    the extra `geo`, only the form of a name such as EPSG:32632 is known.

    >>> checked_crs("OGC:CRS84"), checked_crs("epsg:32632")
    ('EPSG:4326', 'EPSG:32632')
    """
    if is_geographic(name):
        return WGS84
    name = name.upper() if re.fullmatch(r"[A-Za-z]+:[0-9]+", name) else name
    if find_spec("pyproj") is None:
        return name
    pyproj = needed("pyproj")
    try:
        pyproj.CRS.from_user_input(name)
    except pyproj.exceptions.ProjError:
        raise InputError(
            f"there is no coordinate system {name[:80]!r}; names are such as EPSG:4326 or EPSG:32632"
        ) from None
    return name


def box_text(box: Bounds) -> str:
    """Return bounds as an option takes them.

    >>> box_text((13.3, 52.4, 13.6, 52.6))
    '13.3,52.4,13.6,52.6'
    """
    return ",".join(f"{value:.10g}" for value in box)


def check_degrees(bounds: Bounds, crs: str | None, what: str) -> None:
    """Raise an error if the trips have longitudes and latitudes, and the bounds, or what lies in them, do not.

    >>> check_degrees((0, 0, 20_000, 20_000), "EPSG:32633", "the bounds")
    """
    if is_geographic(crs) and not fit_degrees(bounds):
        raise InputError(
            f"{what} {box_text(bounds)} are no degrees, and the trips are longitudes and latitudes ({crs}): give both "
            "in the same coordinates (ldptrace convert --to-crs converts trips)"
        )


def crs_hint(bounds: Bounds, span: Bounds, crs: str | None) -> str:
    """Return what to do about bounds that look like degrees where the data do not, or the reverse, or nothing.

    >>> crs_hint((13, 52, 14, 53), (380000, 5800000, 400000, 5830000), "EPSG:32633")[:57]
    '; the bounds look like degrees, the data are in EPSG:3263'
    """
    small, large = (fit_degrees(box) for box in (bounds, span))
    if small == large:
        return ""
    system = crs or "another coordinate system, which they do not name"
    what = "look like degrees" if small else "do not look like degrees"
    return (
        f"; the bounds {what}, the data are in {system}: give the bounds in the coordinates of the data, or convert "
        "the data first (ldptrace convert --to-crs)"
    )


def fit_degrees(box: Bounds) -> bool:
    """Whether these bounds could be longitudes and latitudes, also beyond 180 degrees."""
    return box[0] >= -360 and box[2] <= 360 and box[1] >= -90 and box[3] <= 90


def step_lengths(x: Floats, y: Floats, crs: str | None) -> Floats:
    """Return the straight distance from each point to the next, in metres if coordinates are degrees.

    >>> step_lengths(np.array([0.0, 3.0]), np.array([0.0, 4.0]), None).tolist()
    [5.0]
    """
    if not is_geographic(crs):
        return np.hypot(np.diff(x, axis=0), np.diff(y, axis=0))
    lon, lat = np.radians(x), np.radians(y)
    # The haversine formula stays exact for the small steps of a GPS log.
    across = np.cos(lat[1:]) * np.cos(lat[:-1]) * np.sin(np.diff(lon, axis=0) / 2) ** 2
    half = np.sin(np.diff(lat, axis=0) / 2) ** 2 + across
    return 2 * EARTH_RADIUS * np.arcsin(np.sqrt(np.minimum(half, 1.0)))


def transform(x: Floats, y: Floats, source: str, target: str) -> tuple[Floats, Floats]:
    """Convert coordinates from the system `source` to the system `target`, if the two differ. Needs the extra `geo`."""
    if same_crs(source, target):
        return x, y
    pyproj = needed("pyproj")
    try:
        transformer = pyproj.Transformer.from_crs(source, target, always_xy=True)
    except pyproj.exceptions.ProjError as error:
        raise InputError(f"cannot convert from {source} to {target}: {error}") from None
    new_x, new_y = transformer.transform(x, y)
    if not (np.isfinite(new_x).all() and np.isfinite(new_y).all()):
        raise InputError(f"some of these points cannot be converted to {target}")
    return np.asarray(new_x, dtype=np.float64), np.asarray(new_y, dtype=np.float64)


@dataclass(frozen=True)
class LocalPlane:
    """A plane in metres east and north of a place, accurate to 0.1 % over a city.

    >>> plane = LocalPlane(13.4, 52.5)
    >>> x, y = plane.to_metres(np.array([13.4]), np.array([52.6]))
    >>> round(float(y[0])), float(plane.to_degrees(x, y)[1][0])
    (11120, 52.6)
    """

    lon: float
    lat: float

    @staticmethod
    def around(lon: Floats, lat: Floats) -> LocalPlane:
        """Make the plane that touches the earth in the middle of the points."""
        if len(lon) == 0 or not (np.all(np.isfinite(lon)) and np.all(np.isfinite(lat))):
            raise InputError("longitudes and latitudes must be finite, and there must be some")
        if np.abs(lat).max() > 89 or np.abs(lon).max() > 180:
            raise InputError(
                f"longitudes must lie within ±180 and latitudes within ±89 degrees, got longitudes up to "
                f"{np.abs(lon).max():g} and latitudes up to {np.abs(lat).max():g}"
            )
        return LocalPlane(float(lon.min() + lon.max()) / 2, float(lat.min() + lat.max()) / 2)

    @property
    def scale(self) -> tuple[float, float]:
        """Metres in one degree of longitude and in one degree of latitude."""
        return METRES_PER_DEGREE * float(np.cos(np.radians(self.lat))), METRES_PER_DEGREE

    def to_metres(self, lon: Floats, lat: Floats) -> tuple[Floats, Floats]:
        return (lon - self.lon) * self.scale[0], (lat - self.lat) * self.scale[1]

    def to_degrees(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        return x / self.scale[0] + self.lon, y / self.scale[1] + self.lat


def scale_of(bounds: Bounds, crs: str | None) -> tuple[float, float]:
    """Return the metres in one degree of longitude and of latitude in the middle of the bounds, or (1, 1) for plane
    coordinates.

    >>> scale_of((0, 0, 10, 10), None), [round(metres) for metres in scale_of((13, 52, 14, 53), "EPSG:4326")]
    ((1.0, 1.0), [67691, 111195])
    """
    if not is_geographic(crs):
        return 1.0, 1.0
    x0, y0, x1, y1 = bounds
    return LocalPlane((x0 + x1) / 2, (y0 + y1) / 2).scale
