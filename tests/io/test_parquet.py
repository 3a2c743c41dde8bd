from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.files import open_batches
from ldptrace.errors import FormatError, InputError
from ldptrace.io import read, read_with_account, write
from trajectory_kit import assert_same

LINES = Trajectories.from_lists([[(13.4, 52.5), (13.5, 52.6)], [(8.6, 50.1)], []], crs="EPSG:4326")


def saved(folder: Path, table: pa.Table, name: str = "a.parquet") -> Path:
    pq.write_table(table, folder / name)
    return folder / name


def test_the_layout_of_the_design(tmp_path: Path) -> None:
    write(Trajectories([1, 2, 3], [4, 5, 6], [0, 2, 3], t=[0, 1, 2]), tmp_path / "a.parquet")
    schema = pq.read_schema(tmp_path / "a.parquet")
    assert [str(field.type) for field in schema] == ["int64", *["list<element: double>"] * 3]
    assert schema.names == ["traj_id", "x", "y", "t"]


def test_single_precision_and_further_columns(tmp_path: Path) -> None:
    lists = pa.array([[1.5, 2.5], [3.25]], pa.list_(pa.float32()))
    table = pa.table({"traj_id": [3, 4], "x": lists, "y": lists, "cab": pa.array([7, 8], pa.int16())})
    found = read(saved(tmp_path, table))
    assert found.x.tolist() == [1.5, 2.5, 3.25]
    assert found.x.dtype == np.float64
    assert found.extra is not None
    assert found.extra.to_pydict() == {"cab": [7, 8]}


def test_lists_under_other_names_with_dates(tmp_path: Path) -> None:
    times = [[datetime(1970, 1, 1, 0, 1, tzinfo=UTC)], []]
    table = pa.table({"trip": ["a", "b"], "lon": [[8.5], []], "lat": [[50.5], []], "time": times})
    found, report = read_with_account(saved(tmp_path, table))
    assert (found.crs, found.x.tolist(), found.y.tolist()) == ("EPSG:4326", [8.5], [50.5])
    assert found.t is not None
    assert found.t.tolist() == [60]
    assert found.extra is not None
    assert found.extra.to_pydict() == {"trip": ["a", "b"]}
    assert "1 trajectory without points counts as no trip" in report.line()


def test_one_row_per_point(tmp_path: Path) -> None:
    table = pa.table({"trip_id": [1, 2, 1], "x": [0.0, 5.0, 1.0], "y": [0.0, 5.0, 1.0], "t": [0, 0, 9]})
    found = read(saved(tmp_path, table))
    assert found.sizes.tolist() == [2, 1]
    assert found.x.tolist() == [0, 1, 5]


def test_missing_values_are_counted(tmp_path: Path) -> None:
    table = pa.table({"x": [[1.0, None], None], "y": [[1.0, 2.0], None]})
    found, report = read_with_account(saved(tmp_path, table))
    assert found.sizes.tolist() == [1, 0]
    assert report.dropped_points == {"not a number": 1}
    assert (report.dropped, report.empty) == ({}, 1)


def test_lists_of_different_lengths_name_the_row(tmp_path: Path) -> None:
    table = pa.table({"x": [[1.0], [1.0, 2.0]], "y": [[1.0], [1.0]]})
    with pytest.raises(InputError, match=r"a.parquet: row 2 has 2 values in x and 1 in y"):
        read(saved(tmp_path, table))


def test_columns_of_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a.parquet: value 1: column x holds 'a', not a number"):
        read(saved(tmp_path, pa.table({"x": [["a"]], "y": [["b"]]})))


def test_another_file_called_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_text("traj_id,x,y\n1,2,3\n")
    with pytest.raises(FormatError, match=r"a.parquet: this is not a Parquet or a Feather file"):
        read(path)


def test_no_rows_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"a.parquet: there are no trajectories in it"):
        read(saved(tmp_path, LINES.to_arrow().slice(0, 0)))


@pytest.mark.parametrize("crs", [None, "EPSG:4326", "EPSG:3857"])
def test_the_coordinate_system_survives(tmp_path: Path, crs: str | None) -> None:
    write(Trajectories([1], [2], [0, 1], crs=crs), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").crs == crs


def test_a_time_for_the_whole_trajectory_passes_through(tmp_path: Path) -> None:
    write(Trajectories([1], [2], [0, 1], extra=pa.table({"t": [5]})), tmp_path / "a.parquet")
    found = read(tmp_path / "a.parquet")
    assert found.t is None
    assert found.extra is not None
    assert found.extra.to_pydict() == {"t": [5]}


def test_geographic_files_open_in_gis_tools(tmp_path: Path) -> None:
    geopandas = pytest.importorskip("geopandas")
    write(LINES, tmp_path / "a.parquet")
    frame = geopandas.read_parquet(tmp_path / "a.parquet")
    assert frame.crs.to_authority() == ("OGC", "CRS84")
    assert list(frame.geometry[0].coords) == [(13.4, 52.5), (13.5, 52.6)]
    assert frame.geometry[1:].isna().all()


@pytest.mark.parametrize(
    ("crs", "label"), [("EPSG:25832", "EPSG:25832"), ("OGC:CRS84", "EPSG:4326"), (None, None)]
)
@pytest.mark.parametrize("encoding", ["WKB", "geoarrow"])
def test_standard_geoparquet_is_read(
    tmp_path: Path, encoding: str, crs: str | None, label: str | None
) -> None:
    geopandas = pytest.importorskip("geopandas")
    shapely = pytest.importorskip("shapely")
    lines = [shapely.LineString([(0, 1), (2, 3)]), shapely.LineString([(4, 5), (6, 7), (8, 9)])]
    frame = geopandas.GeoDataFrame({"traj_id": [5, 6]}, geometry=lines, crs=crs)
    frame.to_parquet(tmp_path / "a.parquet", geometry_encoding=encoding, schema_version="1.1.0")
    found = read(tmp_path / "a.parquet")
    wanted = Trajectories([0, 2, 4, 6, 8], [1, 3, 5, 7, 9], [0, 2, 5], ids=np.array([5, 6]), crs=label)
    assert_same(found, wanted)


def test_a_folder_is_one_set_and_repeated_ids_are_numbered_anew(tmp_path: Path) -> None:
    for number, name in enumerate(["b10.parquet", "b2.parquet"]):
        write(Trajectories([number, 9], [0, 9], [0, 1, 2], ids=[0, 1]), tmp_path / name)
    found, report = read_with_account(tmp_path)
    assert found.x.tolist() == [1, 9, 0, 9]
    assert found.ids is None
    assert "numbered anew, because ids repeat between the files" in report.line()
    assert read(tmp_path / "b*.parquet").x.tolist() == [1, 9, 0, 9]


@pytest.mark.parametrize("kind", ["points", "lists", "start"])
def test_the_zone_that_the_schema_states_is_read_and_kept(tmp_path: Path, kind: str) -> None:
    """Departures at 8:00 in Los Angeles are not departures at 15:00."""
    moments = pa.array([1_714_575_600_000_000_000, 1_714_575_660_000_000_000], pa.int64())
    zoned = moments.cast(pa.timestamp("ns", "America/Los_Angeles"))
    if kind == "points":
        table = pa.table({"trip_id": [1, 1], "x": [0.0, 1.0], "y": [0.0, 1.0], "when": zoned})
    elif kind == "lists":
        lists = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), zoned)
        table = pa.table({"x": [[0.0, 1.0]], "y": [[0.0, 1.0]], "t": lists})
    else:
        table = pa.table({"x": [[0.0, 1.0]], "y": [[0.0, 1.0]], "t": [[0.0, 60.0]], "t0": zoned[:1]})
    path = saved(tmp_path, table)
    found = read(path)
    assert (found.t.tolist(), found.timezone) == ([1_714_575_600, 1_714_575_660], "America/Los_Angeles")
    assert read(path, timezone="Asia/Tokyo").timezone == "Asia/Tokyo"
    if kind != "points":
        batches = open_batches(path, always=True)
        assert batches is not None
        assert batches.first().timezone == "America/Los_Angeles"
    write(found, tmp_path / "b.parquet")
    assert read(tmp_path / "b.parquet").timezone == "America/Los_Angeles"


def test_utc_of_a_schema_names_no_place(tmp_path: Path) -> None:
    when = pa.array([1_714_575_600, 1_714_575_660], pa.int64()).cast(pa.timestamp("s", "UTC"))
    table = pa.table({"trip_id": [1, 1], "x": [0.0, 1.0], "y": [0.0, 1.0], "t": when})
    assert read(saved(tmp_path, table)).timezone is None
