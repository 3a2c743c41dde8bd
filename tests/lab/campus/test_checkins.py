from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import FormatError
from ldptrace.io import read
from ldptrace_lab.campus.checkins import read_checkins
from ldptrace_lab.campus.pois import Visits

HEADER = "User ID,Venue ID,Venue Category,Venue Name,Latitude,Longitude,Timezone,UTC Time\n"
ROWS = [
    "1,v1,c1,Coffee Shop,40.5,-74.0,-240,Sat May 19 20:38:26 +0000 2012",
    "1,v2,c2,Subway,40.6,-74.1,-240,Sat May 19 12:00:00 +0000 2012",
    "1,v2,c2,Subway,40.6,-74.1,-240,Sat May 19 12:30:00 +0000 2012",
    "1,v1,c1,Coffee Shop,40.5,-74.0,-240,Sun May 20 03:00:00 +0000 2012",
    "2,v1,c1,Coffee Shop,40.5,-74.0,-240,Sun May 20 13:00:00 +0000 2012",
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "checkins.csv"
    path.write_text(HEADER + "\n".join(ROWS) + "\n")
    return path


def test_days_and_places(file: Path) -> None:
    pois, days = read_checkins(file)
    visits = Visits.of(days)
    assert visits.offsets.tolist() == [0, 2, 3]
    assert visits.poi.tolist() == [1, 0, 0]
    assert visits.t.tolist() == [8 * 3600, 16 * 3600 + 38 * 60 + 26, 9 * 3600]
    assert days.x.tolist() == [-74.1, -74.0, -74.0]
    assert [pois.categories[kind] for kind in pois.category] == [
        "food/Coffee Shop",
        "travel/Subway",
    ]
    assert pois.crs == "EPSG:4326"


def test_read_by_name(file: Path) -> None:
    assert len(read(file, format="checkins")) == 2


def test_headers_of_the_full_files(tmp_path: Path) -> None:
    path = tmp_path / "full.csv"
    names = "userId,venueId,venueCategoryId,venueCategory,latitude,longitude,timezoneOffset,utcTimestamp\n"
    path.write_text(names + "\n".join(ROWS) + "\n")
    assert read_checkins(path)[0].categories == ("food/Coffee Shop", "travel/Subway")


def test_other_tables_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FormatError, match="userid"):
        read_checkins(path)
    path.write_text(HEADER + ROWS[0].replace("Sat May", "Saturday"))
    with pytest.raises(FormatError, match="look like"):
        read_checkins(path)
