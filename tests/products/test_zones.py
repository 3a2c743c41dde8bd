"""Zones: polygons of files in any coordinate system, and hexagons."""

from __future__ import annotations

from pathlib import Path

import geopandas
import h3
import numpy as np
import pytest
import shapely

from forged_kit import forged
from ldptrace.errors import DataWarning, InputError
from ldptrace.products.zones import H3, Polygons, read_zones

SQUARES = [shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1)]


def written(path: Path, crs: str | None = None, **columns: list[object]) -> Path:
    geopandas.GeoDataFrame(columns, geometry=SQUARES, crs=crs).to_file(path)
    return path


@pytest.mark.parametrize("name", ["zones.gpkg", "zones.geojson", "zones.shp"])
def test_polygons_are_read_from_the_formats_of_planners(tmp_path: Path, name: str) -> None:
    names, place = read_zones(written(tmp_path / name, "EPSG:4326", zone_id=[7, 9])).locate(
        np.array([0.5, 1.5, 5.0]), np.array([0.5, 0.5, 0.5]), "EPSG:4326"
    )
    assert names == ("7", "9")
    assert place.tolist() == [0, 1, -1]


def test_zones_are_named_by_the_first_usual_column_or_the_one_that_is_given(tmp_path: Path) -> None:
    x, y = np.array([0.5]), np.array([0.5])
    path = written(tmp_path / "zones.gpkg", "EPSG:4326", id=[None, None], Name=["a", "b"], other=["p", "q"])
    assert read_zones(path).locate(x, y, None)[0] == ("a", "b")
    assert read_zones(path, "other").locate(x, y, None)[0] == ("p", "q")
    with pytest.raises(InputError, match=r"no column 'nix'; its columns are id, Name, other"):
        read_zones(path, "nix")
    unnamed = written(tmp_path / "unnamed.gpkg", "EPSG:4326", other=["p", "q"])
    assert read_zones(unnamed).locate(x, y, None)[0] == ("1", "2")


def test_names_that_do_not_tell_zones_apart_are_refused_with_the_cure(tmp_path: Path) -> None:
    twice = written(tmp_path / "twice.gpkg", "EPSG:4326", zone_id=[7, 7], name=["a", "b"])
    with pytest.raises(InputError, match=r"twice.gpkg: 2 polygons are named '7'; .* with --zone-id"):
        read_zones(twice)
    assert read_zones(twice, "name").locate(np.array([0.5]), np.array([0.5]), None)[0] == ("a", "b")
    some = written(tmp_path / "some.gpkg", "EPSG:4326", zone_id=["a", None])
    with pytest.raises(InputError, match=r"1 of 2 zones have no value in the column 'zone_id'"):
        read_zones(some)


def test_blank_names_are_missing_and_blanks_around_names_are_not_read(tmp_path: Path) -> None:
    blank = written(tmp_path / "blank.geojson", "EPSG:4326", zone_id=["a", "  "])
    with pytest.raises(InputError, match=r"1 of 2 zones have no value in the column 'zone_id'"):
        read_zones(blank)
    alike = written(tmp_path / "alike.geojson", "EPSG:4326", zone_id=["a", " a"])
    with pytest.raises(InputError, match=r"2 polygons are named 'a'"):
        read_zones(alike)


def test_outlines_that_cross_themselves_are_repaired_and_reported(tmp_path: Path) -> None:
    bow = shapely.Polygon([(0, 0), (2, 2), (2, 0), (0, 2)])
    geopandas.GeoDataFrame({"name": ["bow"]}, geometry=[bow], crs="EPSG:4326").to_file(tmp_path / "bow.gpkg")
    with pytest.warns(DataWarning, match=r"bow.gpkg: 1 zone with an outline that crosses .* such as 'bow'"):
        zones = read_zones(tmp_path / "bow.gpkg")
    x, y = np.array([0.5, 1.0, 1.5]), np.array([1.0, 0.5, 1.0])
    assert zones.locate(x, y, None)[1].tolist() == [0, -1, 0]


def test_trips_in_another_system_are_found(tmp_path: Path) -> None:
    zones = read_zones(written(tmp_path / "zones.gpkg", "EPSG:4326", zone=["w", "e"]))
    # 0.5 and 1.5 degrees east, half a degree north, in metres of web maps.
    x, y = np.array([55_659.7, 166_979.2]), np.array([55_660.5, 55_660.5])
    assert zones.locate(x, y, "EPSG:3857")[1].tolist() == [0, 1]


def test_a_projection_of_no_known_place_is_refused() -> None:
    local = (
        'ENGCRS["site",EDATUM["here"],CS[Cartesian,2],AXIS["x",east],AXIS["y",north],LENGTHUNIT["metre",1]]'
    )
    zones = Polygons("site.gpkg", ("a",), [shapely.box(0, 0, 1, 1)], local)
    with pytest.raises(
        InputError, match=r"site.gpkg: cannot convert from EPSG:4326 to .*; save the zones in"
    ):
        zones.locate(np.array([0.5]), np.array([0.5]), "EPSG:4326")


def test_zones_that_overlap_are_refused() -> None:
    with pytest.raises(InputError, match=r"zones 'a' and 'b' overlap"):
        Polygons("z", ("a", "b"), [shapely.box(0, 0, 2, 2), shapely.box(1, 1, 3, 3)])
    with pytest.raises(InputError, match=r"overlap, and 2 other pairs; a trip can begin in one zone only"):
        Polygons("z", ("a", "b", "c"), [shapely.box(0, 0, 2, 2)] * 3)
    with pytest.raises(InputError, match=r"2 polygons are named 'a'"):
        Polygons("z", ("a", "a"), SQUARES)


def test_zones_that_miss_the_trips_are_refused() -> None:
    zones = Polygons("z", ("a", "b"), SQUARES)
    with pytest.raises(InputError, match=r"no trip begins or ends in any of its zones; they lie in 0,0,2,1"):
        zones.locate(np.array([50.0]), np.array([50.0]), None)
    with pytest.raises(InputError, match=r"the trips in 50,50,50,50: the zones name no coordinate system$"):
        zones.locate(np.array([50.0]), np.array([50.0]), None)
    with pytest.raises(InputError, match=r": x and y of the zones seem to be swapped$"):
        zones.locate(np.array([0.5]), np.array([1.5]), None)


def test_hexagons_are_those_of_h3() -> None:
    lon, lat = np.array([13.4, 13.5]), np.array([52.5, 52.6])
    names, place = H3(8).locate(lon, lat, "EPSG:4326")
    assert [names[k] for k in place] == [
        h3.latlng_to_cell(52.5, 13.4, 8),
        h3.latlng_to_cell(52.6, 13.5, 8),
    ]
    with pytest.raises(InputError, match="need longitudes and latitudes"):
        H3(8).locate(lon, lat, None)


@pytest.mark.parametrize("text", ["h3:16", "h3:", "h3:-1", "h3:x"])
def test_resolutions_of_h3_are_0_to_15(text: str) -> None:
    with pytest.raises(InputError, match="a resolution from 0 to 15"):
        read_zones(text)
    assert read_zones("h3:9").name == "h3:9"


def test_zones_without_ground_are_refused(tmp_path: Path) -> None:
    flat = [*SQUARES, shapely.Polygon([(0, 0), (1, 1), (0, 0)])]
    frame = geopandas.GeoDataFrame({"id": ["a", "b", "c"]}, geometry=flat, crs="EPSG:4326")
    frame.to_file(tmp_path / "flat.gpkg")
    with pytest.raises(InputError, match=r"1 of 3 zones cover no ground, such as 'c'; omit or repair them"):
        read_zones(tmp_path / "flat.gpkg")
    broken = '{"type": "Polygon", "coordinates": [[[0, 0], [NaN, 1], [1, 1], [0, 0]]]}'
    (tmp_path / "nan.geojson").write_text(broken)
    with pytest.raises(InputError, match=r"nan.geojson: some corners of the zones are not finite numbers"):
        read_zones(tmp_path / "nan.geojson")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("table.csv", "a,b\n1,2\n", "neither a GeoPackage nor a Shapefile"),
        ("list.geojson", '{"type": "FeatureCollection", "features": [7]}', "the zones cannot be read"),
        ("other.json", '{"a": 1}', "the zones cannot be read: it is not GeoJSON$"),
        ("none.geojson", '{"type": "FeatureCollection", "features": []}', "this file has none"),
        ("empty.geojson", "", r"cannot be read: its content is neither a GeoPackage nor a Shapefile$"),
    ],
)
def test_other_files_are_refused_in_one_sentence(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=said):
        read_zones(tmp_path / name)


def test_files_without_polygons_are_refused(tmp_path: Path) -> None:
    points = tmp_path / "points.geojson"
    geopandas.GeoDataFrame(geometry=[shapely.Point(0, 0)], crs="EPSG:4326").to_file(points)
    with pytest.raises(InputError, match="zones are polygons, this file has Point"):
        read_zones(points)
    geopandas.GeoDataFrame(geometry=[None], crs="EPSG:4326").to_file(points)
    with pytest.raises(InputError, match="zones are polygons, this file has rows without a shape"):
        read_zones(points)
    (tmp_path / "text.geojson").write_text("not GeoJSON")
    with pytest.raises(InputError, match="the zones cannot be read"):
        read_zones(tmp_path / "text.geojson")
    with pytest.raises(InputError, match="there is no file"):
        read_zones(tmp_path / "none.gpkg")


@pytest.mark.parametrize("name", ["x.gpkg", "x.shp", "x.geojson", "x.vrt"])
def test_a_file_that_names_other_files_is_not_followed(tmp_path: Path, name: str) -> None:
    naming = forged(tmp_path / name, tmp_path)
    with pytest.raises(InputError, match="the zones cannot be read: its content is neither"):
        read_zones(naming)


def test_an_id_beside_the_properties_names_a_zone(tmp_path: Path) -> None:
    shape = '{"type": "Polygon", "coordinates": [[[0, 0], [0, 1], [1, 1], [0, 0]]]}'
    feature = f'{{"type": "Feature", "id": "north", "properties": null, "geometry": {shape}}}'
    (tmp_path / "zones.geojson").write_text(f'{{"type": "FeatureCollection", "features": [{feature}]}}')
    zones = read_zones(tmp_path / "zones.geojson")
    assert isinstance(zones, Polygons)
    assert zones.ids == ("north",)


def test_zones_in_metres_are_refused_for_trips_in_degrees() -> None:
    metres = [shapely.box(0, 0, 20_000, 20_000)]
    for crs in (None, "EPSG:4326"):
        zones = Polygons("zones.geojson", ("a",), metres, crs)
        with pytest.raises(
            InputError, match=r"zones.geojson: the corners of its zones 0,0,20000,20000 are no degrees"
        ):
            zones.locate(np.array([116.3]), np.array([39.9]), "EPSG:4326")
        assert zones.locate(np.array([116.3]), np.array([39.9]), None)[1].tolist() == [0]
