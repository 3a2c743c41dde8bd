from __future__ import annotations

import json
import math
import os
import time
from pathlib import Path

import pytest

from ldptrace.device.files import geojson_trips, gpx_trips, own_clock, read_trips, trips_of, unix_time
from ldptrace.errors import InputError

GPX = b"""<?xml version="1.0"?>
<gpx xmlns="http://www.topografix.com/GPX/1/1" xmlns:x="urn:other">
<wpt lat="1" lon="1"/>
<trk><name>one</name><trkseg>
<trkpt lat="52.5" lon="13.4"><ele>5</ele><time>2026-11-10T08:00:00Z</time></trkpt>
<trkpt lat="52.6" lon="13.5"><time>2026-11-10T08:30:00.5+00:00</time>
<extensions><x:time>1970-01-01</x:time></extensions></trkpt>
</trkseg><trkseg></trkseg></trk>
<trk><trkseg><trkpt lat="north" lon="13.4"/><trkpt lon="1e999"/></trkseg></trk>
</gpx>"""


def test_segments_of_tracks_are_trips() -> None:
    first, empty, odd = gpx_trips(GPX)
    begin = 1762761600.0 + 365 * 86400
    assert [point[:2] for point in first.points] == [(13.4, 52.5), (13.5, 52.6)]
    assert first.arrival == begin + 1800.5
    assert [point[2] for point in first.points] == [own_clock(begin), own_clock(begin + 1800.5)]
    assert list(empty.points) == []
    assert math.isnan(empty.arrival or 0)
    assert [(math.isnan(x) or x, math.isnan(y)) for x, y, _ in odd.points] == [(13.4, True), (math.inf, True)]
    assert math.isnan(odd.arrival or 0)


@pytest.mark.parametrize(
    "broken",
    [b"", b"<gpx>", GPX[:-3], b"plain text", GPX.replace(b"<gpx ", b'<!DOCTYPE gpx [<!ENTITY a "b">]><gpx ')],
)
def test_what_is_no_gpx_has_no_trips(broken: bytes) -> None:
    assert gpx_trips(broken) == []


def test_elements_in_others_of_their_kind_are_read_once() -> None:
    point = '<trkpt lat="{0}" lon="{0}"><time>2026-11-10T08:00:00Z</time>{1}</trkpt>'
    inside = f"<trkseg>{point.format(2, '')}</trkseg>"
    later = "<extensions><time>2027-01-01T00:00:00Z</time></extensions>"
    segment = f"<trkseg>{point.format(1, inside)}{inside}{point.format(3, later)}</trkseg>"
    found = gpx_trips(f"<gpx><trk>{segment}</trk></gpx>".encode())
    assert [[x for x, _, _ in trip.points] for trip in found] == [[1.0, 3.0], [2.0], [2.0]]
    assert {trip.arrival for trip in found} == {unix_time("2026-11-10T08:00:00Z")}


def test_lines_of_geojson_are_trips() -> None:
    line = {"type": "LineString", "coordinates": [[1, 2], [3, 4]]}
    timed = {"geometry": line, "properties": {"coordTimes": ["1970-01-05T00:00:00Z", "1970-01-05T01:00:00Z"]}}
    many = {"geometry": {"type": "MultiLineString", "coordinates": [[[1, 2]], [[3, 4], [5, 6]]]}}
    many["properties"] = {"times": [[1.7e12], [1700000001, 1700000002]]}
    fourth = {"geometry": {"type": "LineString", "coordinates": [[1, 2, 0, 30600], [3, 4, 0, 30660]]}}
    odd = {"geometry": {"type": "LineString", "coordinates": [["1", True], None, [10**400, 5]]}}
    point = {"geometry": {"type": "Point", "coordinates": [7, 8]}}
    other = {"geometry": {"type": "Polygon", "coordinates": []}}
    document = {"type": "FeatureCollection", "features": [timed, many, fourth, odd, point, other, None, 7]}
    found = geojson_trips(json.dumps(document).encode())
    arrivals = [trip.arrival for trip in found]
    assert arrivals[:4] == [349200.0, 1700000000.0, 1700000002.0, 30660.0]
    assert [point[2] for point in found[3].points] == [30600.0, 30660.0]
    xs = [x for x, _, _ in found[4].points]
    assert [math.isnan(x) for x in xs] == [True, True, False]
    assert xs[2] == math.inf
    assert [place[:2] for place in found[5].points] == [(7.0, 8.0)]
    assert len(found) == 6
    assert len(geojson_trips(json.dumps(line).encode())) == 1
    assert len(geojson_trips(json.dumps({"type": "Feature"} | timed).encode())) == 1


@pytest.mark.parametrize("broken", [b"", b"{", b"[1]", b"null", b"\xff", b"[" * 100_000])
def test_what_is_no_geojson_has_no_trips_and_is_in_degrees(broken: bytes) -> None:
    assert geojson_trips(broken) == []
    assert trips_of(broken, gpx=False).crs == "EPSG:4326"


def test_coordinates_are_those_that_the_document_names() -> None:
    named = {"crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}}
    assert trips_of(json.dumps(named).encode(), gpx=False).crs == "EPSG:3857"
    assert trips_of(json.dumps(named | {"features": []}).encode(), gpx=False).crs == "EPSG:3857"
    degrees = json.dumps(named).replace("EPSG::3857", "OGC:1.3:CRS84").encode()
    assert trips_of(degrees, gpx=False).crs == "EPSG:4326"


def test_files_are_read_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "a.GPX").write_bytes(GPX)
    (tmp_path / "b.geojson").write_text('{"type":"LineString","coordinates":[[1,2]]}')
    (tmp_path / "c.json").write_text('{"crs":null,"type":"LineString","coordinates":[[1,2]]}')
    both = read_trips([tmp_path / "a.GPX", tmp_path / "b.geojson"])
    assert (len(both.recordings), both.crs) == (4, "EPSG:4326")
    assert read_trips([tmp_path / "c.json"]).crs is None
    assert read_trips([tmp_path / "a.GPX", tmp_path / "c.json"]).crs is None
    with pytest.raises(InputError, match=r"a trajectory is a file \.gpx"):
        read_trips([tmp_path / "d.csv"])
    with pytest.raises(FileNotFoundError):
        read_trips([tmp_path / "missing.gpx"])


def test_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert own_clock(1.7e9) == 1.7e9 + 9 * 3600
        assert own_clock(30600.0) == 30600.0
        assert own_clock(1e300) == 1e300
    finally:
        monkeypatch.delenv("TZ")
        os.environ.pop("TZ", None)
        time.tzset()
    assert unix_time("2026-11-10 08:00:00") == unix_time("2026-11-10T09:00:00+01:00")
    assert all(math.isnan(unix_time(value)) for value in (None, True, "noon", [], {}))
