"""GeoLife's transport modes reach the trajectories, and pass through."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ldptrace.errors import FormatError
from ldptrace.io import read, write
from ldptrace.io.modes import Labels
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
    assert Labels.read(label(tmp_path, "000")).along(np.array([0.0])) is None


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
