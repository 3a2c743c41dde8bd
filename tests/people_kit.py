"""People whose records differ in odd ways, and writers of their trips in every format that is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldptrace.io import read

BOUNDS = (0.0, 0.0, 10.0, 10.0)
PEOPLE = 14
DATE = 1_714_552_200.0
# x, y and t of a point, as they are written.
Point = tuple[Any, Any, Any]


@dataclass(frozen=True)
class Person:
    """What one person's part of a file says."""

    name: str
    trips: tuple[tuple[Point, ...], ...]
    # What a format can say instead of lines: a geometry, or further properties.
    geometry: Any = "line"
    properties: dict[str, Any] = field(default_factory=dict)


def somebody(number: int, *, start: float = DATE) -> Person:
    rng = np.random.default_rng(number)
    places = rng.uniform(0.5, 9.5, (4, 2)).round(3).tolist()
    at = start + 600 * number
    return Person(f"u{number}", (tuple((x, y, at + 60.0 * k) for k, (x, y) in enumerate(places)),))


def with_times(person: Person, *times: Any) -> Person:
    trip = person.trips[0]
    return replace(person, trips=(tuple((x, y, times[k % len(times)]) for k, (x, y, _) in enumerate(trip)),))


def _with_places(person: Person, *places: tuple[Any, Any]) -> Person:
    return replace(person, trips=(tuple((x, y, DATE + 60 * k) for k, (x, y) in enumerate(places)),))


Change = Callable[[Person], Person]
CHANGES: dict[str, Change] = {
    "no points": lambda person: replace(person, trips=((),)),
    "one point": lambda person: replace(person, trips=(person.trips[0][:1],)),
    "back": lambda person: replace(person, trips=(person.trips[0][::-1],)),
    "no times": lambda person: with_times(person, None),
    "no first time": lambda person: with_times(person, None, DATE, DATE + 60, DATE + 90),
    "no last time": lambda person: with_times(person, DATE, DATE + 60, DATE + 90, None),
    "times of the day": lambda person: with_times(person, 3600.0, 3660.0),
    "times of the year 1990": lambda person: with_times(person, 6e8, 6e8 + 60),
    "times of the year 5000": lambda person: with_times(person, 9.6e10),
    "milliseconds": lambda person: with_times(person, 1.7e12, 1.7e12 + 6e4),
    "nanoseconds": lambda person: with_times(person, 1.7e18),
    "dates without signs": lambda person: with_times(person, 20240501),
    "texts": lambda person: with_times(person, "noon", "later"),
    "dates": lambda person: with_times(person, "2024-05-01T08:30:00", "2024-05-01T09:30:00+02:00"),
    "dates with slashes": lambda person: with_times(person, "05/01/2024 08:30", "13/01/2024 08:30"),
    "clocks": lambda person: with_times(person, "08:30", "08:31"),
    "a last time far away": lambda person: with_times(person, DATE, DATE + 60, DATE + 90, 1e300),
    "infinite times": lambda person: with_times(person, 1e300, -1e300),
    "outside": lambda person: _with_places(person, (50, 50), (60, 60)),
    "in and out": lambda person: _with_places(
        person, (1, 1), (50, 50), (51, 50), (2, 2), (70, 2), (71, 3), (3, 3)
    ),
    "no degrees": lambda person: _with_places(person, (181, 5), (5, 95)),
    "far away": lambda person: _with_places(person, (5e5, 5e6)),
    "no numbers": lambda person: _with_places(person, (float("nan"), 1), (1, float("inf")), (5, 5)),
    "broken numbers": lambda person: _with_places(person, ("east", "north"), ("1,5", "2.5")),
    "integers": lambda person: with_times(_with_places(person, (1, 2), (3, 4)), 1714552200),
    "many points": lambda person: _with_places(person, *((k % 9, k % 7) for k in range(300))),
    "no geometry": lambda person: replace(person, trips=((),), geometry=None),
    "a point": lambda person: replace(person, trips=(person.trips[0][:1],), geometry="Point"),
    "an area": lambda person: replace(person, trips=((),), geometry="Polygon"),
    "properties": lambda person: replace(person, properties={"user_id": 7, "times2": [1], "name": None}),
}


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def csv_of(people: list[Person], folder: Path, trips: bool = True) -> Path:
    rows = ["user,trip,x,y,t"]
    for number, person in enumerate(people):
        for trip in person.trips:
            points = trip or ((None, None, None),)
            rows += [",".join([person.name, str(number), *map(_cell, point)]) for point in points]
    path = folder / "a.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def _number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def lists_of(people: list[Person], folder: Path) -> Path:
    trips = [(person.name, trip) for person in people for trip in person.trips]
    axes = {
        axis: pa.array([[_number(point[k]) for point in trip] for _, trip in trips], pa.list_(pa.float64()))
        for k, axis in enumerate("xyt")
    }
    path = folder / "a.parquet"
    pq.write_table(pa.table({"user": [name for name, _ in trips], **axes}), path)
    return path


def points_of(people: list[Person], folder: Path) -> Path:
    rows = [
        (person.name, number, *point)
        for number, person in enumerate(people)
        for trip in person.trips
        for point in (trip or ((None, None, None),))
    ]
    columns = list(zip(*rows, strict=True))
    table = pa.table(
        {
            "user": pa.array(columns[0]),
            "trip": pa.array(columns[1]),
            **{
                axis: pa.array(list(map(_number, columns[2 + k])), pa.float64())
                for k, axis in enumerate("xyt")
            },
        }
    )
    path = folder / "b.parquet"
    pq.write_table(table, path)
    return path


def _plain(value: Any) -> Any:
    """What JSON can say."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def named_of(people: list[Person], folder: Path) -> Path:
    """Trips have names, of which some look like the same number, and some like no name."""
    names = {3: ("01", "1"), 4: ("", "NA")}
    rows = ["trip,x,y,t"]
    for number, person in enumerate(people):
        known = names.get(number, (person.properties.get("trip", number),))
        rows += [
            ",".join(map(_cell, (known[k % len(known)], *point)))
            for trip in person.trips
            for k, point in enumerate(trip)
        ]
    path = folder / "named.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def marks_of(people: list[Person], folder: Path) -> Path:
    """Each point is a feature, unless a person has a line or nothing."""
    features = []
    for number, person in enumerate(people):
        trip = person.trips[0]
        about = {"traj_id": number, "time": trip[0][2] if trip else None}
        if person.geometry == "line":
            features += [
                {
                    "type": "Feature",
                    "geometry": {"type": "Point", "coordinates": [_plain(x), _plain(y)]},
                    "properties": about | {"time": t},
                }
                for x, y, t in trip
            ]
            continue
        line = {"type": "LineString", "coordinates": [[x, y] for x, y, _ in trip]}
        geometry = line if person.geometry == "LineString" else None
        features.append({"type": "Feature", "geometry": geometry, "properties": about})
    path = folder / "marks.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "crs": None, "features": features}))
    return path


def lone_marks_of(people: list[Person], folder: Path) -> Path:
    """Everybody was at one place."""
    return marks_of([replace(person, trips=(person.trips[0][:1],)) for person in people], folder)


def mixed_of(people: list[Person], folder: Path) -> Path:
    """A row is where a trip began. Who has several trips has lines."""
    rows = ["user;trip;wkt;t"]
    for person in people:
        for number, trip in enumerate(person.trips):
            line = ",".join(f"{x} {y}" for x, y, _ in trip[: None if len(person.trips) > 1 else 1])
            kind = "LINESTRING" if len(person.trips) > 1 else "POINT"
            rows.append(f"{person.name};{number};{kind} ({line});{trip[0][2]}")
    path = folder / "mixed.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def sequence_of(people: list[Person], folder: Path) -> Path:
    features = json.loads(geojson_of(people, folder).read_text())["features"]
    path = folder / "a.geojsonl"
    path.write_text("\n".join(map(json.dumps, features)))
    return path


def geojson_of(people: list[Person], folder: Path) -> Path:
    features = []
    for person in people:
        for trip in person.trips:
            places = [[_plain(x), _plain(y)] for x, y, _ in trip]
            geometry: Any = {"type": "LineString", "coordinates": places}
            if person.geometry is None:
                geometry = None
            elif person.geometry == "Point":
                geometry = {"type": "Point", "coordinates": places[0]}
            elif person.geometry == "Polygon":
                geometry = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 0]]]}
            about = {"times": [_plain(t) for _, _, t in trip], **person.properties}
            features.append({"type": "Feature", "geometry": geometry, "properties": about})
    path = folder / "a.geojson"
    path.write_text(json.dumps({"type": "FeatureCollection", "crs": None, "features": features}))
    return path


def iso(value: Any) -> str:
    number = _number(value)
    if number is None or not 0 <= number < 2e11:
        return str(value)
    return str(np.datetime64(int(number), "s")) + "Z"


def gpx_of(people: list[Person], folder: Path) -> Path:
    def point(x: Any, y: Any, t: Any) -> str:
        time = "" if t is None else f"<time>{iso(t)}</time>"
        return f'<trkpt lat="{y}" lon="{x}">{time}</trkpt>'

    tracks = [
        "<trk></trk>"
        if person.geometry is None
        else f"<trk><trkseg>{''.join(point(*place) for place in person.trips[0])}</trkseg></trk>"
        for person in people
    ]
    path = folder / "a.gpx"
    path.write_text(f'<gpx xmlns="http://www.topografix.com/GPX/1/1">{"".join(tracks)}</gpx>')
    return path


def kml_of(people: list[Person], folder: Path) -> Path:
    def placemark(person: Person) -> str:
        trip = person.trips[0]
        if person.geometry != "line":
            return "<Placemark><name>x</name></Placemark>"
        when = "".join(f"<when>{'' if t is None else iso(t)}</when>" for _, _, t in trip)
        places = "".join(f"<gx:coord>{x} {y} 0</gx:coord>" for x, y, _ in trip)
        return f"<Placemark><gx:Track>{when}{places}</gx:Track></Placemark>"

    path = folder / "a.kml"
    path.write_text(
        '<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"><Document>'
        f"{''.join(map(placemark, people))}</Document></kml>"
    )
    return path


def gpkg_of(people: list[Person], folder: Path) -> Path:
    pyogrio, shapely = pytest.importorskip("pyogrio"), pytest.importorskip("shapely")
    shapes, times = [], []
    for person in people:
        places = [(_number(x), _number(y)) for x, y, _ in person.trips[0]]
        if person.geometry is None or not places or None in sum(places, ()):
            shapes.append(None)
        elif len(places) == 1:
            shapes.append(shapely.to_wkb(shapely.Point(places[0])))
        else:
            shapes.append(shapely.to_wkb(shapely.LineString(places)))
        times.append(json.dumps([_plain(t) for _, _, t in person.trips[0]]))
    path = folder / "a.gpkg"
    table = pa.table({"times": times, "geometry": pa.array(shapes, pa.binary())})
    pyogrio.write_arrow(
        *(table, path), driver="GPKG", geometry_name="geometry", geometry_type="Unknown", crs=None, layer="a"
    )
    return path


def dat_of(people: list[Person], folder: Path) -> Path:
    path = folder / "a.dat"
    lines = [
        f"#{number}:\n>0:{''.join(f'{x},{y};' for x, y, _ in person.trips[0])}\n"
        for number, person in enumerate(people)
    ]
    path.write_text("".join(lines))
    return path


def tdrive_of(people: list[Person], folder: Path) -> Path:
    home = folder / "taxis"
    home.mkdir(exist_ok=True)
    for number, person in enumerate(people):
        rows = [f"{number},{iso(t).rstrip('Z').replace('T', ' ')},{x},{y}" for x, y, t in person.trips[0]]
        (home / f"{number}.txt").write_text("\n".join(rows))
    return home


def porto_of(people: list[Person], folder: Path) -> Path:
    path = folder / "porto.csv"
    rows = ['"TRIP_ID","TIMESTAMP","MISSING_DATA","POLYLINE"']
    for number, person in enumerate(people):
        line = json.dumps([[x, y] for x, y, _ in person.trips[0]])
        start = _cell(person.trips[0][0][2] if person.trips[0] else None)
        rows.append(f'"{number}","{start}","{person.geometry is None}","{line}"')
    path.write_text("\n".join(rows) + "\n")
    return path


def ends_of(people: list[Person], folder: Path) -> Path:
    rows = ["user,start_x,start_y,start_time,end_x,end_y,end_time"]
    for person in people:
        trip = person.trips[0] or ((None, None, None),)
        rows.append(",".join([person.name, *map(_cell, trip[0]), *map(_cell, trip[-1])]))
    path = folder / "ends.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def wkt_of(people: list[Person], folder: Path) -> Path:
    rows = ["user;times;wkt"]
    for person in people:
        trip = person.trips[0]
        line = ",".join(f"{x} {y}" for x, y, _ in trip)
        text = {"line": f"LINESTRING ({line})", "Point": f"POINT ({line})", "Polygon": f"POLYGON (({line}))"}
        rows.append(
            f"{person.name};{json.dumps([_plain(t) for _, _, t in trip])};{text.get(person.geometry, '')}"
        )
    path = folder / "wkt.csv"
    path.write_text("\n".join(rows).replace('"', "") + "\n")
    return path


def cells_of(people: list[Person], folder: Path) -> Path:
    h3 = pytest.importorskip("h3")

    def cell(x: Any, y: Any) -> str:
        degrees = _number(x), _number(y)
        if None in degrees or not np.isfinite(degrees).all():
            return str(x)
        return str(h3.latlng_to_cell(degrees[1], degrees[0], 7))

    rows = ["user,h3_cells"]
    rows += [f"{person.name},{' '.join(cell(x, y) for x, y, _ in person.trips[0])}" for person in people]
    path = folder / "cells.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def jsonl_of(people: list[Person], folder: Path) -> Path:
    def line(person: Person) -> dict[str, Any]:
        axes = zip("xyt", zip(*person.trips[0], strict=True), strict=True) if person.trips[0] else ()
        about = {"user": person.name, "x": [], "y": [], "t": []} | {
            name: list(values) for name, values in axes
        }
        nothing = dict.fromkeys("xyt") if person.geometry is None else {}
        return about | nothing | person.properties

    path = folder / "a.jsonl"
    path.write_text("\n".join(json.dumps(line(person)) for person in people))
    return path


def fixes_of(people: list[Person], folder: Path) -> Path:
    lines = [
        json.dumps(
            {"user": person.name, "trip": number, **dict(zip("xyt", point, strict=True)), **person.properties}
        )
        for number, person in enumerate(people)
        for trip in person.trips
        for point in (trip or ((None, None, None),))
    ]
    path = folder / "b.jsonl"
    path.write_text("\n".join(lines))
    return path


def feather_of(people: list[Person], folder: Path) -> Path:
    path = folder / "a.feather"
    table = pq.read_table(lists_of(people, folder))
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)
    return path


def in_memory(people: list[Person], folder: Path) -> Any:
    return read(lists_of(people, folder))


def google_of(people: list[Person], folder: Path) -> Path:
    home = folder / "google"
    home.mkdir(exist_ok=True)
    for number, person in enumerate(people):
        fixes = []
        for x, y, t in person.trips[0]:
            place = [_number(axis) for axis in (x, y)]
            known = all(axis is not None and np.isfinite(axis) for axis in place)
            lon, lat = (int(axis * 1e7) if known and axis is not None else None for axis in place)
            fixes.append(
                {"latitudeE7": lat, "longitudeE7": lon} | ({} if t is None else {"timestamp": iso(t)})
            )
        (home / f"{number:02}.json").write_text(json.dumps({"locations": fixes}))
    return home


def geolife_of(people: list[Person], folder: Path) -> Path:
    for number, person in enumerate(people):
        home = folder / "geolife" / f"{number:03}" / "Trajectory"
        home.mkdir(parents=True, exist_ok=True)
        rows = ["Geolife trajectory", *["about the file"] * 5]
        for x, y, t in person.trips[0]:
            seconds = _number(t)
            days = "" if seconds is None else seconds / 86400 + 25569
            rows.append(f"{y},{x},0,100,{days},2009-10-11,14:04:30")
        (home / "a.plt").write_text("\n".join(rows) + "\n")
    return folder / "geolife"


def moving_of(people: list[Person], folder: Path) -> Path:
    features: list[dict[str, Any]] = []
    for person in people:
        times = [None if t is None else iso(t) for _, _, t in person.trips[0]]
        places = [[_plain(x), _plain(y)] for x, y, _ in person.trips[0]]
        moving = {"type": "MovingPoint", "datetimes": times, "coordinates": places}
        about = {"type": "Feature", "properties": person.properties}
        features.append(about | ({} if person.geometry is None else {"temporalGeometry": moving}))
    path = folder / "a.mfjson"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def frame_of(people: list[Person], folder: Path) -> Any:
    rows = [
        (person.name, number, *point)
        for number, person in enumerate(people)
        for trip in person.trips
        for point in (trip or ((None, None, None),))
    ]
    return pytest.importorskip("pandas").DataFrame(rows, columns=["user", "trip", "x", "y", "t"])


FILES: dict[str, Callable[[list[Person], Path], Any]] = {
    "csv": csv_of,
    "lists": lists_of,
    "points": points_of,
    "geojson": geojson_of,
    "sequence": sequence_of,
    "gpx": gpx_of,
    "kml": kml_of,
    "gpkg": gpkg_of,
    "dat": dat_of,
    "tdrive": tdrive_of,
    "porto": porto_of,
    "ends": ends_of,
    "wkt": wkt_of,
    "cells": cells_of,
    "jsonl": jsonl_of,
    "fixes": fixes_of,
    "feather": feather_of,
    "memory": in_memory,
    "google": google_of,
    "geolife": geolife_of,
    "moving": moving_of,
    "frame": frame_of,
}
