"""Networks of SUMO: edges under their own ids, in degrees where the network says how it was projected."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ldptrace.errors import InputError
from ldptrace.roads import read_roads

NET = """<net version="1.20">
<location netOffset="-400000.00,-5700000.00" convBoundary="0,0,100,100" projParameter="{projection}"/>
<edge id=":b_0" function="internal"><lane id=":b_0_0" index="0" speed="5" length="2" shape="1,1 2,2"/></edge>
<edge id="ab" from="a" to="b" type="highway.residential">
  <lane id="ab_0" index="0" allow="pedestrian" speed="2.78" length="100" shape="0,-3 100,-3"/>
  <lane id="ab_1" index="1" disallow="tram" speed="13.89" length="100" shape="0,0 50,10 100,0"/></edge>
<edge id="-ab" from="b" to="a" type="highway.residential">
  <lane id="-ab_0" index="0" speed="13.89" length="100" shape="100,3 0,3"/></edge>
<edge id="way" from="a" to="b" type="highway.footway">
  <lane id="way_0" index="0" allow="pedestrian" speed="2" length="160" shape="0,9 50,60 100,9"/></edge>
<junction id="a" type="priority" x="0" y="0"/><junction id="b" type="priority" x="100" y="0"/>
<connection from="ab" to="-ab" fromLane="1" toLane="0"/>
</net>"""


def written(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["town.net.xml", "town.net.xml.gz"])
def test_edges_keep_their_ids_speeds_and_lines(tmp_path: Path, name: str) -> None:
    roads = read_roads(written(tmp_path / name, NET.format(projection="!")))
    assert roads.crs is None
    assert roads.edge_id is not None
    assert roads.edge_id.tolist() == ["ab", "-ab"]
    assert roads.seconds is not None
    assert roads.seconds.tolist() == pytest.approx([100 / 13.89] * 2)
    assert roads.classes == ("residential",)
    # Where they were before netconvert moved the network to the origin.
    assert [axis.tolist() for axis in roads.lines([0])[:2]] == [
        [400_000, 400_050, 400_100],
        [5_700_000, 5_700_010, 5_700_000],
    ]
    assert roads.street is None
    assert roads.account.dropped_streets == {"not for a passenger": 1}


def test_projected_networks_are_in_degrees(tmp_path: Path) -> None:
    roads = read_roads(
        written(tmp_path / "a.net.xml", NET.format(projection="+proj=utm +zone=33 +ellps=WGS84"))
    )
    assert roads.is_geographic
    assert (round(roads.x[0], 3), round(roads.y[0], 3)) == (13.561, 51.442)
    assert roads.length.tolist() == [100, 100]


def test_people_on_foot_have_their_own_lanes(tmp_path: Path) -> None:
    roads = read_roads(written(tmp_path / "a.net.xml", NET.format(projection="!")), "foot")
    assert roads.edge_id is not None
    assert {"ab", "way"} <= set(roads.edge_id.tolist())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<net><edge", "this is not a network of SUMO"),
        ("<net></net>", "there are no edges for a passenger in it"),
        (NET.format(projection="!").replace('id="b" type', 'id="c" type'), "leads to the junction 'b'"),
        (NET.format(projection="+proj=nix"), "its projection '\\+proj=nix' is not known"),
    ],
)
def test_what_is_no_network_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_roads(written(tmp_path / "a.net.xml", text))
