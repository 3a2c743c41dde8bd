from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import FormatError, InputError
from ldptrace.io import read, read_with_account

HEADER = '"TRIP_ID","CALL_TYPE","TAXI_ID","TIMESTAMP","DAY_TYPE","MISSING_DATA","POLYLINE"\n'


def saved(folder: Path, rows: str) -> Path:
    path = folder / "train.csv"
    path.write_text(HEADER + rows)
    return path


def test_trips_with_their_times_and_columns(tmp_path: Path) -> None:
    path = saved(
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
        read(saved(tmp_path, rows))


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
