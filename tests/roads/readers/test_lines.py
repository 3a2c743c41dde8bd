from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ldptrace.errors import InputError
from ldptrace.roads import read_roads
from ldptrace.roads.readers.lines import plain_tags, touching
from road_kit import CORNERS, MIDDLE, feature, write_geojson


def test_lines_are_cut_where_another_one_ends_on_them(tmp_path: Path) -> None:
    features = [
        feature([CORNERS[1], CORNERS[2], CORNERS[3], CORNERS[4], CORNERS[1]]),
        feature([MIDDLE[5], MIDDLE[6]]),
    ]
    roads = read_roads(write_geojson(tmp_path / "a.geojson", features))
    # The corners of a closed line are no junctions, except where it begins.
    assert (roads.nodes, roads.edges) == (3, 8)
    assert roads.seconds is None


def test_lines_that_only_cross_stay_whole(tmp_path: Path) -> None:
    bridge = [feature([(0, 0), (0.01, 0.01)]), feature([(0, 0.01), (0.01, 0)])]
    roads = read_roads(write_geojson(tmp_path / "a.geojson", bridge), connected=False)
    assert (roads.nodes, roads.edges) == (4, 4)


def test_touching_finds_ends_on_long_lines_among_short_ones() -> None:
    rng = np.random.default_rng(1)
    foot = np.sort(rng.uniform(0, 10_000, 50))
    x = np.r_[0.0, 10_000.0, np.repeat(foot, 2)]
    y = np.r_[0.0, 0.0, np.tile([0.0, 12.0], 50)]
    new_x, new_y, offsets = touching(x, y, np.r_[0, np.arange(2, 103, 2)], None)
    assert offsets[1] == 52
    np.testing.assert_allclose(new_x[1:51], foot)
    assert (new_y[:52] == 0).all()


def test_a_street_drawn_once_for_each_way_is_one_street(tmp_path: Path) -> None:
    there = [CORNERS[1], (13.4005, 52.5002), CORNERS[2]]
    features = [feature(there), feature(there[::-1]), feature([CORNERS[2], CORNERS[3], CORNERS[1]])]
    roads = read_roads(write_geojson(tmp_path / "a.geojson", features))
    assert roads.edges == 4
    assert roads.account.dropped_streets == {"the same street again": 1}


def test_two_streets_of_one_length_stay_two(tmp_path: Path) -> None:
    north = [CORNERS[1], (13.40075, 52.5003), CORNERS[2]]
    south = [CORNERS[1], (13.40075, 52.4997), CORNERS[2]]
    roads = read_roads(write_geojson(tmp_path / "a.geojson", [feature(north), feature(south)]))
    assert roads.edges == 4


def test_projected_lines_keep_their_coordinates(tmp_path: Path) -> None:
    square = [feature([(0, 0), (100, 0), (100, 100), (0, 0)]), feature([(100, 0), (0, 0)])]
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32632"}}
    roads = read_roads(write_geojson(tmp_path / "a.geojson", square, crs=crs))
    assert roads.crs == "EPSG:32632"
    assert roads.length.min() == 100


def test_osmnx_geopackages_have_a_layer_of_edges(tmp_path: Path) -> None:
    import pyogrio.raw
    import shapely

    path = tmp_path / "osmnx.gpkg"
    points = shapely.to_wkb(np.array([shapely.Point(0, 0), shapely.Point(0.001, 0)]))
    lines = shapely.to_wkb(
        np.array([shapely.LineString([(0, 0), (0.001, 0)]), shapely.LineString([(0.001, 0), (0, 0)])])
    )
    pyogrio.raw.write(path, points, [], [], layer="nodes", geometry_type="Point", crs="EPSG:4326")
    fields = [np.array(["residential", "residential"], dtype=object), np.array([False, False])]
    pyogrio.raw.write(
        *(path, lines, fields, ["highway", "oneway"]),
        layer="edges",
        geometry_type="LineString",
        crs="EPSG:4326",
        append=True,
    )
    assert read_roads(path).edges == 2


def test_metres_that_say_they_are_degrees_are_refused(tmp_path: Path) -> None:
    path = write_geojson(tmp_path / "a.geojson", [feature([(465000, 5240000), (465100, 5240000)])])
    with pytest.raises(InputError, match="latitudes within ±89"):
        read_roads(path)


def test_points_alone_are_no_roads(tmp_path: Path) -> None:
    point = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": None}
    (tmp_path / "a.json").write_text(json.dumps(point))
    with pytest.raises(InputError, match="there are no roads in it"):
        read_roads(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("properties", "name", "value"),
    [
        ({"ROAD_CLASS": "Primary"}, "highway", "primary"),
        ({"highway": ["residential", "tertiary"]}, "highway", "residential"),
        ({"highway": "['residential', 'tertiary']"}, "highway", "residential"),
        ({"highway": "primary", "type": "other"}, "highway", "primary"),
        ({"one_way": False}, "oneway", "no"),
        ({"speed_limit": 50.0}, "maxspeed", "50"),
        ({"maxspeed": float("nan")}, "maxspeed", None),
        ({"maxspeed": []}, "maxspeed", None),
    ],
)
def test_columns_that_others_name_otherwise(
    properties: dict[str, object], name: str, value: str | None
) -> None:
    assert plain_tags(properties).get(name) == value
