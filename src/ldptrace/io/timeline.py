"""Google's timelines, which name stays and journeys: those that phones export, and the monthly files of Takeout.

Phones write `Timeline.json`: on Android {"semanticSegments": [...]} with points such as "48.1°, 11.5°", on iOS a list
of segments with points such as "geo:48.1,11.5". Older exports of Takeout are {"timelineObjects": [...]} with whole
numbers. The fixes of journeys are taken; where somebody stays between them is left to the gaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from ldptrace.io.text import HEAD_BYTES

Json = Any
# Latitude and longitude in degrees, and when, as it is written.
Fix = tuple[float, float, str | None]
DEGREE = 1e7
BEGINNING = re.compile(rb'\s*(\{\s*"(semanticSegments|timelineObjects|rawSignals)"\s*:|\[\s*\{)')
# Words of the segments of a phone; a list of anything else is not one.
SEGMENT = re.compile(rb'"(timelinePath|activity|visit|timelineMemory)"\s*:')
POINT = re.compile(r"\s*(?:geo:)?\s*(-?\d+(?:\.\d+)?)\s*°?\s*,\s*(-?\d+(?:\.\d+)?)\s*°?")


def is_timeline(data: bytes) -> bool:
    """Whether JSON is a timeline, as far as its beginning shows.

    >>> is_timeline(b'{"semanticSegments": []}'), is_timeline(b'[{"endTime": "", "activity": {}, "startTime": ""}]')
    (True, True)
    """
    head = data[:HEAD_BYTES]
    if not BEGINNING.match(head):
        return False
    return head.lstrip().startswith(b"{") or (b'"startTime"' in head and SEGMENT.search(head) is not None)


def fixes_of(document: Json) -> Iterator[Fix | None]:
    """The fixes of all journeys; None for one without a place."""
    if isinstance(document, dict) and "timelineObjects" in document:
        for entry in _listed(document["timelineObjects"]):
            yield from _of_takeout(_within(entry, "activitySegment"))
        return
    segments = document if isinstance(document, list) else document.get("semanticSegments")
    for segment in _listed(segments):
        yield from _of_phone(segment)


def _of_phone(segment: dict[str, Json]) -> Iterator[Fix | None]:
    """A journey's ends, or the points on the way."""
    begin, end = segment.get("startTime"), segment.get("endTime")
    for point in _listed(segment.get("timelinePath")):
        later = point.get("durationMinutesOffsetFromStartTime")
        yield _fix(point.get("point"), point.get("time") if later is None else _after(begin, later))
    activity = _within(segment, "activity")
    for name, moment in (("start", begin), ("end", end)):
        if name in activity:
            place = activity[name]
            yield _fix(place.get("latLng") if isinstance(place, dict) else place, moment)


def _of_takeout(journey: dict[str, Json]) -> Iterator[Fix | None]:
    """A journey's start, the points on the way and its end."""
    duration = _within(journey, "duration")
    start, end = (
        duration.get(f"{name}Timestamp") or duration.get(f"{name}TimestampMs") for name in ("start", "end")
    )
    if "startLocation" in journey:
        yield _whole(_within(journey, "startLocation"), ("latitudeE7", "longitudeE7"), start)
    for point in _listed(_within(journey, "simplifiedRawPath").get("points")):
        yield _whole(point, ("latE7", "lngE7"), point.get("timestamp") or point.get("timestampMs"))
    if "endLocation" in journey:
        yield _whole(_within(journey, "endLocation"), ("latitudeE7", "longitudeE7"), end)


def _fix(text: Json, moment: Json) -> Fix | None:
    """
    >>> _fix("48.1°, -11.5°", None), _fix("geo:48.1,11.5", "2025-01-01T08:00:00Z"), _fix(None, None)
    ((48.1, -11.5, None), (48.1, 11.5, '2025-01-01T08:00:00Z'), None)
    """
    found = POINT.match(text) if isinstance(text, str) else None
    return (
        None if found is None else (float(found[1]), float(found[2]), None if moment is None else str(moment))
    )


def _whole(place: dict[str, Json], names: tuple[str, str], moment: Json) -> Fix | None:
    lat, lon = (place.get(name) for name in names)
    if not isinstance(lat, int) or not isinstance(lon, int):
        return None
    return lat / DEGREE, lon / DEGREE, None if moment is None else str(moment)


def _after(begin: Json, minutes: Json) -> str | None:
    """A moment some minutes after another; None where either cannot be read."""
    try:
        return (datetime.fromisoformat(begin) + timedelta(minutes=float(minutes))).isoformat()
    except (TypeError, ValueError, OverflowError):
        return None


def _listed(entries: Json) -> list[dict[str, Json]]:
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _within(entry: dict[str, Json], name: str) -> dict[str, Json]:
    found = entry.get(name)
    return found if isinstance(found, dict) else {}
