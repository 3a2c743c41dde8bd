"""Lines and ways become the same network, whatever file they come from."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from ldptrace.errors import InputError
from ldptrace.roads import RoadNetwork, read_roads
from ldptrace.roads.readers.lines import touching
from roads_kit import CORNERS, MIDDLE, block, feature, write_geojson, write_pbf


def as_text(roads: RoadNetwork) -> list[str]:
    """Edges as sorted text, so that networks compare whatever the order of their nodes."""
    place = [f"{x:.5f} {y:.5f}" for x, y in zip(roads.x, roads.y, strict=True)]
    return sorted(
        f"{place[a]} > {place[b]} {length:.1f} {roads.classes[kind]}"
        for a, b, length, kind in zip(roads.source, roads.target, roads.length, roads.road_class, strict=True)
    )


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The block in every format of lines."""
    import pyogrio.raw
    import shapely

    features = block()
    json_file = write_geojson(tmp_path / "block.geojson", features)
    (tmp_path / "block.geojson.gz").write_bytes(gzip.compress(json_file.read_bytes()))
    files = {
        "geojson": json_file,
        "packed": tmp_path / "block.geojson.gz",
        "pbf": write_pbf(tmp_path / "block.osm.pbf", features),
    }
    lines = shapely.to_wkb(
        np.array([shapely.LineString(part["geometry"]["coordinates"]) for part in features])
    )
    names = ["highway", "maxspeed", "oneway"]
    columns = [np.array([part["properties"].get(name) for part in features], dtype=object) for name in names]
    for kind, driver in (("gpkg", "GPKG"), ("shp", "ESRI Shapefile")):
        files[kind] = tmp_path / f"block.{kind}"
        pyogrio.raw.write(
            files[kind], lines, columns, names, geometry_type="LineString", crs="EPSG:4326", driver=driver
        )
    return files


def test_all_formats_give_the_same_network(files: dict[str, Path]) -> None:
    networks = {kind: read_roads(path) for kind, path in files.items()}
    first = networks["pbf"]
    assert first.seconds is not None
    # Nodes where the ring begins and where the street meets it: three streets both ways, one northwards.
    assert (first.nodes, first.edges) == (3, 7)
    for kind, roads in networks.items():
        assert as_text(roads) == as_text(first), kind
        assert roads.crs == "EPSG:4326"
        assert roads.report.dropped_streets == {"not for cars": 1}, kind
        assert roads.seconds is not None
        np.testing.assert_allclose(np.sort(roads.seconds), np.sort(first.seconds), rtol=1e-6)


def test_the_bend_of_a_street_is_kept(files: dict[str, Path]) -> None:
    roads = read_roads(files["pbf"])
    one_way = int(np.flatnonzero(roads.opposite < 0)[0])
    x, y = roads.polyline(one_way)
    assert (x.tolist(), y.tolist()) == ([13.40075, 13.4008, 13.40075], [52.5, 52.5005, 52.501])
    assert roads.classes[roads.road_class[one_way]] == "living_street"


def test_modes_choose_ways_and_directions(files: dict[str, Path]) -> None:
    on_foot = read_roads(files["pbf"], "foot")
    assert "footway" in on_foot.classes
    assert (on_foot.opposite >= 0).all()
    by_bicycle = read_roads(files["pbf"], "bicycle")
    assert "footway" not in by_bicycle.classes
    assert (by_bicycle.opposite < 0).sum() == 1


def test_ways_that_leave_the_extract_are_cut_off_there(tmp_path: Path) -> None:
    streets = [
        feature([(0, 0), (0.001, 0), (0.002, 0), (0.003, 0)], highway="residential"),
        feature([(0.001, 0), (0, 0.001), (0, 0)], highway="residential"),
    ]
    roads = read_roads(write_pbf(tmp_path / "cut.osm.pbf", streets, missing=frozenset({3})))
    assert (roads.nodes, roads.edges) == (2, 4)
    assert any("reach beyond the extract in 1 places" in note for note in roads.report.notes)


@pytest.mark.parametrize(
    ("tags", "mode", "edges"),
    [
        ({"access": "private"}, "car", 0),
        ({"access": "private", "foot": "yes"}, "foot", 2),
        ({"motor_vehicle": "no"}, "car", 0),
        ({"motor_vehicle": "no"}, "bicycle", 2),
        ({"access": "no", "motorcar": "yes"}, "car", 2),
        ({"oneway": "-1"}, "car", 1),
        ({"oneway": "yes", "oneway:bicycle": "no"}, "bicycle", 2),
        ({"oneway": "yes", "cycleway": "opposite_lane"}, "bicycle", 2),
        ({"junction": "roundabout"}, "car", 1),
        ({"highway": "motorway"}, "car", 1),
        ({"highway": "motorway", "oneway": "no"}, "car", 2),
        ({"highway": "service", "service": "parking_aisle"}, "car", 0),
        ({"highway": "service"}, "car", 2),
        ({"highway": "footway", "bicycle": "designated"}, "bicycle", 2),
        ({"highway": "footway"}, "bicycle", 0),
        ({"highway": "construction"}, "foot", 0),
    ],
)
def test_tags_decide(tmp_path: Path, tags: dict[str, str], mode: str, edges: int) -> None:
    ring = feature([(0, 0), (0.001, 0), (0.001, 0.001), (0, 0)], highway="residential", foot="yes")
    street = feature([(0, 0), (0.01, 0.01)], **({"highway": "tertiary"} | tags))
    roads = read_roads(write_pbf(tmp_path / "a.osm.pbf", [ring, street]), mode, connected=False)
    assert np.count_nonzero(roads.length > 1000) == edges


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
    assert roads.report.dropped_streets == {"the same street again": 1}


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


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.geojson", "{", "this is not GeoJSON"),
        ("a.geojson", "[1]", "not a FeatureCollection of lines"),
        ("a.geojson", '{"type": "FeatureCollection", "features": []}', "there are no roads in it"),
        ("a.geojson", '{"type": "Feature", "geometry": {"type": "LineString"}}', "feature 1 is broken"),
        ("a.osm.pbf", "nonsense", "this is not an OpenStreetMap extract"),
        ("a.gpkg", "nonsense", "cannot be read"),
        ("a.shp", "nonsense", "cannot be read"),
        ("a.graphml", "nonsense", "this is not well-formed XML"),
        ("a.graphml", "<gpx/>", "there is no graph in it"),
    ],
)
def test_bad_files_get_one_sentence(tmp_path: Path, name: str, content: str, words: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=words) as caught:
        read_roads(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_metres_that_say_they_are_degrees_are_refused(tmp_path: Path) -> None:
    path = write_geojson(tmp_path / "a.geojson", [feature([(465000, 5240000), (465100, 5240000)])])
    with pytest.raises(InputError, match="latitudes within ±89"):
        read_roads(path)


def test_points_alone_are_no_roads(tmp_path: Path) -> None:
    point = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 2]}, "properties": None}
    (tmp_path / "a.json").write_text(json.dumps(point))
    with pytest.raises(InputError, match="there are no roads in it"):
        read_roads(tmp_path / "a.json")


@pytest.mark.parametrize(("name", "package"), [("a.osm.pbf", "osmium"), ("a.gpkg", "pyogrio")])
def test_a_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, package: str
) -> None:
    (tmp_path / name).write_text("")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"{package} is needed .*pip install 'ldptrace\[roads\]'"):
        read_roads(tmp_path / name)
