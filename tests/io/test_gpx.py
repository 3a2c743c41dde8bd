from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.io import read, read_with_account, write

NAMESPACE = "http://www.topografix.com/GPX/1/1"


def saved(folder: Path, body: str, opening: str = "") -> Path:
    path = folder / "a.gpx"
    path.write_text(
        f'<?xml version="1.0"?>\n{opening}<gpx xmlns="{NAMESPACE}" xmlns:o="other">\n{body}\n</gpx>\n'
    )
    return path


def test_all_tracks_and_segments_and_nothing_else(tmp_path: Path) -> None:
    found, report = read_with_account(
        saved(
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
        read(saved(tmp_path, "<trk><name>&b;</name></trk>", bomb))


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
        read(saved(tmp_path, body))


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
