"""Read trips from GPX and GeoJSON files with the standard library. The content of a file never raises an error, because
an error could reveal something about the trip. A file without readable points is answered like a trip without points.
The extension of the file decides its format.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from ldptrace.device.track import Point, Recording, coordinate, part
from ldptrace.errors import InputError
from ldptrace.protocol.records import Record
from ldptrace.protocol.standing import UNDATED
from ldptrace.protocol.units import WGS84, geojson_crs, iso_moment

ENDINGS = (".gpx", ".geojson", ".json")
# Where tools put the times of a line's points.
TIMES = ("times", "coordTimes", "datetimes")
# Numbers from here on are milliseconds.
LAST_SECONDS = 1e11

Json = Any


class OwnTrips(Record):
    """The trips of a person, the coordinate system that all files name (None: they name none or different ones), the
    time zone of the hours (None: that of the device's clock), and why there are no trips, if a file cannot be read."""

    recordings: tuple[Recording, ...]
    crs: str | None
    timezone: str | None = None
    reason: str | None = None


def read_trips(paths: Sequence[str | os.PathLike[str]]) -> OwnTrips:
    """Read the trips of files. Each segment of a GPX track and each line of GeoJSON is a trip."""
    recordings: list[Recording] = []
    systems: set[str | None] = set()
    for path in paths:
        name = os.fspath(path)
        if not name.lower().endswith(ENDINGS):
            raise InputError(f"a trajectory is a file {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, got {name}")
        with open(name, "rb") as file:
            trips = trips_of(file.read(), gpx=name.lower().endswith(".gpx"))
        recordings += trips.recordings
        systems.add(trips.crs)
    return OwnTrips(tuple(recordings), systems.pop() if len(systems) == 1 else None)


def trips_of(data: bytes, *, gpx: bool) -> OwnTrips:
    """Return the trips of a GPX document, or of a GeoJSON document.

    >>> trips_of(b'{"type": "Foo"}', gpx=False), trips_of(b"<gpx><trk>", gpx=True).recordings
    (OwnTrips(recordings=(), crs='EPSG:4326', timezone=None, reason=None), ())
    """
    if gpx:
        return OwnTrips(tuple(gpx_trips(data)), WGS84)
    return OwnTrips(tuple(geojson_trips(data)), geojson_crs(_document(data)))


def gpx_trips(data: bytes) -> list[Recording]:
    """Return the segments of all tracks, or none if the document is not well-formed or declares a document type.

    >>> segment = b'<trkseg><trkpt lat="1" lon="2"><time>2026-01-01T00:00:00Z</time></trkpt></trkseg>'
    >>> gpx_trips(b"<gpx><trk>" + segment + b"</trk></gpx>")[0].arrival
    1767225600.0
    """
    elements, parser = ElementTree.TreeBuilder(), expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler, parser.EndElementHandler = elements.start, elements.end
    parser.CharacterDataHandler = elements.data
    # Entities can grow without limit, and GPX needs none: nothing after the document type is read.
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError):
        return []
    root = elements.close()
    # Elements of extensions are in other namespaces.
    own = root.tag[: root.tag.rfind("}") + 1]
    trips = []
    for segment in root.iter(f"{own}trkseg"):
        points, unix = list[Point](), math.nan
        for point in _children(segment, f"{own}trkpt"):
            times = _children(point, f"{own}time")
            unix = unix_time(times[-1].text or "") if times else math.nan
            points.append((_attribute(point.get("lon")), _attribute(point.get("lat")), own_clock(unix)))
        trips.append(Recording(points, unix))
    return trips


def _refuse(*_: object) -> None:
    raise ValueError("a document type is declared")


def _children(element: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    """Return the elements directly in this one: each is read once, however deep elements are nested."""
    return [child for child in element if child.tag == tag]


def geojson_trips(data: bytes) -> list[Recording]:
    """Return the lines and single points of a document, or none if it is not JSON.

    >>> geojson_trips(b'{"type":"LineString","coordinates":[[1,2],[3,4]]}')[0].points
    [(1.0, 2.0, nan), (3.0, 4.0, nan)]
    """
    document = _document(data)
    features = [*_listed(_field(document, "features")), document]
    return [
        _recording(points, times)
        for feature in features
        for points, times in _lines(_field(feature, "geometry") or feature, _times(feature))
    ]


def _document(data: bytes) -> Json:
    try:
        # An integer with thousands of digits, which Python refuses, becomes infinite.
        return json.loads(data, parse_int=lambda digits: int(digits) if len(digits) < 300 else float(digits))
    except (ValueError, RecursionError):
        return None


def _lines(geometry: Json, times: list[Json]) -> Iterator[tuple[list[Json], list[Json]]]:
    coordinates = _field(geometry, "coordinates")
    match _field(geometry, "type"):
        case "LineString":
            yield _listed(coordinates), times
        case "MultiLineString":
            for number, line in enumerate(_listed(coordinates)):
                yield _listed(line), _listed(times[number] if number < len(times) else None)
        case "Point":
            yield [coordinates], times


def _times(feature: Json) -> list[Json]:
    about = _field(feature, "properties")
    return next((_listed(_field(about, name)) for name in TIMES if _field(about, name) is not None), [])


def _recording(points: list[Json], times: list[Json]) -> Recording:
    moments = times if len(times) == len(points) else [part(point, 3) for point in points]
    seconds = [unix_time(moment) for moment in moments]
    track = [
        (coordinate(part(point, 0)), coordinate(part(point, 1)), own_clock(moment))
        for point, moment in zip(points, seconds, strict=True)
    ]
    return Recording(track, seconds[-1] if seconds else math.nan)


def unix_time(value: object) -> float:
    """Return the Unix time of an ISO 8601 date (UTC if it names no zone), of seconds or of milliseconds, or NaN for
    anything else.

    >>> unix_time("1970-01-01T01:00:00+01:00"), unix_time(1.7e12), unix_time("noon")
    (0.0, 1700000000.0, nan)
    """
    if isinstance(value, str):
        moment = iso_moment(value.strip())
        return math.nan if moment is None else moment[0]
    number = coordinate(value)
    return number / 1000 if abs(number) >= LAST_SECONDS else number


def own_clock(unix: float) -> float:
    """Convert a Unix time to the local clock of the device. Times of a day are not changed.

    >>> own_clock(8.5 * 3600)
    30600.0
    """
    if not UNDATED <= abs(unix) < LAST_SECONDS:
        return unix
    try:
        return unix + time.localtime(unix).tm_gmtoff
    except (OverflowError, ValueError, OSError):
        return unix


def _attribute(text: str | None) -> float:
    try:
        return math.nan if text is None else float(text)
    except ValueError:
        return math.nan


def _field(value: Json, name: str) -> Json:
    return value.get(name) if isinstance(value, dict) else None


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
