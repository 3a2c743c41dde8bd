from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import DataWarning, FormatError, InputError
from ldptrace.io import FORMATS, read, read_with_account, write
from ldptrace.io.files import project, stated_crs

SMALL = Trajectories.from_lists([[(0, 0), (1, 1)], [(2, 2)]])


def test_an_unknown_extension_lists_the_formats(tmp_path: Path) -> None:
    path = tmp_path / "trips.xyz"
    path.write_text("whatever this is\n")
    with pytest.raises(FormatError, match=r"trips.xyz: the format is not known.*parquet, csv, feather,"):
        read(path)
    path.write_text("#0:\n>0:1,2;\n")
    assert read(path).points == 1
    assert read(path, format="dat").points == 1
    with pytest.raises(InputError, match=r"unknown format 'shape'; the formats are parquet, csv"):
        read(path, format="shape")
    with pytest.raises(
        InputError, match=r"the extension of .*xyz is not known; what can be written is parquet"
    ):
        write(SMALL, path)
    with pytest.raises(InputError, match="geolife is only read"):
        write(SMALL, path, format="geolife")


def test_a_format_by_name_when_writing(tmp_path: Path) -> None:
    write(SMALL, tmp_path / "trips.txt", format="csv")
    assert (tmp_path / "trips.txt").read_text().splitlines()[0] == "traj_id,x,y"


@pytest.mark.parametrize("extension", sorted({e for kind in FORMATS.values() for e in kind.extensions}))
def test_an_empty_file_is_called_empty(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"a{extension}"
    path.write_bytes(b"")
    with pytest.raises(InputError, match="the file is empty"):
        read(path)


@pytest.mark.parametrize("extension", sorted({e for kind in FORMATS.values() for e in kind.extensions}))
@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 50, b"Lorem ipsum dolor\nsit amet,\n" * 9, b"\n\n"]
)
def test_anything_else_is_one_clear_error(tmp_path: Path, extension: str, content: bytes) -> None:
    path = tmp_path / f"a{extension}"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=f"a{extension}: ") as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing.csv: there is no such file or folder"):
        read(tmp_path / "nothing.csv")


def test_a_folder_of_several_formats_asks_which(tmp_path: Path) -> None:
    write(SMALL, tmp_path / "a.csv")
    write(SMALL, tmp_path / "b.dat")
    (tmp_path / "readme.md").write_text("hello")
    (tmp_path / ".hidden.csv").write_text("")
    with pytest.raises(
        FormatError, match=r"files of several formats in it: csv \(.*csv\), dat \(.*dat\); .* --format"
    ):
        read(tmp_path)
    assert len(read(tmp_path, format="dat")) == 2
    with pytest.raises(FormatError, match=r"there are no gpx files in it"):
        read(tmp_path, format="gpx")


def test_a_folder_without_trajectories(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="there are no trajectory files in it"):
        read(tmp_path)


def test_a_folder_of_text_files_is_one_set(tmp_path: Path) -> None:
    write(Trajectories([0], [0], [0, 1], ids=[5]), tmp_path / "2.csv")
    write(Trajectories([1], [1], [0, 1], ids=[6]), tmp_path / "10.csv")
    found = read(tmp_path)
    assert found.ids is not None
    assert (found.ids.tolist(), found.x.tolist()) == ([5, 6], [0, 1])


@pytest.mark.parametrize("bounds", [(0, 0, 0, 1), (0, 5, 1, 2), (0, 0, 1), (0, 0, np.nan, 1), "abcd"])
def test_bounds_must_be_a_box(tmp_path: Path, bounds: tuple[float, float, float, float]) -> None:
    write(SMALL, tmp_path / "a.csv")
    with pytest.raises(InputError, match="bounds must be"):
        read(tmp_path / "a.csv", bounds=bounds)


def test_other_wrong_arguments(tmp_path: Path) -> None:
    write(SMALL, tmp_path / "a.csv")
    with pytest.raises(InputError, match="outside must be cut or drop or clamp, got 'keep'"):
        read(tmp_path / "a.csv", outside="keep")
    with pytest.raises(InputError, match="min_points must be at least 0"):
        read(tmp_path / "a.csv", min_points=-1)


def test_what_is_not_finite_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column y holds values that are not finite"):
        write(Trajectories([1], [np.inf], [0, 1]), tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_set_without_trajectories_can_be_written(tmp_path: Path) -> None:
    nothing = Trajectories.concat([])
    for kind in ("parquet", "csv", "dat", "geojson"):
        write(nothing, tmp_path / f"a.{kind}")
        with pytest.raises(InputError):
            read(tmp_path / f"a.{kind}")


def test_the_given_coordinate_system_wins(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,lon,lat\n1,400000,5800000\n1,400001,5800001\n")
    with pytest.raises(FormatError, match="these are not degrees"):
        read(path)
    assert read(path, crs="EPSG:25833").crs == "EPSG:25833"


def test_ten_users_one_point_each(tmp_path: Path) -> None:
    write(Trajectories.from_lists([[(k, k)] for k in range(10)]), tmp_path / "a.csv")
    found, report = read_with_account(tmp_path / "a.csv")
    assert len(found) == 10
    assert report.line() == f"{tmp_path / 'a.csv'}: 10 trajectories, 10 points"
    assert report.to_dict()["rows"] == 10


def test_a_trajectory_without_points_has_no_row_in_a_table_of_points(tmp_path: Path) -> None:
    trips = Trajectories.from_lists([[(0, 0)], [], [(1, 1)]])
    with pytest.warns(DataWarning, match=r"1 trajectory without points has no row in .*a\.csv"):
        write(trips, tmp_path / "a.csv")
    write(trips, tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").sizes.tolist() == [1, 0, 1]


def test_projection_there_and_back() -> None:
    pytest.importorskip("pyproj")
    lines = Trajectories(
        [13.4, 13.5], [52.5, 52.6], [0, 2], t=[1, 2], extra=pa.table({"a": [1]}), crs="EPSG:4326"
    )
    planar = project(lines, "EPSG:3857")
    # Web Mercator's x is the longitude times the equator's 20,037,508.34 m for 180 degrees.
    assert planar.x[0] == pytest.approx(13.4 / 180 * 20_037_508.342789244)
    assert planar.crs == "EPSG:3857"
    back = project(planar, "EPSG:4326")
    np.testing.assert_allclose(back.y, lines.y, rtol=1e-12)
    assert back.t is not None


def test_projection_needs_to_know_where_from_and_where_to() -> None:
    pytest.importorskip("pyproj")
    with pytest.raises(InputError, match="is not known; give it with crs"):
        project(Trajectories.from_lists([[(1, 2)]]), "EPSG:3857")
    lines = Trajectories.from_lists([[(1, 2)]], crs="EPSG:4326")
    with pytest.raises(InputError, match="cannot convert from EPSG:4326 to EPSG:0"):
        project(lines, "EPSG:0")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyproj", None)
    lines = Trajectories.from_lists([[(1, 2), (3, 4)]], crs="EPSG:4326")
    with pytest.raises(
        InputError, match=r"pyproj is needed for this; install it with: pip install 'ldptrace\[geo\]'"
    ):
        project(lines, "EPSG:3857")


@pytest.mark.parametrize(
    ("name", "text", "crs"),
    [
        ("a.gpx", "", "EPSG:4326"),
        ("a.plt", "", "EPSG:4326"),
        ("a.geojson", "{", "EPSG:4326"),
        ("a.geojson", "[]", "EPSG:4326"),
        ("a.geojson", '{"crs":null}', None),
        ("a.csv", "", None),
        ("a.csv", "traj,longitude,latitude\n", "EPSG:4326"),
        ("a.csv", "id;x;y\n", None),
        ("a.csv", "TRIP_ID,POLYLINE\n", "EPSG:4326"),
        ("a.dat", "", None),
        ("a.parquet", "no parquet", None),
    ],
)
def test_without_a_single_point(tmp_path: Path, name: str, text: str, crs: str | None) -> None:
    (tmp_path / name).write_text(text)
    assert stated_crs(tmp_path / name) == crs
