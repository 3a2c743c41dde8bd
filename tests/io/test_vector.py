from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.core.reading import Names
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError, NothingUsable
from ldptrace.io import Reading, read, read_with_account, write
from ldptrace.io.files import stated_crs

pyogrio = pytest.importorskip("pyogrio")
shapely = pytest.importorskip("shapely")

DRIVERS = {".gpkg": "GPKG", ".shp": "ESRI Shapefile"}


def saved(
    path: Path, shapes: Sequence[str | None], columns: dict[str, object], crs: str | None = "EPSG:4326"
) -> Path:
    """A layer of geometries that are written as text."""
    blobs = [
        None if text is None else shapely.to_wkb(shapely.from_wkt(text), flavor="iso") for text in shapes
    ]
    table = pa.table({**columns, "geometry": pa.array(blobs, pa.binary())})
    pyogrio.write_arrow(
        *(table, path),
        driver=DRIVERS[path.suffix],
        geometry_name="geometry",
        # A Shapefile holds one kind, a measure none of those that can be named.
        geometry_type=str(shapes[0]).partition(" ")[0].title().replace("string", "String")
        if path.suffix == ".shp"
        else "Unknown",
        crs=crs,
        **({"layer": "trips"} if path.suffix == ".gpkg" else {}),
    )
    return path


@pytest.mark.parametrize("name", ["a.gpkg", "a.shp"])
def test_points_are_a_table(tmp_path: Path, name: str) -> None:
    path = saved(
        tmp_path / name,
        ["POINT (13.2 52)", "POINT (13.1 52)", "POINT (14 53)"],
        {
            "trip": [7, 7, 8],
            "when": ["2024-05-01 08:01", "2024-05-01 08:00", "2024-05-01 09:00"],
            "x": [1, 2, 3],
        },
    )
    names = Names(t="when")
    found, account = read_with_account(path, Reading(names=names, timezone="Europe/Berlin"))
    assert found.ids is not None
    assert (found.ids.tolist(), found.sizes.tolist()) == ([7, 8], [2, 1])
    assert (found.x.tolist(), found.y.tolist()) == ([13.1, 13.2, 14], [52, 52, 53])
    assert found.t is not None
    assert found.t.tolist() == [1_714_543_200, 1_714_543_260, 1_714_546_800]
    assert found.crs == stated_crs(path) == "EPSG:4326"
    assert account.rows == 3


def test_points_without_an_id_say_what_to_name(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.gpkg", ["POINT (1 2)", "POINT (2 2)"], {"speed": [1, 2]})
    # A device answers null, as for a layer without rows.
    with pytest.raises(NothingUsable, match=r"no column says which trajectory .* name it with id"):
        read(path)


@pytest.mark.parametrize("name", ["a.gpkg", "a.shp"])
def test_each_line_is_a_trajectory(tmp_path: Path, name: str) -> None:
    path = saved(
        tmp_path / name,
        ["LINESTRING (0 0, 1 1)", "LINESTRING (5 5, 6 6, 7 7)"],
        {"traj_id": [4, 9], "times": ["[10, 20]", "[30, 40, 50]"], "mode": ["bus", "tram"]},
        "EPSG:25833",
    )
    found = read(path)
    assert found.crs == "EPSG:25833"
    assert (found.x.tolist(), found.sizes.tolist()) == ([0, 1, 5, 6, 7], [2, 3])
    assert found.t is not None
    assert found.t.tolist() == [10, 20, 30, 40, 50]
    assert found.ids is not None
    assert found.ids.tolist() == [4, 9]
    assert found.extra is not None
    assert found.extra.to_pydict() == {"mode": ["bus", "tram"]}


def test_measures_of_lines_are_times(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.gpkg", ["LINESTRING ZM (0 0 9 60, 1 1 9 120)"], {"mode": ["bus"]})
    found, account = read_with_account(path)
    assert found.t is not None
    assert found.t.tolist() == [60, 120]
    assert "times taken from the measures of the lines" in account.notes


def test_each_part_of_a_line_is_a_trajectory_of_its_owner(tmp_path: Path) -> None:
    shapes = ["MULTILINESTRING ((0 0, 1 1), (2 2, 3 3))", "LINESTRING (5 5, 6 6)"]
    found = read(saved(tmp_path / "a.gpkg", shapes, {"traj_id": [1, 2], "user": ["a", "b"]}))
    assert (found.sizes.tolist(), found.ids) == ([2, 2, 2], None)
    assert found.extra is not None
    assert found.extra["user"].to_pylist() == ["a", "a", "b"]
    assert found.user == "user"


@pytest.mark.parametrize("times", ["[1]", "noon", None, "7", '["noon", null]'])
def test_times_that_do_not_fit_a_line_are_missing_there(tmp_path: Path, times: str | None) -> None:
    lines = ["LINESTRING (0 0, 1 1)", "LINESTRING (5 5, 6 6)"]
    path = saved(tmp_path / "a.gpkg", lines, {"times": ['[1, "1970-01-03T00:00:02Z"]', times]})
    found, account = read_with_account(path)
    np.testing.assert_equal(found.t, [1, 172_802, np.nan, np.nan])
    assert "2 points without a time" in account.line()


def test_numbers_are_degrees_only_if_somebody_says_so(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="'crs' was not provided"):
        path = saved(tmp_path / "a.gpkg", ["LINESTRING (0 0, 1 1)"], {"mode": ["bus"]}, crs=None)
    found, account = read_with_account(path)
    assert found.crs is None
    assert "--crs" in account.line()
    assert read(path, crs="EPSG:4326").crs == "EPSG:4326"


def test_every_row_among_lines_is_somebodys(tmp_path: Path) -> None:
    line, point, modes = "LINESTRING (0 0, 1 1)", "POINT (3 3)", {"mode": ["a", "b", "c", "d"]}
    found, account = read_with_account(saved(tmp_path / "a.gpkg", [line, point, None, line], modes))
    assert found.sizes.tolist() == [2, 1, 0, 2]
    assert found.extra is not None
    assert found.extra["mode"].to_pylist() == ["a", "b", "c", "d"]
    assert "1 row without a geometry" in account.line()
    with pytest.raises(NothingUsable, match="2 rows are points and 2 are lines"):
        read(saved(tmp_path / "b.gpkg", [line, point, point, line], modes))


def test_points_without_a_place_are_counted_and_keep_their_trip(tmp_path: Path) -> None:
    shapes = ["POINT (3 3)", None, "MULTIPOINT (4 4, 5 5)", None]
    found, account = read_with_account(saved(tmp_path / "a.gpkg", shapes, {"trip_id": [1, 1, 1, 2]}))
    assert found.x.tolist() == [3, 4, 5]
    assert found.sizes.tolist() == [3, 0]
    assert account.dropped_points == {"not a number": 2}


def test_areas_are_no_trajectories(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.gpkg", ["POLYGON ((0 0, 1 0, 1 1, 0 0))"], {"name": ["a"]})
    with pytest.raises(NothingUsable, match="no lines or points in it, only: no geometry"):
        read(path)


def test_an_archive_of_a_shapefile_is_read(tmp_path: Path) -> None:
    saved(tmp_path / "a.shp", ["LINESTRING (0 0, 1 1)"], {"mode": ["bus"]})
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        for part in sorted(tmp_path.glob("a.*")):
            if part.suffix != ".zip":
                packed.write(part, part.name)
    assert read(tmp_path / "a.zip").points == 2


@pytest.mark.parametrize("name", ["a.gpkg", "a.shp"])
def test_a_file_that_is_none_is_refused_in_one_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("nothing of the kind")
    with pytest.raises(InputError, match=f"{name}: cannot be read: [^\\n]*$"):
        read(tmp_path / name)
    assert stated_crs(tmp_path / name) is None


def test_the_beginning_shows_a_geopackage(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.gpkg", ["LINESTRING (0 0, 1 1)"], {"mode": ["bus"]})
    assert read(path.rename(tmp_path / "trips")).points == 2


def test_lines_without_any_column_are_read(tmp_path: Path) -> None:
    assert read(saved(tmp_path / "a.gpkg", ["LINESTRING (0 0, 1 1)"] * 2, {})).sizes.tolist() == [2, 2]


def test_what_geopandas_writes_is_read(tmp_path: Path) -> None:
    pytest.importorskip("geopandas")
    trips = Trajectories([0, 1, 5, 6], [0, 1, 5, 6], [0, 2, 4], ids=[3, 1], crs="EPSG:25833")
    trips.to_geopandas().to_file(tmp_path / "a.gpkg")
    found = read(tmp_path / "a.gpkg")
    np.testing.assert_array_equal(found.x, trips.x)
    assert found.ids is not None
    assert found.ids.tolist() == [3, 1]


def test_trips_are_written_with_their_times_and_columns(tmp_path: Path) -> None:
    offsets, t = np.array([0, 2, 3, 3]), np.array([1.7e9, 1.7e9 + 60.5, 1.7e9])
    names = pa.table({"user": ["a", "b", "b"]})
    trips = Trajectories([0, 1, 2], [3, 4, 5], offsets, t=t, ids=[7, 8, 9], crs="EPSG:25833", extra=names)
    write(replace(trips, provenance={"epsilon": "1"}), tmp_path / "a.gpkg")
    found, account = read_with_account(tmp_path / "a.gpkg")
    assert account.notes == ()
    assert found.offsets.tolist() == offsets.tolist()
    assert (found.x.tolist(), found.y.tolist(), found.numbers.tolist()) == ([0, 1, 2], [3, 4, 5], [7, 8, 9])
    assert found.t is not None
    assert found.t.tolist() == t.tolist()
    assert (found.crs, found.user, found.provenance) == ("EPSG:25833", "user", {"epsilon": "1"})
    # A set of single points is a set of trajectories all the same.
    write(trips.part(1, 2), tmp_path / "b.gpkg")
    assert read(tmp_path / "b.gpkg").sizes.tolist() == [1]
