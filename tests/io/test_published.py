"""Files of published data sets: Porto, GeoLife, T-Drive, and the format of AdaTrace."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.io import read, read_with_account, write
from trajectory_kit import geolife_log

TITLE = "Start Time\tEnd Time\tTransportation Mode\r\n"
# Day 39744 of GeoLife's clock is 2008-10-23.
DAY = 39744


def log(folder: Path, user: str, name: str, hours: list[int]) -> None:
    """A log of that day with a fix at each of these hours, GMT."""
    rows = [f"40.{hour:02},116,0,0,{DAY + hour / 24:.9f},2008-10-23,{hour:02}:00:00" for hour in hours]
    geolife_log(folder, user, name, rows)


def label(folder: Path, user: str, *rows: str) -> Path:
    path = folder / "Data" / user / "labels.txt"
    path.write_text(TITLE + "".join(row + "\r\n" for row in rows), newline="")
    return path


@pytest.fixture
def geolife(tmp_path: Path) -> Path:
    log(tmp_path, "000", "never-labelled", [1, 2])
    log(tmp_path, "010", "bus", [1, 2])
    log(tmp_path, "010", "changing", [3, 4, 5, 6, 7])
    log(tmp_path, "010", "unlabelled", [20, 21])
    label(
        tmp_path,
        "010",
        "2008/10/23 04:30:00\t2008/10/23 05:30:00\ttaxi",
        "2008/10/23 00:30:00\t2008/10/23 02:00:00\tbus",
        "2008/10/23 03:00:00\t2008/10/23 04:10:00\twalk",
        "2008/10/23 06:30:00\t2008/10/23 07:10:00\twalk",
    )
    return tmp_path


def test_modes_are_a_column_in_the_order_they_were_used(geolife: Path, tmp_path: Path) -> None:
    found = read(geolife / "Data")
    assert found.extra is not None
    modes = dict(zip(found.extra["name"].to_pylist(), found.extra["mode"].to_pylist(), strict=True))
    assert modes == {"never-labelled": None, "bus": "bus", "changing": "walk+taxi+walk", "unlabelled": None}
    write(found, tmp_path / "trips.parquet")
    again = read(tmp_path / "trips.parquet")
    assert again.extra is not None
    assert again.extra["mode"].to_pylist() == found.extra["mode"].to_pylist()


def test_a_single_log_finds_the_labels_of_its_user(geolife: Path) -> None:
    found = read(geolife / "Data" / "010" / "Trajectory" / "bus.plt")
    assert found.extra is not None
    assert found.extra["mode"].to_pylist() == ["bus"]


def test_without_labels_there_is_no_column(tmp_path: Path) -> None:
    log(tmp_path, "000", "a", [1, 2])
    found = read(tmp_path)
    assert found.extra is not None
    assert found.extra.column_names == ["user", "name"]
    label(tmp_path, "000")
    empty = read(tmp_path / "Data").extra
    assert empty is not None
    assert empty["mode"].to_pylist() == [None]


@pytest.mark.parametrize(
    "row", ["2008/10/23 04:30:00,2008/10/23 05:30:00,taxi", "noon\tevening\ttaxi", "\t\ttaxi"]
)
def test_a_broken_label_names_file_and_line(geolife: Path, row: str) -> None:
    path = label(geolife, "010", "2008/10/23 00:30:00\t2008/10/23 02:00:00\tbus", row)
    with pytest.raises(
        FormatError, match=r"labels.txt: line 3: expected start, end and mode divided by tabs"
    ):
        read(geolife / "Data")
    assert path.is_file()


def test_geolife_folders(tmp_path: Path) -> None:
    first = [
        "39.984702,116.318417,0,492,39744.1201851852,2008-10-23,02:53:04",
        "39.984683,116.31845,0,492,39744.1202546296,2008-10-23,02:53:10",
    ]
    geolife_log(tmp_path, "000", "20081023025304", first)
    geolife_log(tmp_path, "010", "20081024000000", ["40,116,0,0,39744.5,2008-10-23,12:00:00"])
    (tmp_path / "readme.pdf").write_text("not a trajectory")
    found = read(tmp_path)
    assert found.crs == "EPSG:4326"
    assert found.x.tolist() == [116.318417, 116.31845, 116]
    assert found.y.tolist() == [39.984702, 39.984683, 40]
    assert found.t is not None
    assert found.t.tolist() == [1224730384, 1224730390, 1224763200]
    assert found.extra is not None
    assert found.extra.to_pydict() == {"user": ["000", "010"], "name": ["20081023025304", "20081024000000"]}


def test_a_broken_plt_names_file_and_line(tmp_path: Path) -> None:
    geolife_log(tmp_path, "000", "a", ["40,116,0,0,39744.5,2008-10-23,12:00:00"])
    geolife_log(
        tmp_path,
        "000",
        "b",
        ["40,116,0,0,39744.5,2008-10-23,12:00:00", "40,east,0,0,39744.5,2008-10-23,12:00:00"],
    )
    with pytest.raises(
        FormatError, match=r"b.plt: line 8: expected lat,lon,0,altitude,days,date,time, got '40,east"
    ):
        read(tmp_path)


def test_a_plt_without_its_header_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.plt").write_text("40,116,0,0,39744.5,2008-10-23,12:00:00\n")
    with pytest.raises(FormatError, match=r"a.plt: line 1: expected 'Geolife', got '40,116"):
        read(tmp_path / "a.plt")


def test_tdrive_files_in_order_of_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "10.txt").write_text("10,2008-02-02 15:36:08,116.5,39.9\n10,2008-02-02 15:46:08,116.6,39.8\n")
    (tmp_path / "2.txt").write_text(
        "2,2008-02-02 13:33:52,116.36,39.88\n2,2008-02-02 13:32:52,116.35,39.88\n"
    )
    (tmp_path / "3.txt").write_text("")
    found, report = read_with_account(tmp_path)
    assert found.ids is not None
    assert found.ids.tolist() == [2, 10, 3]
    assert found.x.tolist() == [116.35, 116.36, 116.5, 116.6]
    assert found.t is not None
    assert found.t.tolist() == [1201959172, 1201959232, 1201966568, 1201967168]
    # A taxi without a fix is kept.
    assert (report.dropped, report.empty) == ({}, 1)
    assert "points sorted by time" in report.line()


def test_a_broken_log_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text(
        "1,2008-02-02 15:36:08,116.5,39.9\n\n1,2008-02-30 15:36:08,116.5,1,39.9\n"
    )
    with pytest.raises(
        FormatError, match=r"1.txt: line 3: expected taxi id,yyyy-mm-dd hh:mm:ss,lon,lat, got"
    ):
        read(tmp_path / "1.txt")


def test_swapped_columns_get_help(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("1,2008-02-02 15:36:08,39.9,116.5\n")
    with pytest.raises(FormatError, match="longitude and latitude look swapped"):
        read(tmp_path / "1.txt")


HEADER = '"TRIP_ID","CALL_TYPE","TAXI_ID","TIMESTAMP","DAY_TYPE","MISSING_DATA","POLYLINE"\n'


def porto(folder: Path, rows: str) -> Path:
    path = folder / "train.csv"
    path.write_text(HEADER + rows)
    return path


def test_trips_with_their_times_and_columns(tmp_path: Path) -> None:
    path = porto(
        tmp_path,
        '"1372636858620000589","C","20000589","1372636858","A","False","[[-8.618643,41.141412],[-8.618499,41.141376]]"\n'
        '"1372637303620000596","B","20000596","1372637303","A","True","[[-8.6,41.1]]"\n'
        '"1372636951620000320","C","20000320","1372636951","A","False","[]"\n'
        '"1372636854620000520","A","20000520","1372636854","A","False","[[-8.57,41.15]]"\n',
    )
    found, report = read_with_account(path)
    assert found.crs == "EPSG:4326"
    assert found.ids is not None
    assert found.sizes.tolist() == [2, 0, 0, 1]
    assert found.x.tolist() == [-8.618643, -8.618499, -8.57]
    assert found.y.tolist() == [41.141412, 41.141376, 41.15]
    assert found.t is not None
    assert found.t.tolist() == [1372636858, 1372636873, 1372636854]
    assert found.extra is not None
    assert found.extra["CALL_TYPE"].to_pylist() == ["C", "B", "C", "A"]
    assert report.rows == 4
    assert (report.dropped, report.empty) == ({}, 2)
    assert "1 trip without points, for their MISSING_DATA" in report.line()


def test_a_broken_polyline_names_the_line(tmp_path: Path) -> None:
    rows = '1,C,2,3,A,False,"[[-8.6,41.1]]"\n2,C,2,3,A,False,"[[-8.6,41.1],[-8.7"\n'
    with pytest.raises(FormatError, match=r"train.csv: line 3: POLYLINE must look like \[\[x,y\],\[x,y\]\]"):
        read(porto(tmp_path, rows))


def test_the_format_by_name_needs_the_column(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,x,y\n1,2,3\n")
    with pytest.raises(FormatError, match=r"a.csv: there is no column POLYLINE; the columns are id, x, y"):
        read(path, format="porto")


def test_the_taxi_can_be_named_for_the_user(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('TRIP_ID,TAXI_ID,TIMESTAMP,POLYLINE\n1,9,0,"[[1,2]]"\n2,9,0,"[]"\n')
    assert read(path, user="TAXI_ID").users.tolist() == [0, 0]
    with pytest.raises(InputError, match="only user can be named, as one of TAXI_ID"):
        read(path, user="driver")


def dat(folder: Path, text: str) -> Path:
    path = folder / "a.dat"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "#3:\n>0:1.5,2;3,4;\n#7:\n>0:5,6;\n",
        "#3:\r\n>0: 1.5,2;3,4\r\n#7:\r\n>0: 5,6\r\n",
        "#3:\n>0:1.5,2;3,4;\n#7:\n>0:5,6;",
        "#3:\n\n>0:1.5,2;3,4;\n\n#7:\n>0:5,6;\n\n",
    ],
)
def test_spellings(tmp_path: Path, text: str) -> None:
    found = read(dat(tmp_path, text))
    assert found.ids is not None
    assert found.ids.tolist() == [3, 7]
    assert found.sizes.tolist() == [2, 1]
    assert found.x.tolist() == [1.5, 3, 5]
    assert found.y.tolist() == [2, 4, 6]
    assert found.crs is None


def test_the_text_that_is_written(tmp_path: Path) -> None:
    write(Trajectories.from_lists([[(1.5, 2), (3, 4)], [(5, 6)]]), tmp_path / "a.dat")
    assert (tmp_path / "a.dat").read_text() == "#0:\n>0:1.5,2;3,4;\n#1:\n>0:5,6;\n"


def test_empty_trajectories_and_missing_numbers_are_counted(tmp_path: Path) -> None:
    found, report = read_with_account(dat(tmp_path, "#0:\n>0:\n#1:\n>0:1,2;nan,3;\n"))
    assert found.ids is not None
    assert found.ids.tolist() == [0, 1]
    assert (report.dropped, report.empty) == ({}, 1)
    assert report.dropped_points == {"not a number": 1}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("#0:\n>0:1,2;\n#1:\n>0:1,2;3;\n", 4),
        ("#0:\n>0:1,2;x,3;\n", 2),
        ("#0:\n>0:1,2;\nwhat is this\n", 3),
        ("#0:\n>0:1,2,3;\n", 2),
        ("traj_id,x,y\n1,2,3\n", 1),
    ],
)
def test_what_is_not_the_format_names_file_and_line(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(
        FormatError, match=rf"a.dat: line {line}: expected '#<number>:' or '>0:x,y;x,y;\.\.\.', got"
    ):
        read(dat(tmp_path, text))
