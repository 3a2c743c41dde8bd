from __future__ import annotations

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError, NothingUsable
from ldptrace.io import read, read_with_account, write, xml
from ldptrace.io.xml import Tracks


class Elements(Tracks):
    root = "doc"
    known = ("more",)

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, str, str]] = []

    def end(self, name: str, outer: str) -> None:
        self.seen.append((name, outer, self.text))


def test_elements_of_other_namespaces_have_no_name() -> None:
    document = Elements()
    document.parse(b'<doc xmlns="own" xmlns:m="more" xmlns:o="other"><a>1</a><m:b>2</m:b><o:a>3</o:a></doc>')
    assert document.seen == [("a", "doc", "1"), ("b", "doc", "2"), ("", "doc", "3"), ("doc", "", "3")]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("<other/>", "line 1: expected <doc>, got <other>"),
        ("<doc>\n<a></doc>", "line 2: this is not well-formed XML: mismatched tag"),
        ("<!DOCTYPE doc []><doc/>", "a document type is declared; DOC files have none"),
        ('<?xml version="1.0" encoding="klingon"?><doc/>', "line 1: "),
    ],
)
def test_what_is_refused(text: str, match: str) -> None:
    with pytest.raises(FormatError, match=match):
        Elements().parse(text.encode())


NAMESPACE = "http://www.topografix.com/GPX/1/1"


def gpx(folder: Path, body: str, opening: str = "") -> Path:
    path = folder / "a.gpx"
    path.write_text(
        f'<?xml version="1.0"?>\n{opening}<gpx xmlns="{NAMESPACE}" xmlns:o="other">\n{body}\n</gpx>\n'
    )
    return path


def test_all_tracks_and_segments_and_nothing_else(tmp_path: Path) -> None:
    found, report = read_with_account(
        gpx(
            tmp_path,
            """<wpt lat="1" lon="1"><time>2020-01-01T00:00:00Z</time></wpt>
            <rte><rtept lat="2" lon="2"/></rte>
            <trk><name>a &amp; b</name><trkseg>
              <trkpt lat="50" lon="8"><ele>3</ele><time>1970-01-01T00:01:00Z</time>
                <extensions><o:time>2020-01-01</o:time><o:trkpt lat="0" lon="0"/></extensions></trkpt>
              <trkpt lat="51" lon="9"><time>1970-01-01T01:02:00+01:00</time></trkpt></trkseg>
              <trkseg><trkpt lat="52" lon="10"><time>1970-01-01T00:03:00.5</time></trkpt></trkseg></trk>
            <trk><trkseg/></trk>""",
        )
    )
    assert found.crs == "EPSG:4326"
    assert found.x.tolist() == [8, 9, 10]
    assert found.y.tolist() == [50, 51, 52]
    assert found.sizes.tolist() == [2, 1, 0]
    assert found.t is not None
    assert found.t.tolist() == [60, 120, 180.5]
    assert (report.dropped, report.empty) == ({}, 1)
    assert "2 points of routes and waypoints are no tracks" in report.line()


def test_what_is_written_is_gpx(tmp_path: Path) -> None:
    write(Trajectories([8], [50], [0, 1], t=[60], ids=[4], crs="EPSG:4326"), tmp_path / "a.gpx")
    root = ElementTree.parse(tmp_path / "a.gpx").getroot()
    assert root.tag == f"{{{NAMESPACE}}}gpx"
    names = {"g": NAMESPACE}
    point = root.find("g:trk/g:trkseg/g:trkpt", names)
    assert point is not None
    assert point.attrib == {"lat": "50", "lon": "8"}
    assert root.findtext("g:trk/g:number", namespaces=names) == "4"
    assert point.findtext("g:time", namespaces=names) == "1970-01-01T00:01:00Z"


def test_planar_coordinates_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="GPX holds longitude and latitude"):
        write(Trajectories.from_lists([[(1, 2)]]), tmp_path / "a.gpx")
    assert list(tmp_path.iterdir()) == []


def test_entities_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE gpx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>\n'
    with pytest.raises(FormatError, match=r"a.gpx: line 2: a document type is declared"):
        read(gpx(tmp_path, "<trk><name>&b;</name></trk>", bomb))


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("<trk><trkseg>", "line 4: this is not well-formed XML: mismatched tag"),
        ('<trk><trkseg>\n<trkpt lat="1"/></trkseg></trk>', "line 4: a point needs numbers lat and lon"),
        (
            '<trk><trkseg>\n<trkpt lat="1" lon="east"/></trkseg></trk>',
            "line 4: a point needs numbers lat and lon",
        ),
        ("", "there are no trajectories in it"),
    ],
)
def test_what_is_not_the_format_names_file_and_line(tmp_path: Path, body: str, complaint: str) -> None:
    with pytest.raises(FormatError, match=f"a.gpx: {complaint}"):
        read(gpx(tmp_path, body))


def test_another_document_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.gpx"
    path.write_text("<kml/>")
    with pytest.raises(FormatError, match=r"a.gpx: line 1: expected <gpx>, got <kml>"):
        read(path)


NAMED = """<gpx xmlns="http://www.topografix.com/GPX/1/1" xmlns:o="urn:other"><trk><name>to work</name>
<extensions><o:rider>anna</o:rider><o:ride>7</o:ride></extensions>
<trkseg><trkpt lat="1" lon="2"><time>1970-01-05T00:00:00Z</time>
<extensions><o:gps>1970-01-06T00:00:00</o:gps></extensions></trkpt></trkseg></trk>
<trk><extensions><o:rider>anna</o:rider><o:ride>8</o:ride></extensions><trkseg/></trk>
<trk><name>x</name></trk></gpx>"""


def test_elements_and_extensions_of_tracks_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "a.gpx").write_text(NAMED)
    found = read(tmp_path / "a.gpx")
    assert found.user is None
    assert found.extra is not None
    assert found.extra.to_pydict() == {
        "name": ["to work", None, "x"],
        "rider": ["anna", "anna", None],
        "ride": ["7", "8", None],
    }
    named = read(tmp_path / "a.gpx", user="rider", id="name", t="gps", timezone="Europe/Berlin")
    assert named.users[0] == named.users[1] != named.users[2]
    assert named.t is not None
    assert named.t.tolist() == [5 * 86400 - 3600]
    with pytest.raises(InputError, match="no track has 'driver' for user; there are name, rider, ride"):
        read(tmp_path / "a.gpx", user="driver")
    with pytest.raises(InputError, match="only tables have columns to name, and this is gpx"):
        read(tmp_path / "a.gpx", x="lon")


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


def kml(folder: Path, body: str) -> Path:
    path = folder / "a.kml"
    path.write_text(f"{OPENING}{body}\n</Document></kml>\n")
    return path


def test_tracks_have_times_and_a_name(tmp_path: Path) -> None:
    found = read(kml(tmp_path, TRACK))
    assert found.crs == "EPSG:4326"
    assert (found.x.tolist(), found.y.tolist()) == ([8, 9, 10], [50, 51, 52])
    assert found.sizes.tolist() == [2, 1]
    assert found.t is not None
    assert found.t.tolist() == [60, 120, 180]
    assert found.extra is not None
    assert found.extra.to_pydict() == {"name": ["to work"] * 2, "user": ["7"] * 2}
    assert found.user is None


def test_lines_are_trajectories_and_points_are_counted(tmp_path: Path) -> None:
    found, account = read_with_account(kml(tmp_path, LINE))
    assert (found.x.tolist(), found.y.tolist()) == ([1, 3], [2, 4])
    assert found.with_all_times().t is None
    assert found.extra is not None
    assert found.extra.to_pydict() == {"mode": ["bus"]}
    assert "1 points and areas are no lines" in account.line()


def test_lines_without_times_take_none_from_tracks(tmp_path: Path) -> None:
    found, account = read_with_account(kml(tmp_path, TRACK + LINE))
    np.testing.assert_equal(found.t, [60, 120, 180, np.nan, np.nan])
    assert found.sizes.tolist() == [2, 1, 2]
    assert "2 points without a time" in account.line()


def test_every_placemark_is_somebodys(tmp_path: Path) -> None:
    found = read(kml(tmp_path, "<Placemark/><Placemark><Point/></Placemark>" + LINE))
    assert found.sizes.tolist() == [0, 0, 2]


def test_a_moment_without_a_place_is_no_point(tmp_path: Path) -> None:
    body = TRACK.replace("<gx:coord>9 51 3</gx:coord>", "<gx:coord/>")
    found, account = read_with_account(kml(tmp_path, body))
    assert found.x.tolist() == [8, 10]
    assert account.dropped_points == {"not a number": 1}


def test_a_track_with_another_number_of_moments_has_no_times(tmp_path: Path) -> None:
    body = TRACK.replace("<when>1970-01-01T00:01:00Z</when>", "")
    np.testing.assert_equal(read(kml(tmp_path, body)).t, [np.nan, np.nan, 180])


def test_a_packed_file_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.kmz"
    with zipfile.ZipFile(path, "w") as packed:
        packed.write(kml(tmp_path, TRACK), "doc.kml")
    assert read(path).points == 3
    monkeypatch.setattr(xml, "LARGEST", 10)
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
    path = kml(tmp_path, TRACK).rename(tmp_path / "track")
    assert read(path).points == 3


@pytest.mark.parametrize("place", ["8", "east,north"])
def test_a_place_that_is_no_place(tmp_path: Path, place: str) -> None:
    body = f"<Placemark><LineString><coordinates>{place}</coordinates></LineString></Placemark>"
    with pytest.raises(NothingUsable, match="line 3: a point needs numbers"):
        read(kml(tmp_path, body))
