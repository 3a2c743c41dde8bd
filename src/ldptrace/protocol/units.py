"""Coordinates of a plan: their name, and how large a unit of them is."""

from __future__ import annotations

import math
import re

CRS_PATTERN = r"[A-Za-z0-9:._/-]{1,64}"
GEOGRAPHIC = ("EPSG:4326", "OGC:CRS84", "WGS84")
# Millimetres of a degree of latitude and of a metre.
DEGREE, METRE = 111_195_080, 1000
# Units of a map that can only be degrees.
SMALL = 10

Bounds = tuple[float, float, float, float]


def plan_crs(name: str | None) -> str | None:
    """A coordinate system as a plan may name it; None for one that only its data can describe.

    >>> plan_crs("EPSG:4326"), plan_crs("PROJCS[...]")
    ('EPSG:4326', None)
    """
    return name if name is not None and re.fullmatch(CRS_PATTERN, name) else None


def millimetres(bounds: Bounds, crs: str | None) -> tuple[int, int]:
    """Millimetres of a unit of x and of y: degrees in the middle of the map, or metres.

    Where nobody names the coordinates, a map of a few units within the range of degrees is one of degrees: as metres it
    would be smaller than a house.
    """
    x0, y0, x1, y1 = bounds
    small = max(x1 - x0, y1 - y0) <= SMALL and -180 <= x0 < x1 <= 180 and -90 <= y0 < y1 <= 90
    if not (small if crs is None else crs.upper() in GEOGRAPHIC):
        return METRE, METRE
    latitude = math.radians((y0 + y1) / 2)
    return max(1, round(DEGREE * math.cos(latitude))), DEGREE
