from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import FormatError
from ldptrace.io import read, read_with_account
from trajectory_kit import geolife_log


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
    assert found.ids.tolist() == [2, 10]
    assert found.x.tolist() == [116.35, 116.36, 116.5, 116.6]
    assert found.t is not None
    assert found.t.tolist() == [1201959172, 1201959232, 1201966568, 1201967168]
    assert report.dropped == {"empty file": 1}
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
