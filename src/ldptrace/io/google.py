"""Read Google's location history, as exported by Takeout (`Records.json`) or by a phone (`Timeline.json`).

The history is the log of one person, which is cut into trips at its gaps. Timelines name stays and journeys. On Android
they are {"semanticSegments": [...]} with points such as "48.1°, 11.5°", on iOS a list of segments with points such as
"geo:48.1,11.5". Older exports of Takeout are {"timelineObjects": [...]} with whole numbers. Only the fixes of journeys
are read; stays become gaps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Floats
from ldptrace.core.crs import WGS84
from ldptrace.core.reading import Reading
from ldptrace.core.times import read_times
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.words import total
from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io.account import Account, Parsed, each
from ldptrace.io.text import HEAD_BYTES, read_bytes

Json = Any
# Latitude and longitude in degrees (in a log: as it writes them), and when.
Fix = tuple[Any, Any, Json]
LAT, LON = "latitudeE7", "longitudeE7"
DEGREE = 1e7
# Some exports hold negative numbers without their sign.
TURN = 1 << 32
# A history without fixes is one too: a device must not be silent about it.
BEGINNING = re.compile(rb'\s*\{\s*"locations"\s*:')
TIMELINE = re.compile(rb'\s*(\{\s*"(semanticSegments|timelineObjects|rawSignals)"\s*:|\[\s*\{)')
# Words of the segments of a phone; a list of anything else is not one.
SEGMENT = re.compile(rb'"(timelinePath|activity|visit|timelineMemory)"\s*:')
POINT = re.compile(r"\s*(?:geo:)?\s*(-?\d+(?:\.\d+)?)\s*°?\s*,\s*(-?\d+(?:\.\d+)?)\s*°?")


def is_history(data: bytes) -> bool:
    """Whether the beginning of a JSON file looks like a location history.

    >>> is_history(b'{"locations": [{"latitudeE7": 525163000, "longitudeE7": 133777000}]}')
    True
    """
    head = data[:HEAD_BYTES].lstrip()
    listed = BEGINNING.match(head) or (head.startswith(b"{") and f'"{LAT}"'.encode() in head)
    return bool(listed) or _is_timeline(data)


def _is_timeline(data: bytes) -> bool:
    """Whether the beginning of a JSON file looks like a timeline.

    >>> _is_timeline(b'{"semanticSegments": []}'), _is_timeline(b'[{"endTime": "", "activity": {}, "startTime": ""}]')
    (True, True)
    """
    head = data[:HEAD_BYTES].lstrip()
    if not TIMELINE.match(head):
        return False
    return head.startswith(b"{") or (b'"startTime"' in head and SEGMENT.search(head) is not None)


def read(paths: Sequence[Path], reading: Reading) -> Parsed:
    """Read several histories. Among others, one without fixes is a trajectory without points."""
    return each(lambda path, _: of_bytes(read_bytes(path), reading, among=len(paths) > 1))(paths, reading)


def of_bytes(data: bytes, reading: Reading, *, among: bool = False) -> Parsed:
    """Read the fixes of a history, ordered by time, as one trajectory. `among` says that there are other files."""
    timeline = _is_timeline(data)
    entries = list(_fixes_of(_loaded(data))) if timeline else _records(_loaded(data, _record))
    fixes = [entry for entry in entries if isinstance(entry, tuple)]
    if not (fixes or among):
        nothing = "journeys with places in this timeline" if timeline else f"fixes with {LAT} and {LON} in it"
        raise NothingUsable(f"there are no {nothing}")
    axes = [[fix[axis] for fix in fixes] for axis in (0, 1)]
    y, x = map(np.array, axes) if timeline else map(_degrees, axes, (90.0, 180.0))
    moments = [None if fix[2] is None else str(fix[2]) for fix in fixes]
    times = read_times(pa.chunked_array([pa.array(moments, pa.string())]), reading.timezone)
    t, notes = times.seconds, tuple(note for note in times.notes if "milliseconds" not in note)
    if t is not None and np.any(np.diff(t) < 0):
        order = np.argsort(t, kind="stable")
        x, y, t, notes = x[order], y[order], t[order], (*notes, "points sorted by time")
    if not reading.single:
        notes += ("one log is one trajectory; cut it into trips with split_gap (--split-gap)",)
    timezone = None if t is None else reading.timezone
    trajectories = Trajectories(x, y, np.array([0, len(x)]), t=t, crs=WGS84, timezone=timezone)
    lost = total([{"no latitude and longitude": len(entries) - len(fixes)}])
    return trajectories, Account(rows=len(entries), dropped_points=lost, notes=notes)


def _loaded(data: bytes, hook: Callable[[dict[str, Json]], Json] | None = None) -> Json:
    try:
        return json.loads(data, object_hook=hook)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"this is not JSON: {error}") from None


def _record(entry: dict[str, Json]) -> Json:
    """Reduce a JSON object that is a fix to latitude, longitude and time: a log has millions, each with much that is
    not needed. Other objects are returned unchanged."""
    if LAT not in entry or LON not in entry:
        return entry
    return entry[LAT], entry[LON], _moment(entry)


def _records(document: Json) -> list[Json]:
    listed = document.get("locations") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise FormatError(
            'expected a location history {"locations": [{"latitudeE7": ..., "longitudeE7": ...}, ...]}, or a '
            'timeline {"semanticSegments": [...]} or {"timelineObjects": [...]}'
        )
    return listed


def _degrees(values: list[Json], limit: float) -> Floats:
    try:
        whole = np.fromiter((np.nan if value is None else value for value in values), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise NothingUsable(f"a fix needs whole numbers {LAT} and {LON}") from None
    whole[whole > limit * DEGREE] -= TURN
    return whole / DEGREE


def _fixes_of(document: Json) -> Iterator[Fix | None]:
    """Yield the fixes of all journeys; None stands for a fix without a place."""
    if isinstance(document, dict) and "timelineObjects" in document:
        for entry in _listed(document["timelineObjects"]):
            yield from _of_takeout(_within(entry, "activitySegment"))
        return
    segments = document if isinstance(document, list) else document.get("semanticSegments")
    for segment in _listed(segments):
        yield from _of_phone(segment)


def _of_phone(segment: dict[str, Json]) -> Iterator[Fix | None]:
    """Yield the fixes of a segment of a phone's timeline: its two ends, or the points of its path."""
    begin, end = segment.get("startTime"), segment.get("endTime")
    for point in _listed(segment.get("timelinePath")):
        later = point.get("durationMinutesOffsetFromStartTime")
        yield _point_fix(point.get("point"), point.get("time") if later is None else _after(begin, later))
    activity = _within(segment, "activity")
    for name, moment in (("start", begin), ("end", end)):
        if name in activity:
            place = activity[name]
            yield _point_fix(place.get("latLng") if isinstance(place, dict) else place, moment)


def _of_takeout(journey: dict[str, Json]) -> Iterator[Fix | None]:
    """Yield the fixes of a journey of Takeout: its start, the points on the way, and its end."""

    def end(name: str) -> Iterator[Fix | None]:
        if f"{name}Location" in journey:
            moment = _moment(_within(journey, "duration"), f"{name}Timestamp")
            yield _whole(_within(journey, f"{name}Location"), (LAT, LON), moment)

    yield from end("start")
    for point in _listed(_within(journey, "simplifiedRawPath").get("points")):
        yield _whole(point, ("latE7", "lngE7"), _moment(point))
    yield from end("end")


def _moment(entry: dict[str, Json], name: str = "timestamp") -> Json:
    """Return a time: newer exports hold a date, older ones milliseconds as text."""
    return entry.get(name) or entry.get(f"{name}Ms") or None


def _point_fix(text: Json, moment: Json) -> Fix | None:
    """
    >>> _point_fix("48.1°, -11.5°", None), _point_fix("geo:48.1,11.5", "2025-01-01T08:00:00Z"), _point_fix(None, None)
    ((48.1, -11.5, None), (48.1, 11.5, '2025-01-01T08:00:00Z'), None)
    """
    match = POINT.match(text) if isinstance(text, str) else None
    return None if match is None else (float(match[1]), float(match[2]), moment)


def _whole(place: dict[str, Json], names: tuple[str, str], moment: Json) -> Fix | None:
    lat, lon = (place.get(name) for name in names)
    if not isinstance(lat, int) or not isinstance(lon, int):
        return None
    return lat / DEGREE, lon / DEGREE, moment


def _after(begin: Json, minutes: Json) -> str | None:
    """Return the time some minutes after another time, or None if one of the two cannot be read."""
    try:
        return (datetime.fromisoformat(begin) + timedelta(minutes=float(minutes))).isoformat()
    except (TypeError, ValueError, OverflowError):
        return None


def _listed(entries: Json) -> list[dict[str, Json]]:
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _within(entry: dict[str, Json], name: str) -> dict[str, Json]:
    value = entry.get(name)
    return value if isinstance(value, dict) else {}
