from __future__ import annotations

import gzip
from pathlib import Path

from ldptrace.server.places import Place, places_in

OSM = """<?xml version="1.0"?><osm version="0.6">
<node id="1" version="1" lat="52.5" lon="13.4"><tag k="place" v="suburb"/><tag k="name" v="Mitte"/></node>
<node id="2" version="1" lat="52.6" lon="13.5"><tag k="place" v="bench"/><tag k="name" v="A bench"/></node>
<node id="3" version="1" lat="52.6" lon="13.5"><tag k="amenity" v="cafe"/><tag k="name" v="A cafe"/></node>
</osm>"""


def test_nodes_with_a_name(tmp_path: Path) -> None:
    rows = "id,lon,lat,Name,place\n1,13.4,52.5,Mitte,suburb\n2,13.5,52.6,,\n3,x,52.6,Nowhere,\n4,13,52,Berlin,city\n"
    (tmp_path / "nodes.csv.gz").write_bytes(gzip.compress(rows.encode()))
    assert places_in(tmp_path) == [Place(13.4, 52.5, "Mitte", 3), Place(13.0, 52.0, "Berlin", 0)]


def test_networks_without_names_have_none(tmp_path: Path) -> None:
    assert places_in(tmp_path) == []
    (tmp_path / "nodes.csv").write_text("id,x,y\n1,0,0\n")
    assert places_in(tmp_path) == []
    assert places_in(tmp_path / "roads.graphml") == []


def test_places_of_openstreetmap(tmp_path: Path) -> None:
    (tmp_path / "town.osm").write_text(OSM)
    assert places_in(tmp_path / "town.osm") == [Place(13.4, 52.5, "Mitte", 3)]
