"""Read and write GeoJSON. Each line is a trajectory; times are a property, the fourth coordinate, or dates as in
MF-JSON.

If all features are points, they are read as a table with one row per point. Among lines, a point is a trajectory of one
point; a file in which such points would be joined without the lines is refused, so that no feature changes how others
are read. MF-JSON (OGC 19-045r3) has a feature for
every trajectory, whose geometry is a moving point with dates.
"""

from __future__ import annotations

import json
import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core.area import Area
from ldptrace.core.columns import Columns, find_columns
from ldptrace.core.positions import are_apart
from ldptrace.core.reading import Names, Reading
from ldptrace.core.tables import START
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.values import names_of, pc, text_of, values_of
from ldptrace.errors import FormatError, InputError, NothingUsable
from ldptrace.io import google
from ldptrace.io.account import Account, Parsed, each, names_in, of_lines, of_table
from ldptrace.io.jsonl import records_of
from ldptrace.io.provenance import KEY, from_document, to_text
from ldptrace.io.text import Write, dates, joined_lists, paste, read_bytes, strings, text_writer
from ldptrace.protocol.units import WGS84, geojson_crs

Json = Any
ID, TIMES = "traj_id", "times"
# Where other tools put the times of a line's points.
ASIDE = (TIMES, "coordTimes", "datetimes")


def read_file(path: Path, reading: Reading, *, among: bool = False) -> Parsed:
    """Read the lines of a FeatureCollection, a Feature or a geometry.

    Each feature is at least one trajectory, with any geometry: a point is a trajectory of one point, and other
    geometries, or none, make a trajectory without points.
    """
    data = read_bytes(path)
    if google.is_history(data):
        return google.of_bytes(data, reading, among=among)
    document = _document(data)
    return _of_features(_features(document), document, reading)


@each
def read_sequence(path: Path, reading: Reading) -> Parsed:
    """Read lines that each are a feature. A line that is none is one without a geometry."""
    return _of_features(records_of(read_bytes(path)), {}, reading)


def _of_features(features: list[Json], document: Json, reading: Reading) -> Parsed:
    points = [feature for feature in features if _is_point(feature)]
    all_points = 0 < len(points) == len(features)
    trajectories, account = _points(features, reading) if all_points else _of_lines(features, points, reading)
    crs, promised = geojson_crs(document), from_document(document.get(KEY))
    return replace(trajectories, crs=crs, provenance=promised), replace(account, rows=len(features))


def _of_lines(features: list[Json], points: list[Json], reading: Reading) -> Parsed:
    """Read lines, among which some features are points."""
    given = reading.names
    moment = _time_of_points(points, len(features), given)
    x, y = array("d"), array("d")
    times: list[Json] = []
    sizes, owners = list[int](), list[int]()
    others: Counter[str] = Counter()
    alone = 0
    for number, feature in enumerate(features):
        try:
            for line, line_times in _lines(feature, moment if _is_point(feature) else given.t):
                x.extend(_double(point[0]) for point in line)
                y.extend(_double(point[1]) for point in line)
                if not isinstance(line_times, list) or len(line_times) != len(line):
                    # Times may be the fourth values of all points.
                    whole = all(isinstance(point, list) and len(point) >= 4 for point in line)
                    line_times = [point[3] if whole else None for point in line]
                times += line_times
                sizes.append(len(line))
                owners.append(number)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise NothingUsable(f"feature {number + 1}: a line needs coordinates [[x,y],[x,y],...]") from None
        kind = (feature.get("geometry") or {}).get("type", "missing")
        alone += kind == "Point" and ID not in (feature.get("properties") or {})
        if not owners or owners[-1] != number:
            others[f"features whose geometry is {kind}"] += 1
            sizes.append(0)
            owners.append(number)
    if others.total() == len(features) > 0:
        raise NothingUsable(f"there are no lines in it, only: {', '.join(others)}")
    listed = {given.t, *ASIDE}
    if given.t is not None and not any(given.t in (feature.get("properties") or {}) for feature in features):
        raise InputError(f"no feature has {given.t!r} for t")
    about = [
        {name: value for name, value in _about(feature).items() if name not in listed} for feature in features
    ]
    columns = np.array(x), np.array(y), _texts(times)
    lines, account = of_lines(columns, sizes, owners, about, reading, "feature", (ID, "id"))
    return lines, Account(doubts=others | {"features that are points among others": alone}) + account


def read(paths: Sequence[Path], reading: Reading) -> Parsed:
    """Read several files, of which some may be histories of a person without a fix."""
    return each(partial(read_file, among=len(paths) > 1))(paths, reading)


def _feature(trajectories: Trajectories) -> pa.LargeStringArray:
    """Return a feature with a line, or with a Point for a single point. Times are the property `times`, in seconds."""
    times = []
    if trajectories.t is not None:
        times = [f',"{TIMES}":[', joined_lists(trajectories.offsets, strings(trajectories.t), ","), "]"]
    return _features_at(plane_points(trajectories), trajectories, *times)


def _trip(trajectories: Trajectories) -> pa.LargeStringArray:
    """Return a feature for the trip layer of kepler.gl, with points [lon, lat, altitude, seconds]."""
    if trajectories.t is None:
        raise InputError("a trip layer needs times, and these trajectories have none")
    axes = (strings(trajectories.x), ",", strings(trajectories.y), ",0,", strings(trajectories.t))
    return _features_at(paste("[", *axes, "]"), trajectories)


def _features_at(
    points: pa.LargeStringArray, trajectories: Trajectories, *times: str | pa.LargeStringArray
) -> pa.LargeStringArray:
    """Return features whose lines go through these points."""
    coordinates = joined_lists(trajectories.offsets, points, ",")
    lines = paste('"LineString","coordinates":[', coordinates, "]")
    single = paste('"Point","coordinates":', coordinates)
    geometry = pc.if_else(pa.array(trajectories.sizes == 1), single, lines)
    return paste(*properties(trajectories, *times), ',"geometry":{"type":', geometry, "}}")


def plane_points(trajectories: Trajectories) -> pa.LargeStringArray:
    """Return the points as lists of coordinates."""
    return paste("[", strings(trajectories.x), ",", strings(trajectories.y), "]")


def properties(
    trajectories: Trajectories, *times: str | pa.LargeStringArray
) -> list[str | pa.LargeStringArray]:
    """Return the properties of every feature: its number, its times, and the extra columns."""
    pieces = ['{"type":"Feature","properties":{"traj_id":', strings(trajectories.numbers), *times]
    if trajectories.extra is not None:
        rows = (json.dumps(row, default=str)[1:-1] for row in trajectories.extra.to_pylist())
        pieces.append(pa.array([f",{row}" if row else "" for row in rows], pa.large_string()))
    return [*pieces, "}"]


def collection(
    texts: Callable[[Trajectories], pa.LargeStringArray], about: Callable[[Trajectories], str]
) -> Callable[[Path], AbstractContextManager[Write]]:
    """Return a writer of a FeatureCollection with these features, and with members that describe all features."""

    def head(trajectories: Trajectories) -> str:
        promised = trajectories.provenance
        said = "" if promised is None else f'"{KEY}":{to_text(promised)},'
        return f'{{"type":"FeatureCollection",{about(trajectories)}{said}"features":[\n'

    return partial(text_writer, texts=texts, head=head, between=",\n", foot="\n]}\n")


def _crs_member(trajectories: Trajectories) -> str:
    if trajectories.is_geographic:
        return ""
    if trajectories.crs is None:
        return '"crs":null,'
    return f'"crs":{json.dumps({"type": "name", "properties": {"name": trajectories.crs}})},'


writer = collection(_feature, _crs_member)
trips_writer = collection(_trip, _crs_member)


def _document(data: bytes) -> Json:
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise FormatError(f"line {error.lineno}: this is not JSON: {error.msg}") from None
    except UnicodeDecodeError:
        raise
    except RecursionError:
        raise FormatError("it is nested too deep to be GeoJSON") from None
    except ValueError:
        # Python does not read integers of thousands of digits; as coordinates they are infinite.
        return json.loads(data, parse_int=lambda digits: int(digits) if len(digits) < 300 else float(digits))


def _features(document: Json) -> list[Json]:
    kind = document.get("type") if isinstance(document, dict) else None
    if kind == "FeatureCollection" and isinstance(document.get("features"), list):
        return list(document["features"])
    if kind == "Feature":
        return [document]
    if kind in {"LineString", "MultiLineString"}:
        return [{"geometry": document}]
    if kind in {"Point", "MultiPoint", "Polygon", "MultiPolygon", "GeometryCollection"}:
        raise NothingUsable(f"there are no lines in it, only: features whose geometry is {kind}")
    if isinstance(document, list):
        raise FormatError(
            "this is a list; objects are read if each is a line of its own, with --format jsonl"
        )
    raise FormatError("expected a GeoJSON FeatureCollection, Feature, LineString or MultiLineString")


def _is_point(feature: Json) -> bool:
    """Whether a feature is a point, and not one that moves."""
    geometry = (
        feature.get("geometry") if isinstance(feature, dict) and "temporalGeometry" not in feature else None
    )
    return isinstance(geometry, dict) and geometry.get("type") == "Point"


def _time_of_points(points: list[Json], features: int, given: Names) -> str:
    """Return the property with the time of each point among lines.

    Each of these points must be a trajectory of its own, so that it is read as in a file without lines.
    """
    about = [_about(point) for point in points]
    names = names_in(about)
    here = {option: name if name in names else None for option, name in asdict(given).items()}
    known = find_columns(list(dict.fromkeys(["x", "y", *names])), Names(**here))
    keys = [
        names_of([row.get(name) for row in about]).to_pylist()
        for name in (known.user, known.id)
        if name is not None
    ]
    if not are_apart(keys) or known.date is not None:
        raise NothingUsable(
            f"{len(points):,} of {features:,} features are points of trajectories, and the others are not points: a "
            "file has either points or lines, but for points that each are a trajectory"
        )
    if TIMES in names and any(TIMES not in row for row in about):
        raise NothingUsable(f"some points have no property {TIMES!r}: write null where there is no value")
    return TIMES if known.t is None or (TIMES in names and given.t is None) else known.t


def _lines(feature: Json, t: str | None = None) -> Iterator[tuple[list[Json], list[Json]]]:
    """Yield the coordinates and times of each line of a feature."""
    geometry, about = feature.get("geometry") or {"type": None}, feature.get("properties") or {}
    times: list[Json] = next(
        (about[name] for name in ((t,) if t is not None else ASIDE) if about.get(name) not in (None, [])), []
    )
    moving = feature.get("temporalGeometry")
    if moving is not None:
        # A moving point of MF-JSON, or several of them in a row.
        for prism in moving.get("prisms") or [moving]:
            if prism.get("type") == "MovingPoint":
                yield prism["coordinates"], prism.get("datetimes") or []
        return
    if geometry["type"] == "LineString":
        yield geometry["coordinates"], times
    elif geometry["type"] == "MultiLineString":
        for number, line in enumerate(geometry["coordinates"]):
            yield line, times[number] if number < len(times) and isinstance(times[number], list) else []
    elif geometry["type"] == "Point":
        # This is how a trajectory of one point is written: a line needs two.
        yield [geometry["coordinates"]], _listed(times)


def _double(value: float | None) -> float:
    """Convert a coordinate to a double: a missing one to NaN, and integers beyond the range of doubles to infinity."""
    if value is None:
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _points(features: list[Json], reading: Reading) -> Parsed:
    """Read points with properties as a table."""
    try:
        places = [feature["geometry"]["coordinates"] for feature in features]
        columns: dict[str, Any] = {
            axis: pa.array([_double(place[number]) for place in places]) for number, axis in enumerate("xy")
        }
    except (TypeError, IndexError, KeyError, ValueError):
        raise NothingUsable("a point needs coordinates [x,y]") from None
    about = [_about(feature) for feature in features]
    names = names_in(about)
    known = find_columns(list(dict.fromkeys([*columns, *names])), reading.names)
    columns |= {
        name: _column(name, [row.get(name) for row in about], known) for name in names if name not in columns
    }
    for name in names:
        # One person's features must not say how those of others are read.
        said = name in (known.id, known.user, known.t, known.order, known.date, START, TIMES)
        if said and any(name not in row for row in about):
            raise NothingUsable(
                f"some features have no property {name!r}; write null where there is no value"
            )
    if TIMES in columns:
        # This is how a trajectory of one point is written: a line needs two.
        del columns[TIMES]
        columns["t"] = _texts(next(iter(_listed(row.get(TIMES))), None) for row in about)
    elif known.t is None and known.order is None:
        # Any point may have a time, as any line.
        columns["t"] = _texts(place[3] if len(place) > 3 else None for place in places)
    if len(features) == 1:
        # A lone point is a trajectory of one point, also without a name.
        columns.setdefault(ID, pa.array([0]))
    try:
        return of_table(pa.table(columns), reading)
    except FormatError as error:
        # A device answers one point, so several that belong to nobody must not be told apart by an error.
        raise NothingUsable(str(error)) from None


def _column(name: str, values: list[Any], known: Columns) -> pa.Array:
    """Return a property as a column. What one feature says never changes how those of others are read."""
    if name in (known.id, known.user):
        return names_of(values)
    if name in (known.t, known.date, START):
        return _texts(values)
    return values_of(values)


def _texts(values: Iterable[Any]) -> pa.Array:
    return pa.array(list(map(text_of, values)), pa.string())


def _listed(times: Json) -> list[Json]:
    """Return the times of a point, which may be one without a list."""
    return times if isinstance(times, list) else [times]


def _about(feature: Json) -> dict[str, Json]:
    """Return what a feature says beside its geometry."""
    about = feature.get("properties")
    return {"id": feature.get("id")} | (about if isinstance(about, dict) else {})


def stated_crs(path: Path) -> str | None:
    """Return the coordinate system of a file, also if it has no points or is broken."""
    with suppress(InputError, ValueError, OSError):
        return geojson_crs(_document(read_bytes(path)))
    return WGS84


TRS = {
    "type": "Link",
    "properties": {"type": "OGCDEF", "href": "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian"},
}


def _moving_feature(trajectories: Trajectories) -> pa.LargeStringArray:
    """Return a feature with a moving point, with linear interpolation and dates in UTC."""
    if trajectories.t is None:
        raise InputError("MF-JSON holds moving points, and these trajectories have no times")
    moments = paste('"', dates(trajectories.t, "MF-JSON"), 'Z"')
    return paste(
        *properties(trajectories),
        ',"temporalGeometry":{"type":"MovingPoint","interpolation":"Linear","datetimes":[',
        joined_lists(trajectories.offsets, moments, ","),
        '],"coordinates":[',
        joined_lists(trajectories.offsets, plane_points(trajectories), ","),
        "]}}",
    )


def _systems(trajectories: Trajectories) -> str:
    """Return the members that name the systems of coordinates and times."""
    name = "urn:ogc:def:crs:OGC:1.3:CRS84" if trajectories.is_geographic else trajectories.crs
    crs = None if name is None else {"type": "Name", "properties": {"name": name}}
    return f'"crs":{json.dumps(crs)},"trs":{json.dumps(TRS)},'


moving_writer = collection(_moving_feature, _systems)


def read_area(path: str | Path) -> Area:
    """Read all polygons of a GeoJSON file as one area.

    The polygons must be in the coordinate system of the trajectories.
    """
    source = Path(path)
    if not source.is_file():
        raise InputError(f"there is no file {source}")
    try:
        document = json.loads(read_bytes(source))
    except (ValueError, OSError) as error:
        raise FormatError(f"{source}: this is not GeoJSON: {error}") from None
    try:
        polygons = list(_polygons(document))
        if not polygons:
            raise FormatError("there are no polygons in it")
        return Area.of(polygons)
    except InputError as error:
        raise type(error)(f"{source}: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError, IndexError):
        raise FormatError(f"{source}: a polygon is broken") from None


def _polygons(node: Json) -> Iterator[Json]:
    if node["type"] == "Polygon":
        yield node["coordinates"]
    elif node["type"] == "MultiPolygon":
        yield from node["coordinates"]
    for inner in (*node.get("features", ()), *node.get("geometries", ()), node.get("geometry")):
        if inner is not None:
            yield from _polygons(inner)
