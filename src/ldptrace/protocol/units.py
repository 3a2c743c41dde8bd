"""Coordinate systems with their degrees and metres, and durations as people write them: 90s, 15min, 12h, 7d."""

from __future__ import annotations

import math
import re

from ldptrace.errors import InputError

CRS_PATTERN = r"[A-Za-z0-9:._/-]{1,64}"
WGS84 = "EPSG:4326"
GEOGRAPHIC = (WGS84, "OGC:CRS84", "WGS84")
# Millimetres of a degree of latitude and of a metre.
DEGREE, METRE = 111_195_080, 1000
# Units of a map that can only be degrees.
SMALL = 10

Bounds = tuple[float, float, float, float]


def plan_crs(name: str | None) -> str | None:
    """Return a coordinate system as a plan may name it; None for one that only its data can describe.

    >>> plan_crs("EPSG:4326"), plan_crs("PROJCS[...]")
    ('EPSG:4326', None)
    """
    return name if name is not None and re.fullmatch(CRS_PATTERN, name) else None


def crs_named(name: str) -> str | None:
    """Return a coordinate system by the name that a file gives it, or None if the name is empty.

    >>> crs_named("urn:ogc:def:crs:epsg::25832"), crs_named("urn:ogc:def:crs:OGC:1.3:CRS84"), crs_named("epsg:32632")
    ('EPSG:25832', 'EPSG:4326', 'EPSG:32632')
    """
    if "CRS84" in name:
        return WGS84
    match = re.fullmatch(r"(?:urn:(?:x-)?ogc:def:crs:)?([A-Za-z]+):(?:[0-9.]*:)?([^:/]+)", name)
    return f"{match[1].upper()}:{match[2]}" if match else name or None


def geojson_crs(document: object) -> str | None:
    """Return the coordinate system of a GeoJSON document: degrees, unless a member `crs` (GeoJSON of 2008) names
    another system. If `crs` is null, the system is unknown.

    >>> geojson_crs({}), geojson_crs({"crs": None})
    ('EPSG:4326', None)
    """
    if not isinstance(document, dict) or "crs" not in document:
        return WGS84
    member = document["crs"]
    about = member.get("properties") if isinstance(member, dict) else None
    return crs_named(str(about.get("name") or "")) if isinstance(about, dict) else None


def are_small_degrees(bounds: Bounds) -> bool:
    """Whether bounds are a few units within the range of degrees: in metres they would be smaller than a house.

    >>> are_small_degrees((13.3, 52.4, 13.6, 52.6)), are_small_degrees((0, 0, 20000, 20000))
    (True, False)
    """
    x0, y0, x1, y1 = bounds
    return max(x1 - x0, y1 - y0) <= SMALL and -180 <= x0 < x1 <= 180 and -90 <= y0 < y1 <= 90


def millimetres(bounds: Bounds, crs: str | None) -> tuple[int, int]:
    """Return the millimetres of a unit of x and of y: of a degree in the middle of the map, or of a metre.

    Where nobody names the coordinates, a map of a few units within the range of degrees is one of degrees: as metres it
    would be smaller than a house.
    """
    if not (are_small_degrees(bounds) if crs is None else crs.upper() in GEOGRAPHIC):
        return METRE, METRE
    latitude = math.radians((bounds[1] + bounds[3]) / 2)
    return max(1, round(DEGREE * math.cos(latitude))), DEGREE


UNITS = {"d": 86_400, "h": 3600, "min": 60, "s": 1}
_WORDS = {"d": "day", "h": "hour", "min": "minute", "s": "second"}


def seconds_of(text: str) -> int:
    """Parse a duration, and return whole seconds.

    >>> seconds_of("90s"), seconds_of("15min"), seconds_of("1.5h"), seconds_of("7d")
    (90, 900, 5400, 604800)
    """
    parts = re.fullmatch(r"([0-9]{1,12})(?:\.([0-9]{1,6}))?(s|min|h|d)", text.strip(), re.ASCII)
    if parts is None:
        raise InputError(f"a duration is a number with a unit, 90s, 15min, 12h or 7d, got {text!r}")
    whole, digits, unit = parts[1], parts[2] or "", UNITS[parts[3]]
    seconds, rest = divmod(int(whole + digits) * unit, 10 ** len(digits))
    if rest or seconds < 1:
        raise InputError(f"a duration is a whole number of seconds, at least one, got {text!r}")
    return seconds


def duration_text(seconds: int) -> str:
    """Write a duration in the largest unit that divides it.

    >>> duration_text(604_800), duration_text(5400), duration_text(61)
    ('7d', '90min', '61s')
    """
    unit = _unit(seconds)
    return f"{seconds // UNITS[unit]}{unit}"


def duration_words(seconds: int) -> str:
    """Write a duration for a sentence.

    >>> duration_words(604_800), duration_words(3600)
    ('7 days', '1 hour')
    """
    unit = _unit(seconds)
    number = seconds // UNITS[unit]
    return f"{number} {_WORDS[unit]}{'' if number == 1 else 's'}"


def _unit(seconds: int) -> str:
    return next(unit for unit, size in UNITS.items() if seconds % size == 0 and (seconds or unit == "s"))


def date_words(unix: float) -> str:
    """Return a Unix time as a date and a time of the day in UTC.

    >>> date_words(1803945600)
    '2027-03-02 00:00 UTC'
    """
    # Devices load this module, and few of them write dates.
    from datetime import UTC, datetime

    return f"{datetime.fromtimestamp(unix, UTC):%Y-%m-%d %H:%M} UTC"


def moment(name: str, text: str, *, zoned: bool = True) -> float:
    """Parse a time, given in Unix seconds or as a date with a time zone. Unless `zoned`, a date without a zone is
    UTC.

    >>> moment("start", "1970-01-05T00:00Z"), moment("now", "1700000000"), moment("at", "1970-01-02", zoned=False)
    (345600.0, 1700000000.0, 86400.0)
    """
    try:
        if math.isfinite(seconds := float(text)):
            return seconds
    except ValueError:
        pass
    parsed = iso_moment(text)
    if parsed is None or (zoned and not parsed[1]):
        with_zone = " with its zone" if zoned else ""
        raise InputError(
            f"{name} is a moment{with_zone}, such as 2026-11-16T08:00Z, or Unix seconds, got {text!r}"
        )
    return parsed[0]


def iso_moment(text: str) -> tuple[float, bool] | None:
    """Return the Unix time of an ISO 8601 date, in UTC if it names no zone, and whether it names one; None for what is
    no date.

    >>> iso_moment("1970-01-01T01:00:00+01:00"), iso_moment("1970-01-02"), iso_moment("noon")
    ((0.0, True), (86400.0, False), None)
    """
    # Devices load this module, and few of them read dates.
    from datetime import UTC, datetime

    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    return date.replace(tzinfo=date.tzinfo or UTC).timestamp(), date.tzinfo is not None
