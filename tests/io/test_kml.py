from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from ldptrace.errors import FormatError, NothingUsable
from ldptrace.io import kml, read, read_with_account

OPENING = (
    '<?xml version="1.0"?>\n<kml xmlns="http://www.opengis.net/kml/2.2" '
    'xmlns:gx="http://www.google.com/kml/ext/2.2" xmlns:o="other"><Document>\n'
)
TRACK = """<Placemark><name>to work</name>
  <ExtendedData><Data name="user"><value>7</value></Data></ExtendedData>
  <gx:MultiTrack>
    <gx:Track><when>1970-01-01T00:01:00Z</when><when>1970-01-01T01:02:00+01:00</when>
      <gx:coord>8 50 3</gx:coord><gx:coord>9 51 3</gx:coord></gx:Track>
    <gx:Track><when>1970-01-01T00:03:00Z</when><gx:coord>10 52 3</gx:coord></gx:Track>
  </gx:MultiTrack></Placemark>"""
LINE = """<Placemark><ExtendedData><SchemaData><SimpleData name="mode">bus</SimpleData></SchemaData></ExtendedData>
  <MultiGeometry><LineString><coordinates>
  1,2,0
  3,4,0 </coordinates></LineString><Point><coordinates>9,9</coordinates></Point></MultiGeometry></Placemark>"""


def saved(folder: Path, body: str) -> Path:
    path = folder / "a.kml"
    path.write_text(f"{OPENING}{body}\n</Document></kml>\n")
    return path


def test_tracks_have_times_and_a_name(tmp_path: Path) -> None:
    found = read(saved(tmp_path, TRACK))
    assert found.crs == "EPSG:4326"
    assert (found.x.tolist(), found.y.tolist()) == ([8, 9, 10], [50, 51, 52])
    assert found.sizes.tolist() == [2, 1]
    assert found.t is not None
    assert found.t.tolist() == [60, 120, 180]
    assert found.extra is not None
    assert found.extra.to_pydict() == {"name": ["to work"] * 2, "user": ["7"] * 2}
    assert found.user is None


def test_lines_are_trajectories_and_points_are_counted(tmp_path: Path) -> None:
    found, account = read_with_account(saved(tmp_path, LINE))
    assert (found.x.tolist(), found.y.tolist()) == ([1, 3], [2, 4])
    assert found.with_all_times().t is None
    assert found.extra is not None
    assert found.extra.to_pydict() == {"mode": ["bus"]}
    assert "1 points and areas are no lines" in account.line()


def test_lines_without_times_take_none_from_tracks(tmp_path: Path) -> None:
    found, account = read_with_account(saved(tmp_path, TRACK + LINE))
    np.testing.assert_equal(found.t, [60, 120, 180, np.nan, np.nan])
    assert found.sizes.tolist() == [2, 1, 2]
    assert "2 points without a time" in account.line()


def test_every_placemark_is_somebodys(tmp_path: Path) -> None:
    found = read(saved(tmp_path, "<Placemark/><Placemark><Point/></Placemark>" + LINE))
    assert found.sizes.tolist() == [0, 0, 2]


def test_a_moment_without_a_place_is_no_point(tmp_path: Path) -> None:
    body = TRACK.replace("<gx:coord>9 51 3</gx:coord>", "<gx:coord/>")
    found, account = read_with_account(saved(tmp_path, body))
    assert found.x.tolist() == [8, 10]
    assert account.dropped_points == {"not a number": 1}


def test_a_track_with_another_number_of_moments_has_no_times(tmp_path: Path) -> None:
    body = TRACK.replace("<when>1970-01-01T00:01:00Z</when>", "")
    np.testing.assert_equal(read(saved(tmp_path, body)).t, [np.nan, np.nan, 180])


def test_a_packed_file_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.kmz"
    with zipfile.ZipFile(path, "w") as packed:
        packed.write(saved(tmp_path, TRACK), "doc.kml")
    assert read(path).points == 3
    monkeypatch.setattr(kml, "LARGEST", 10)
    with pytest.raises(FormatError, match="10 are allowed"):
        read(path)
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("picture.png", "")
    with pytest.raises(FormatError, match=r"no \.kml file"):
        read(path)
    path.write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(FormatError, match="cannot be unpacked"):
        read(path)


def test_the_beginning_shows_that_it_is_kml(tmp_path: Path) -> None:
    path = saved(tmp_path, TRACK).rename(tmp_path / "track")
    assert read(path).points == 3


@pytest.mark.parametrize("place", ["8", "east,north"])
def test_a_place_that_is_no_place(tmp_path: Path, place: str) -> None:
    body = f"<Placemark><LineString><coordinates>{place}</coordinates></LineString></Placemark>"
    with pytest.raises(NothingUsable, match="line 3: a point needs numbers"):
        read(saved(tmp_path, body))
