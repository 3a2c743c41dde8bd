"""A flat piece of the earth: degrees to metres and back, good to a tenth of a percent over a city."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldptrace.errors import InputError
from ldptrace.generators.roads import Floats
from ldptrace.protocol.grid import Bounds

METRES_PER_DEGREE = 111_195.0
WGS84 = "EPSG:4326"


@dataclass(frozen=True)
class LocalPlane:
    """Metres east and north of a place.

    >>> plane = LocalPlane(13.4, 52.5)
    >>> x, y = plane.to_metres(np.array([13.4]), np.array([52.6]))
    >>> round(float(y[0])), float(plane.to_degrees(x, y)[1][0])
    (11120, 52.6)
    """

    lon: float
    lat: float

    @staticmethod
    def around(lon: Floats, lat: Floats) -> LocalPlane:
        """The plane that touches the earth in the middle of the points."""
        if len(lon) == 0 or not (np.all(np.isfinite(lon)) and np.all(np.isfinite(lat))):
            raise InputError("longitudes and latitudes must be finite, and there must be some")
        if np.abs(lat).max() > 89 or np.abs(lon).max() > 180:
            raise InputError(
                f"longitudes must lie within ±180 and latitudes within ±89 degrees, got longitudes up to "
                f"{np.abs(lon).max():g} and latitudes up to {np.abs(lat).max():g}"
            )
        return LocalPlane(float(lon.min() + lon.max()) / 2, float(lat.min() + lat.max()) / 2)

    @property
    def _scale(self) -> float:
        return METRES_PER_DEGREE * float(np.cos(np.radians(self.lat)))

    @property
    def square_metres(self) -> float:
        """Of a square degree."""
        return self._scale * METRES_PER_DEGREE

    def to_metres(self, lon: Floats, lat: Floats) -> tuple[Floats, Floats]:
        return (lon - self.lon) * self._scale, (lat - self.lat) * METRES_PER_DEGREE

    def to_degrees(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        return x / self._scale + self.lon, y / METRES_PER_DEGREE + self.lat


def map_bounds(x: Floats, y: Floats, margin: float, plane: LocalPlane | None) -> Bounds:
    """The box around points in metres, grown by a margin, in the map's coordinates and in round numbers."""
    low, high = np.array([[x.min()], [y.min()]]) - margin, np.array([[x.max()], [y.max()]]) + margin
    if plane is not None:
        low, high = np.array(plane.to_degrees(*low)), np.array(plane.to_degrees(*high))
    unit = 1.0 if plane is None else 1e5
    (x0, y0), (x1, y1) = (np.floor(unit * low) / unit).ravel(), (np.ceil(unit * high) / unit).ravel()
    return float(x0), float(y0), float(x1), float(y1)
