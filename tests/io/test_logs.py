from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import FormatError
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
