from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.reading import Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.files import open_batches
from ldptrace.errors import FormatError
from ldptrace.io import read, read_with_account


def saved(folder: Path, text: str, name: str = "points.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("header", "crs"),
    [
        ("traj_id,x,y,t", None),
        ("TRIP_ID,Longitude,Latitude,Timestamp", "EPSG:4326"),
        ("trajectory id,lng,lat,time", "EPSG:4326"),
        ("user,easting,northing,ts", None),
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_usual_names_are_found(tmp_path: Path, header: str, crs: str | None, delimiter: str) -> None:
    text = f"{header}\n4,1.5,2,0\n4,2,3,15\n9,7,8,100\n".replace(",", delimiter)
    found = read(saved(tmp_path, text))
    assert found.crs == crs
    assert found.ids is not None
    assert found.ids.tolist() == [4, 9]
    assert found.sizes.tolist() == [2, 1]
    assert found.x.tolist() == [1.5, 2, 7]
    assert found.t is not None
    assert found.t.tolist() == [0, 15, 100]


def test_columns_in_any_order_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbflat,lon,id\r\n50,8,1\r\n51,9,1\r\n")
    found = read(path)
    assert found.x.tolist() == [8, 9]
    assert found.y.tolist() == [50, 51]


@pytest.mark.parametrize(
    "times",
    [
        ("1970-01-01T00:01:00Z", "1970-01-01T00:02:00Z"),
        ("1970-01-01 00:01:00", "1970-01-01 00:02:00"),
        ("1970-01-01T01:01:00+01:00", "1970-01-01T00:02:00+00:00"),
        ("1970/01/01 00:01:00", "1970/01/01 00:02:00"),
        ("Thu Jan 01 00:01:00 +0000 1970", "Thu Jan 01 00:02:00 +0000 1970"),
        ("60", "120.0"),
    ],
)
def test_times_become_seconds(tmp_path: Path, times: tuple[str, str]) -> None:
    found = read(saved(tmp_path, f"id,x,y,t\n1,0,0,{times[0]}\n1,1,1,{times[1]}\n"))
    assert found.t is not None
    assert found.t.tolist() == [60, 120]


def test_times_that_are_not_understood_are_said_to_be_left_out(tmp_path: Path) -> None:
    found, report = read_with_account(saved(tmp_path, "id,x,y,t\n1,0,0,noon\n1,1,1,later\n"))
    assert found.with_all_times().t is None
    assert "column t: no value is understood as a time, such as 'noon'" in report.line()


def test_times_without_a_zone_among_others_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    path.write_text("id,lon,lat,t\n1,13,52,2026-03-01T08:00:00Z\n1,13,52,2026-03-01T08:01:00\n")
    _, account = read_with_account(path)
    assert "without a zone, read on the clocks of UTC, beside times with one" in account.line()


def test_a_missing_time_is_counted_and_takes_none_from_other_points(tmp_path: Path) -> None:
    found, report = read_with_account(saved(tmp_path, "id,x,y,t\n1,0,0,5\n1,1,1,\n"))
    np.testing.assert_equal(found.t, [5.0, np.nan])
    assert "1 point without a time" in report.line()


def test_scattered_rows_are_gathered_in_order_of_appearance_and_time(tmp_path: Path) -> None:
    text = "id,x,y,t\n5,0,0,9\n2,10,0,1\n5,1,0,3\n2,11,0,2\n5,2,0,6\n"
    found, report = read_with_account(saved(tmp_path, text))
    assert found.ids is not None
    assert found.ids.tolist() == [5, 2]
    assert found.x.tolist() == [1, 2, 0, 10, 11]
    assert "points sorted by time" in report.line()


def test_time_may_start_anew_with_every_trajectory(tmp_path: Path) -> None:
    _, report = read_with_account(saved(tmp_path, "id,x,y,t\n1,0,0,5\n1,1,1,9\n2,2,2,0\n3,2,2,0\n"))
    assert report.notes == ()


def test_names_as_ids_are_kept_beside_numbers(tmp_path: Path) -> None:
    found = read(saved(tmp_path, "trip,x,y\nblue,0,0\nblue,1,1\nred,2,2\n"))
    assert found.ids is None
    assert found.extra is not None
    assert found.extra["trip"].to_pylist() == ["blue", "red"]


def test_columns_of_a_trajectory_pass_and_columns_of_points_are_named(tmp_path: Path) -> None:
    text = "id,x,y,mode,speed\n1,0,0,bus,3\n1,1,1,bus,4\n2,0,0,,5\n"
    found, report = read_with_account(saved(tmp_path, text))
    assert found.extra is not None
    assert found.extra.to_pydict() == {"mode": ["bus", ""]}
    assert "change within a trajectory: speed" in report.line()


def test_bad_rows_are_counted_by_reason(tmp_path: Path) -> None:
    rows = ["1,0,0", "1,nan,0", "1,inf,1", "1,oops,1", ",5,5", "1,1,1,9,9", "2,,3", "2,4,4"]
    found, report = read_with_account(saved(tmp_path, "\n".join(["id,x,y", *rows]) + "\n"))
    assert found.x.tolist() == [0, 4]
    assert report.rows == 8
    assert report.dropped == {}
    assert report.dropped_points == {
        "no trajectory id": 1,
        "not a number": 4,
        "infinite": 1,
    }
    assert report.doubts == {"rows with a wrong number of columns": 1}


ROWS = ["u0,0,1,1,5", "u1,1,2,2,6", "u2,2,3", "u0,0,1,3,7", "u1,1,9,9,9,9,9", "u3,3,4,4,8", "u4"]


@pytest.mark.parametrize("batches", [False, True])
def test_a_row_of_another_width_stays_in_its_place_with_its_person(tmp_path: Path, batches: bool) -> None:
    path = saved(tmp_path, "\n".join(["user,trip,x,y,t", *ROWS]) + "\n")
    if not batches:
        found, account = read_with_account(path)
    else:
        opened = open_batches(path, memory=1000, always=True)
        assert opened is not None
        found, account = Trajectories.concat(list(opened)), opened.account  # type: ignore[assignment]
        opened.close()
    assert found.extra is not None
    assert found.extra["user"].to_pylist() == ["u0", "u1", "u2", "u3", "u4"]
    assert found.sizes.tolist() == [2, 1, 0, 1, 0]
    assert account.doubts["rows with a wrong number of columns"] == 3


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
@pytest.mark.parametrize("late", [False, True])
def test_batches_of_other_encodings(tmp_path: Path, encoding: str, late: bool) -> None:
    rows = [f"Zo{'e' if k == 0 and late else 'ë'} {k};1,5;{k}" for k in range(2000 if late else 3)]
    path = tmp_path / "a.csv"
    path.write_bytes("\n".join(["user;x;y", *rows]).encode(encoding))
    opened = open_batches(path, memory=10**6, always=True)
    assert opened is not None
    found = Trajectories.concat(list(opened))
    opened.close()
    assert found.extra is not None
    assert found.extra.equals(read(path).extra)
    assert found.extra["user"][-1].as_py() == rows[-1].partition(";")[0]
    assert found.x[1] == 1.5


def test_a_missing_column_is_named_with_what_is_there(tmp_path: Path) -> None:
    with pytest.raises(
        FormatError, match=r"points.csv: no column for y \(y, .*lat.*\); the columns are id, x, z"
    ):
        read(saved(tmp_path, "id,x,z\n1,2,3\n"))
    with pytest.raises(
        FormatError, match=r"which trajectory a point belongs to .* the columns are flight, x, y"
    ):
        read(saved(tmp_path, "flight,x,y\n1,2,3\n"))


def test_columns_of_the_same_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"points.csv: there are several columns named x"):
        read(saved(tmp_path, "id,x,y,x\n1,2,3,4\n"))
    with pytest.raises(FormatError, match=r"points.csv: there are several columns named TRIP_ID"):
        read(saved(tmp_path, "TRIP_ID,TRIP_ID,POLYLINE\n1,2,[]\n"))


def test_x_is_never_paired_with_latitude(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="x and y of one kind; the columns are id, x, lat"):
        read(saved(tmp_path, "id,x,lat\n1,2,3\n"))


def test_a_file_without_column_names_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="line 1 holds numbers; a line with the names"):
        read(saved(tmp_path, "1,0.5,0.5\n1,0.7,0.5\n"))


def test_text_where_numbers_belong_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"points.csv: line 3: column x holds 'left', not a number"):
        read(saved(tmp_path, "id,x,y\n1,2,2\n1,left,2\n1,right,2\n"))


def test_rows_of_another_width_name_the_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"points.csv: line 3: 4 columns where the first line has 3"):
        read(saved(tmp_path, "id,x,y\n1,2,3\n1,2,3,4\n1,2,3,4\n"))


def test_a_header_alone_has_no_trajectories(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"points.csv: there are no trajectories in it"):
        read(saved(tmp_path, "id,x,y\n"))


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"PAR1\0\0\0\0\n\0")
    with pytest.raises(FormatError, match=r"a.csv: line 1 is not a line of column names"):
        read(path)
    truncated = tmp_path / "b.csv.gz"
    truncated.write_bytes(gzip.compress(b"id,x,y\n1,2,3\n" * 1000)[:-20])
    with pytest.raises(FormatError, match=r"b.csv.gz: cannot be read"):
        read(truncated)


@pytest.mark.parametrize("names", [("1.0", "2.0", ""), ("1", " 2", "NA")])
def test_whole_numbers_that_came_otherwise_are_ids(tmp_path: Path, names: tuple[str, str, str]) -> None:
    one, two, none = names
    found = read(saved(tmp_path, f"id,x,y\n{one},0,0\n{two},1,1\n{none},2,2\n"))
    assert found.ids is not None
    np.testing.assert_array_equal(found.ids, [1, 2])


@pytest.mark.parametrize("last", ["7", "x", "7.5"])
@pytest.mark.parametrize("batches", [False, True])
def test_names_are_told_apart_as_they_are_written(tmp_path: Path, last: str, batches: bool) -> None:
    """Whether they look like numbers does not depend on the other names."""
    names = ["1", "01", " 1", "1.0", "NA", "", "3", last]
    path = saved(tmp_path, "\n".join(["id,x,y", *(f"{name},{k},0" for k, name in enumerate(names))]) + "\n")
    if batches:
        opened = open_batches(path, Reading(), always=True)
        assert opened is not None
        found = Trajectories.concat(list(opened))
        opened.close()
    else:
        found = read(path)
    assert sorted(part.x.tolist() for part in found) == [[0, 2], [1], [3], [6], [7]]


def test_cells_are_texts_beside_a_fraction(tmp_path: Path) -> None:
    h3 = pytest.importorskip("h3")
    cell = int(h3.latlng_to_cell(1, 2, 9), 16)
    found = read(saved(tmp_path, f"id,h3\n1,{cell}\n2,0.5\n"))
    assert found.sizes.tolist() == [1, 0]


def test_whole_numbers_may_be_followed_by_fractions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ldptrace.io.csv.BLOCK_BYTES", 200)
    rows = [
        f"{trip},{step},{step},{trip if trip < 50 else trip + 0.5}" for trip in range(60) for step in (0, 1)
    ]
    found = read(saved(tmp_path, "\n".join(["traj_id,x,y,level", *rows]) + "\n"))
    assert found.extra is not None
    assert found.extra["level"].to_pylist() == [*range(50), *(trip + 0.5 for trip in range(50, 60))]
    assert found.ids is not None
    assert found.ids.tolist() == list(range(60))


def test_names_of_columns_may_hold_the_delimiter(tmp_path: Path) -> None:
    found = read(saved(tmp_path, 'traj_id,"mode, or none",x,y\n7,bus,0,0\n7,bus,1,1\n'))
    assert found.extra is not None
    assert found.extra.to_pydict() == {"mode, or none": ["bus"]}


@pytest.mark.parametrize("said", ["", "5", "true", "2024-05-01", "[1, 2]"])
def test_values_do_not_say_whether_a_column_lists_times(tmp_path: Path, said: str) -> None:
    line = "LINESTRING (0 0, 1 1)"
    found = read(saved(tmp_path, f"user;times;wkt\na;;{line}\nb;{said};{line}\n"))
    times = [1.0, 2.0] if said == "[1, 2]" else [np.nan, np.nan]
    np.testing.assert_equal(found.t, [np.nan, np.nan, *times])
