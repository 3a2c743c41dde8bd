from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from buildings_kit import BUILDINGS, campus_trips, write_geojson, write_table
from ldptrace.errors import FormatError, InputError
from ldptrace_lab.campus.buildings import USAGES, made_up_buildings, read_buildings, usage_of
from ldptrace_lab.campus.pois import Visits
from ldptrace_lab.campus.walks import campus_walks


def test_buildings_from_geojson(tmp_path: Path) -> None:
    walks = campus_walks(1, buildings=write_geojson(tmp_path / "b.geojson", BUILDINGS))
    pois = walks.pois
    assert pois.crs == "EPSG:4326"
    assert pois.names == ("Hall", "Lab", "Tower", "Dome", "Pool")
    np.testing.assert_allclose(pois.x, [row[2] for row in BUILDINGS], atol=1e-9)
    np.testing.assert_allclose(pois.y, [row[3] for row in BUILDINGS], atol=1e-9)
    trips = walks.trips(200, np.random.default_rng(1))
    assert trips.crs == "EPSG:4326"
    visits = Visits.of(trips)
    assert pois.is_open(visits.poi, visits.t).all()
    assert -123.26 < trips.x.min() < trips.x.max() < -123.24


def test_a_category_that_nobody_knows_is_ordinary(tmp_path: Path) -> None:
    pois = campus_walks(1, buildings=write_geojson(tmp_path / "b.json", BUILDINGS)).pois
    assert pois.categories[pois.category[3]] == "other/observatory"
    assert (pois.opens[3], pois.closes[3]) == (8, 20)
    assert pois.categories[pois.category[2]] == "living/student housing"
    assert (pois.opens[2], pois.closes[2]) == (0, 24)


def test_swapped_columns_are_noticed(tmp_path: Path) -> None:
    right = write_table(tmp_path / "right.csv", BUILDINGS, "NAME,BLDG_USAGE,LONG,LAT")
    wrong = write_table(tmp_path / "wrong.csv", BUILDINGS, "NAME,BLDG_USAGE,LAT,LONG")
    expected = campus_trips(20, 1, buildings=right)
    with pytest.warns(UserWarning, match="swapped"):
        trips = campus_trips(20, 1, buildings=wrong)
    np.testing.assert_array_equal(expected.x, trips.x)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,x,y\nA,0,0\nB,1,1\n", "no column for the category"),
        ("name,usage\nA,Academic\nB,Housing\n", "no columns x and y or lon and lat"),
        ("name,usage,x,y\nA,Academic,0,0\n", "holds 1 usable buildings"),
        ("name,usage,x,y\n", "holds 0 usable buildings"),
        ("name,usage,lon,lat\nA,Academic,200,0\nB,Academic,0,0\n", "longitudes must lie within"),
    ],
)
def test_wrong_tables_are_told(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "b.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        campus_trips(1, 1, buildings=file)


def test_wrong_geojson_is_told(tmp_path: Path) -> None:
    file = tmp_path / "b.geojson"
    for text in ("{", "[]", '{"features": 3}', '{"features": [{"geometry": {"type": "Point"}}]}'):
        file.write_text(text)
        with pytest.raises(FormatError, match="is not a GeoJSON collection"):
            campus_trips(1, 1, buildings=file)
    write_geojson(file, [("A", "", 0.0, 0.0), ("B", "", 0.001, 0.0)])
    with pytest.raises(FormatError, match=r"no feature of .* has a property"):
        campus_trips(1, 1, buildings=file)


def test_features_without_a_place_are_told(tmp_path: Path) -> None:
    file = write_geojson(tmp_path / "b.geojson", BUILDINGS)
    collection = json.loads(file.read_text())
    collection["features"].append(
        {"type": "Feature", "geometry": None, "properties": {"BLDG_USAGE": "Housing"}}
    )
    file.write_text(json.dumps(collection))
    with pytest.warns(UserWarning, match=r"1 features of .* are neither polygons nor points"):
        assert len(campus_walks(1, buildings=file).pois) == 5


def test_the_middle_and_the_size_of_a_building(tmp_path: Path) -> None:
    def feature(kind: str, coordinates: object) -> dict[str, object]:
        return {"geometry": {"type": kind, "coordinates": coordinates}, "properties": {"use": "academic"}}

    def square(x: float, y: float, side: float) -> list[list[list[float]]]:
        return [[[x, y], [x + side, y], [x + side, y + side], [x, y + side], [x, y]]]

    features = [
        feature("Polygon", square(1000, 1000, 10)),
        feature("MultiPolygon", [square(2000, 0, 20), square(3000, 0, 0)]),
        feature("Point", [500, 500]),
        feature("MultiPolygon", []),
    ]
    (tmp_path / "b.geojson").write_text(json.dumps({"features": features}))
    with pytest.warns(UserWarning, match="1 features"):
        pois = read_buildings(tmp_path / "b.geojson").pois
    np.testing.assert_allclose(pois.x, [1005, 2010, 500])
    np.testing.assert_allclose(pois.y, [1005, 10, 500])
    # Areas of 100, 400 and unknown: the usual one is 250, and weights go with the root.
    np.testing.assert_allclose(pois.popularity, np.sqrt([100 / 250, 400 / 250, 1.0]))


def test_buildings_of_a_street_know_its_direction(tmp_path: Path) -> None:
    along = np.arange(8) * 50.0
    rows = [("", "housing", x, y) for x, y in zip(along * np.cos(0.3), along * np.sin(0.3), strict=True)]
    assert read_buildings(write_table(tmp_path / "b.csv", rows, "name,usage,x,y")).tilt == pytest.approx(0.3)


def test_every_usage_is_open_when_most_people_come() -> None:
    for usage in USAGES.values():
        assert usage.opens <= usage.peak < usage.closes
        assert usage_of(usage.path.upper()) == usage


@pytest.mark.parametrize("count", [2, 60, 320])
def test_a_made_up_campus_fits_its_square(count: int) -> None:
    made = made_up_buildings(np.random.default_rng(1), count, size=1000.0)
    pois = made.pois
    assert len(pois) == count
    assert np.hypot(pois.x - 500, pois.y - 500).max() <= 470
    assert made.published() is pois


def test_a_campus_of_one_is_refused() -> None:
    with pytest.raises(InputError, match="at least 2 buildings, got 1"):
        made_up_buildings(np.random.default_rng(1), 1)
