from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError, NothingUsable
from ldptrace.io import read, read_with_account, write
from ldptrace.io.geojson import read_area
from trajectory_kit import assert_same, trajectory_sets


def saved(folder: Path, document: object) -> Path:
    path = folder / "a.geojson"
    path.write_text(json.dumps(document))
    return path


def feature(kind: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": kind, "coordinates": coordinates},
    }


def collection(*features: Any, **members: Any) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": list(features), **members}


def test_lines_and_parts_of_lines(tmp_path: Path) -> None:
    found, report = read_with_account(
        saved(
            tmp_path,
            collection(
                feature("LineString", [[8, 50, 120], [9, 51, 121]], mode="bus"),
                feature("MultiLineString", [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], mode="tram"),
                feature("Point", [1, 1]),
                {"type": "Feature", "properties": None, "geometry": None},
                feature("Polygon", [[[0, 0], [1, 0], [0, 0]]]),
            ),
        )
    )
    assert found.crs == "EPSG:4326"
    # Every feature is somebody's.
    assert found.sizes.tolist() == [2, 2, 2, 1, 0, 0]
    assert found.x.tolist() == [8, 9, 1, 3, 5, 7, 1]
    assert found.extra is not None
    assert found.extra["mode"].to_pylist() == ["bus", "tram", "tram", None, None, None]
    assert report.rows == 5
    assert report.dropped == {}
    assert "1 feature whose geometry is Polygon" in report.line()


def test_a_single_geometry_and_a_single_feature(tmp_path: Path) -> None:
    line = feature("LineString", [[8, 50], [9, 51]])
    assert read(saved(tmp_path, line)).points == 2
    assert read(saved(tmp_path, line["geometry"])).points == 2


@pytest.mark.parametrize("times", [[60, 120], ["1970-01-01T00:01:00Z", "1970-01-01T00:02:00.000Z"]])
@pytest.mark.parametrize("name", ["times", "coordTimes"])
def test_times(tmp_path: Path, times: list[Any], name: str) -> None:
    found = read(saved(tmp_path, collection(feature("LineString", [[8, 50], [9, 51]], **{name: times}))))
    assert found.t is not None
    assert found.t.tolist() == [60, 120]


def test_numbers_of_the_features(tmp_path: Path) -> None:
    features = [{**feature("LineString", [[8, 50], [9, 51]]), "id": number} for number in (7, 3)]
    found = read(saved(tmp_path, collection(*features)))
    assert found.ids is not None
    assert found.ids.tolist() == [7, 3]


def test_what_is_written_follows_the_standard(tmp_path: Path) -> None:
    lines = Trajectories([8, 9, 10], [50, 51, 52], [0, 2, 3], crs="EPSG:4326")
    write(lines, tmp_path / "a.geojson")
    document = json.loads((tmp_path / "a.geojson").read_text())
    assert document == collection(
        feature("LineString", [[8, 50], [9, 51]], traj_id=0), feature("Point", [10, 52], traj_id=1)
    )


@pytest.mark.parametrize("crs", [None, "EPSG:3857", "EPSG:4326"])
def test_the_coordinate_system_survives(tmp_path: Path, crs: str | None) -> None:
    write(Trajectories([1, 2], [2, 3], [0, 2], crs=crs), tmp_path / "a.geojson")
    assert read(tmp_path / "a.geojson").crs == crs


@pytest.mark.parametrize("crs", ["EPSG:25832", {"properties": None}, {"properties": "EPSG:25832"}])
def test_a_coordinate_system_in_another_form_is_unknown(tmp_path: Path, crs: object) -> None:
    assert read(saved(tmp_path, collection(feature("LineString", [[1, 2], [3, 4]]), crs=crs))).crs is None


def test_the_long_name_of_a_coordinate_system(tmp_path: Path) -> None:
    for name, label in (
        ("urn:ogc:def:crs:EPSG::25832", "EPSG:25832"),
        ("urn:ogc:def:crs:OGC:1.3:CRS84", "EPSG:4326"),
        ("urn:ogc:def:crs:EPSG:6.9:25832", "EPSG:25832"),
    ):
        crs = {"type": "name", "properties": {"name": name}}
        assert (
            read(saved(tmp_path, collection(feature("LineString", [[1, 2], [3, 4]]), crs=crs))).crs == label
        )


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ({"type": "Topology"}, "expected a GeoJSON FeatureCollection"),
        ([1, 2], "this is a list"),
        (collection(), "there are no trajectories in it"),
        (
            collection(feature("Polygon", [])),
            "there are no lines in it, only: features whose geometry is Polygon",
        ),
        (collection(feature("LineString", [[1, 2], [3]])), "feature 1: a line needs coordinates"),
        (collection(feature("LineString", [[1, 2]]), feature("LineString", 5)), "feature 2: a line needs"),
        (collection(feature("LineString", [[1, "b"]])), "feature 1: a line needs coordinates"),
        (collection(17), "feature 1: a line needs coordinates"),
    ],
)
def test_what_is_not_the_format_is_named(tmp_path: Path, document: object, complaint: str) -> None:
    with pytest.raises(FormatError, match=f"a.geojson: {complaint}"):
        read(saved(tmp_path, document))


def test_broken_json_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    path.write_text('{"type":\n"FeatureCollection",\n]')
    with pytest.raises(FormatError, match=r"a.geojson: line 3: this is not JSON"):
        read(path)


def test_swapped_coordinates_get_help(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="longitude and latitude look swapped"):
        read(saved(tmp_path, feature("LineString", [[39.9, 116.3], [39.8, 116.4]])))


TRIP = Trajectories(
    [13.4, 13.5],
    [52.4, 52.5],
    [0, 2],
    t=[0, 90.5],
    ids=[7],
    crs="EPSG:4326",
    extra=pa.table({"mode": ["bus"]}),
)


def document(trips: Trajectories, folder: Path) -> dict[str, object]:
    write(trips, folder / "a.mfjson")
    found: dict[str, object] = json.loads((folder / "a.mfjson").read_text())
    return found


def test_the_text_that_is_written(tmp_path: Path) -> None:
    written = document(TRIP, tmp_path)
    assert written["features"] == [
        {
            "type": "Feature",
            "properties": {"traj_id": 7, "mode": "bus"},
            "temporalGeometry": {
                "type": "MovingPoint",
                "interpolation": "Linear",
                "datetimes": ["1970-01-01T00:00:00.000000Z", "1970-01-01T00:01:30.500000Z"],
                "coordinates": [[13.4, 52.4], [13.5, 52.5]],
            },
        }
    ]
    assert written["crs"] == {"type": "Name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}


@given(trajectory_sets(extra=True))
@settings(max_examples=30)
def test_there_and_back(trips: Trajectories) -> None:
    if trips.t is None:
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.mfjson")
        write(trips, path)
        assert_same(read(path), trips)


def test_the_promise_and_other_systems_are_in_the_file(tmp_path: Path) -> None:
    synthetic = replace(TRIP, crs="EPSG:25833", provenance={"epsilon": "1"})
    document(synthetic, tmp_path)
    found = read(tmp_path / "a.mfjson")
    assert (found.crs, found.provenance) == ("EPSG:25833", {"epsilon": "1"})
    assert document(replace(TRIP, crs=None), tmp_path)["crs"] is None


def test_points_that_do_not_move_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="these trajectories have no times"):
        write(replace(TRIP, t=None), tmp_path / "a.mfjson")
    assert list(tmp_path.iterdir()) == []


SQUARE = [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]]
FAR = [[[5, 5], [6, 5, 99], [6, 6], [5, 5]]]


@pytest.mark.parametrize(
    "document",
    [
        {"type": "MultiPolygon", "coordinates": [SQUARE, FAR]},
        {
            "type": "FeatureCollection",
            "features": [
                {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": SQUARE}, "properties": {}},
                {"type": "Feature", "geometry": None},
                {
                    "type": "Feature",
                    "geometry": {
                        "type": "GeometryCollection",
                        "geometries": [
                            {"type": "Point", "coordinates": [0, 0]},
                            {"type": "Polygon", "coordinates": FAR},
                        ],
                    },
                },
            ],
        },
    ],
)
def test_polygons_are_found_wherever_they_are(tmp_path: Path, document: Any) -> None:
    (tmp_path / "land.geojson").write_text(json.dumps(document))
    area = read_area(tmp_path / "land.geojson")
    assert area.contains([0.5, 5.9, 3], [0.5, 5.5, 3]).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "this is not GeoJSON"),
        ('{"type": "Point", "coordinates": [1, 2]}', "there are no polygons in it"),
        ('{"type": "Polygon", "coordinates": [[[0, 0], [1, 1]]]}', "at least three points"),
        ('{"type": "Polygon", "coordinates": [[[0, 0], "x", [1, 1]]]}', "a polygon is broken"),
        ("[]", "a polygon is broken"),
    ],
)
def test_bad_areas_get_one_sentence(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "land.geojson"
    path.write_text(content)
    with pytest.raises(InputError, match=words) as caught:
        read_area(path)
    assert str(caught.value).startswith(str(path))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_area(tmp_path / "nothing.geojson")


def test_properties_can_be_named(tmp_path: Path) -> None:
    line = {"type": "LineString", "coordinates": [[0, 1], [2, 3]]}
    features = [
        {"type": "Feature", "geometry": line, "properties": {"ride": 7, "cab": "a", "clock": [5, 6]}},
        {"type": "Feature", "geometry": line, "properties": {"ride": 8, "cab": "a"}},
    ]
    path, lines = tmp_path / "a.geojson", tmp_path / "a.geojsonl"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    lines.write_text("\n".join([*map(json.dumps, features), "broken"]))
    for source in (path, lines):
        found = read(source, id="ride", user="cab", t="clock")
        assert found.users[:2].tolist() == [0, 0]
        assert found.t is not None
        np.testing.assert_array_equal(found.t, [5, 6, np.nan, np.nan])
        assert found.sizes.tolist() == ([2, 2] if source == path else [2, 2, 0])
    assert read(path, id="ride").numbers.tolist() == [7, 8]
    for option in ("id", "user", "t"):
        with pytest.raises(InputError, match=f"no feature has 'who' for {option}"):
            read(path, **{option: "who"})


def test_points_can_be_named(tmp_path: Path) -> None:
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [k, k]},
            "properties": {"ride": k // 2, "cab": "a", "clock": 60 * k},
        }
        for k in range(4)
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    found = read(path, id="ride", user="cab", t="clock")
    assert found.offsets.tolist() == [0, 2, 4]
    assert found.user == "cab"
    assert found.t is not None
    assert found.t.tolist() == [0, 60, 120, 180]


def test_points_among_lines_are_trajectories_or_nothing_is_read(tmp_path: Path) -> None:
    line = feature("LineString", [[1, 1], [2, 2]], times=[5, 6])
    lone = [feature("Point", [k, k], ride=k, time=f"00:0{k}") for k in range(3)]
    found, account = read_with_account(saved(tmp_path, collection(line, *lone)))
    assert found.offsets.tolist() == [0, 2, 3, 4, 5]
    assert found.t is not None
    assert found.t.tolist() == [5, 6, 0, 60, 120]
    assert "3 features that are points among others" in account.line()
    alone = read(saved(tmp_path, collection(*lone)), id="ride")
    assert alone.t is not None
    assert alone.t.tolist() == [0, 60, 120]
    for joined in ({"trip_id": 7}, {"date": "2024-05-01", "time": "08:30"}):
        features = [feature("Point", [k, k], **joined) for k in range(3)]
        with pytest.raises(NothingUsable, match="3 of 4 features are points of trajectories"):
            read(saved(tmp_path, collection(*features, line)))


def test_points_may_have_times_as_lines_have(tmp_path: Path) -> None:
    points = [feature("Point", [k, k, 0, 7] if k else [k, k], trip_id=k) for k in range(2)]
    found = read(saved(tmp_path, collection(*points)))
    assert found.t is not None
    np.testing.assert_array_equal(found.t, [np.nan, 7])


@pytest.mark.parametrize("name", ["user_id", "time"])
def test_one_point_does_not_say_how_others_are_read(tmp_path: Path, name: str) -> None:
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [k, k]},
            "properties": {"trip": k // 2},
        }
        for k in range(6)
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    assert read(path).sizes.tolist() == [2, 2, 2]
    features[0]["properties"] = {"trip": 0, name: 5}
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    with pytest.raises(InputError, match=f"some features have no property {name!r}"):
        read(path)


def test_a_coordinate_that_is_missing_takes_its_point_only(tmp_path: Path) -> None:
    lines = [feature("LineString", [[0, 0], [None, 1], [2, 2]]), feature("LineString", [[5, 5], [6, None]])]
    points = [feature("Point", place, trip_id=7) for place in ([1, 1], [None, None], [3, 3])]
    for features, x in ((lines, [0, 2, 5]), (points, [1, 3])):
        found, account = read_with_account(saved(tmp_path, collection(*features)))
        assert found.x.tolist() == x
        assert "(not a number)" in account.line()


def test_points_are_in_the_order_that_a_property_states(tmp_path: Path) -> None:
    points = [feature("Point", [x, 0.0], seq=x, traj_id=1) for x in (3.0, 1.0, 2.0)]
    assert read(saved(tmp_path, collection(*points))).x.tolist() == [1.0, 2.0, 3.0]


def test_the_times_of_one_point_are_not_those_of_others(tmp_path: Path) -> None:
    points = [feature("Point", [x, 0.0], t=50 * x) for x in (1.0, 2.0, 3.0)]
    points[1]["properties"]["times"] = [7]
    for line in ([], [feature("LineString", [[0.0, 0.0], [1.0, 1.0]])]):
        with pytest.raises(InputError, match="no property 'times'"):
            read(saved(tmp_path, collection(*line, *points)))


@pytest.mark.parametrize("odd", [[1], "x", 7])
def test_properties_that_are_no_object_say_nothing(odd: object, tmp_path: Path) -> None:
    points = [feature("Point", [x, 0.0]) | {"id": 1} for x in (1.0, 2.0)]
    points[0]["properties"] = odd
    assert read(saved(tmp_path, collection(*points))).x.tolist() == [1.0, 2.0]
