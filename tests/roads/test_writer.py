from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldptrace.errors import InputError
from ldptrace.roads import RoadNetwork, read_roads, write_roads
from ldptrace.roads.writer import check_folder, draw, edge_names
from road_kit import lattice_roads

Writer = Callable[[str, str], Path]
NODES = "node_id,x,y\na,0,0\nb,100,0\nc,100,100\n"


def test_a_folder_written_is_the_folder_read(write_tables: Writer, tmp_path: Path) -> None:
    bend = '"LINESTRING (100 0, 150 50, 100 100)"'
    edges = f"from,to,highway,oneway,geometry\na,b,primary,0,\nb,c,,1,{bend}\nc,a,path,1,\n"
    roads = read_roads(write_tables(NODES, edges), "foot")
    write_roads(roads, tmp_path / "out")
    again = read_roads(tmp_path / "out", "foot")
    for column in (
        "x",
        "y",
        "source",
        "target",
        "length",
        "seconds",
        "road_class",
        "shape_x",
        "shape_offsets",
    ):
        np.testing.assert_array_equal(getattr(again, column), getattr(roads, column), err_msg=column)
    assert again.classes == roads.classes
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"nodes.csv", "edges.csv"}
    with pytest.raises(InputError, match="it is a file"):
        write_roads(roads, tmp_path / "out" / "nodes.csv")


@pytest.mark.parametrize("name", ["out.geojson", "out.gpkg"])
@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:25833"])
def test_lines_that_were_written_are_the_network(tmp_path: Path, name: str, crs: str) -> None:
    scale = 1e-3 if crs == "EPSG:4326" else 100.0
    shape = ([1.5 * scale], [0.5 * scale], [0, 0, 0, 1, 1])
    roads = RoadNetwork.of(
        *(np.array([0, 1, 1.0]) * scale, np.array([0, 0, 1.0]) * scale),
        *([0, 1, 1, 2], [1, 0, 2, 0]),
        seconds=[10, 10, 30, 40],
        road_class=[0, 0, -1, 0],
        classes=("primary",),
        shape=shape,
        crs=crs,
    )
    write_roads(roads, tmp_path / name)
    again = read_roads(tmp_path / name)
    assert again.crs == crs
    found, wanted = (
        sorted(
            (
                *(round(float(value / scale), 6) for value in (*net.x[[a, b]], *net.y[[a, b]])),
                round(float(c)),
                d,
            )
            for a, b, c, d in zip(
                *(net.source, net.target, net.seconds if net.seconds is not None else ()),
                [("primary", "")[int(kind < 0)] for kind in net.road_class],
                strict=True,
            )
        )
        for net in (again, roads)
    )
    assert found == wanted
    assert again.length.sum() == pytest.approx(roads.length.sum())


def test_a_network_of_an_unknown_system_stays_one(tmp_path: Path) -> None:
    roads = RoadNetwork.of([0, 100, 100], [0, 0, 50], source=[0, 1, 1, 2], target=[1, 0, 2, 1])
    write_roads(roads, tmp_path / "a.geojson")
    again = read_roads(tmp_path / "a.geojson")
    assert again.crs is None
    assert sorted(again.length.tolist()) == [50, 50, 100, 100]


def test_lines_say_what_is_known_of_each_edge(tmp_path: Path) -> None:
    ids, backward = np.array(["a7", "a7"]), np.array([False, True])
    roads = replace(RoadNetwork.of([0, 100], [0, 0], [0, 1], [1, 0]), edge_id=ids, backward=backward)
    write_roads(roads, tmp_path / "a.geojson")
    document = json.loads((tmp_path / "a.geojson").read_text())
    assert document["crs"] is None
    known = {"edge_id": "a7", "class": None, "length": 100.0, "oneway": "yes"}
    assert [feature["properties"] for feature in document["features"]] == [
        known | {"direction": "forward"},
        known | {"direction": "backward"},
    ]
    assert document["features"][1]["geometry"]["coordinates"] == [[100, 0], [0, 0]]
    with pytest.raises(InputError, match="does not exist"):
        write_roads(roads, tmp_path / "no" / "a.gpkg")


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_network_survives_writing_and_reading(data: st.DataObject) -> None:
    nodes = data.draw(st.integers(2, 8))
    ends = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1)).filter(
        lambda pair: pair[0] != pair[1]
    )
    pairs = data.draw(st.lists(ends, min_size=1, max_size=20, unique=True))
    degrees = data.draw(st.booleans())
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    inner = rng.integers(0, 3, len(pairs))
    shape = (*rng.uniform(0, 1, (2, inner.sum())), np.r_[0, np.cumsum(inner)])
    roads = RoadNetwork.of(
        *rng.uniform(0, 1, (2, nodes)),
        *np.array(pairs).T,
        seconds=rng.uniform(1, 100, len(pairs)),
        road_class=rng.integers(-1, 2, len(pairs)),
        classes=("primary", "residential"),
        shape=shape if inner.sum() else None,
        crs="EPSG:4326" if degrees else None,
    )
    used = np.unique(np.r_[roads.source, roads.target])
    with tempfile.TemporaryDirectory() as folder:
        write_roads(roads, folder)
        again = read_roads(folder, connected=False)
    assert again.crs == roads.crs
    np.testing.assert_array_equal(again.x, roads.x[used])
    np.testing.assert_array_equal(used[again.source], roads.source)
    np.testing.assert_array_equal(used[again.target], roads.target)
    for column in ("length", "seconds"):
        np.testing.assert_array_equal(getattr(again, column), getattr(roads, column))
    words = [np.array([*network.classes, ""])[network.road_class].tolist() for network in (roads, again)]
    assert words[0] == words[1]
    for one, other in zip(
        roads.lines(np.arange(roads.edges)), again.lines(np.arange(again.edges)), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_a_folder_that_cannot_be_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file: it is a file, and a road network is a folder"):
        check_folder(tmp_path / "file")
    with pytest.raises(InputError, match=r"the folder .*missing does not exist"):
        check_folder(tmp_path / "missing" / "net")
    check_folder(tmp_path / "net")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_text_that_is_written(tmp_path: Path) -> None:
    roads = RoadNetwork.of([0, 0.5], [0, 0], [0, 1], [1, 0], road_class=[0, -1], classes=("street",))
    write_roads(roads, tmp_path / "net")
    assert (tmp_path / "net" / "nodes.csv").read_text() == "node_id,x,y\n0,0,0\n1,0.5,0\n"
    edges = (tmp_path / "net" / "edges.csv").read_text().splitlines()
    assert edges == ["from,to,length,class,oneway", '0,1,0.5,"street",1', "1,0,0.5,,1"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["svg", "png"])
def test_networks_can_be_drawn(tmp_path: Path, kind: str) -> None:
    draw(lattice_roads(), tmp_path / f"town.{kind}")
    assert (tmp_path / f"town.{kind}").stat().st_size > 1000
    with pytest.raises(InputError, match="a picture can be"):
        draw(lattice_roads(), tmp_path / "town.bmp")


@pytest.mark.slow
def test_a_street_of_two_ways_is_drawn_once(tmp_path: Path) -> None:
    draw(lattice_roads(3), tmp_path / "town.svg")
    drawing = (tmp_path / "town.svg").read_text().partition('id="LineCollection_1"')[2]
    # Twelve streets of a lattice of 3 x 3 junctions, each travelled both ways.
    assert drawing.count("<path ") == 12


def named_roads() -> RoadNetwork:
    """A corner: a street of two ways with a name, cut into two pieces, and a bent way back."""
    roads = RoadNetwork.of(
        [0, 100, 200],
        [0, 0, 50],
        source=[0, 1, 1],
        target=[1, 2, 0],
        seconds=[10, 10, 10],
        road_class=[0, 0, 1],
        classes=("primary", "service"),
        shape=([50], [20], [0, 0, 0, 1]),
        crs="EPSG:32633",
    )
    return replace(
        roads,
        edge_id=np.array(["a b", "a b", "a b"]),
        backward=np.array([False, False, True]),
        street=np.array(["Rue d'Église & Co", "", "Rue d'Église & Co"]),
    )


@pytest.mark.parametrize("name", ["roads", "roads.geojson", "roads.gpkg"])
def test_names_of_streets_are_written_and_read(tmp_path: Path, name: str) -> None:
    write_roads(named_roads(), tmp_path / name)
    found = read_roads(tmp_path / name, connected=False).street
    assert found is not None
    assert sorted(found.tolist()) == ["", "Rue d'Église & Co", "Rue d'Église & Co"]


def test_a_network_without_names_has_none(tmp_path: Path) -> None:
    write_roads(lattice_roads(3, 3), tmp_path / "roads")
    assert read_roads(tmp_path / "roads").street is None


def test_every_edge_of_sumo_has_a_name_of_its_own() -> None:
    assert edge_names(named_roads()) == ["a_b#0", "a_b#1", "-a_b"]
    # The names of two streets that differ in signs which SUMO does not allow.
    alike = replace(named_roads(), edge_id=np.array(["a b", "a_b", "a_b#0"]), backward=None)
    assert edge_names(alike) == ["0", "1", "2"]


def test_netconvert_makes_the_same_network(tmp_path: Path) -> None:
    sumo = pytest.importorskip("sumo")
    roads = lattice_roads(4, 4)
    roads = replace(roads, street=np.array([f"street {edge} <&>" for edge in range(roads.edges)]))
    write_roads(roads, tmp_path / "town.nod.xml")
    files = ["--node-files", "town.nod.xml", "--edge-files", "town.edg.xml", "-o", "town.net.xml"]
    program = str(Path(sumo.SUMO_HOME) / "bin" / "netconvert")
    subprocess.run([program, *files], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    found = read_roads(tmp_path / "town.net.xml")
    assert (found.nodes, found.edges) == (roads.nodes, roads.edges)
    assert found.street is not None
    assert sorted(found.street.tolist()) == sorted(roads.street.tolist() if roads.street is not None else [])
    # At the places where the streets are, although netconvert moves a network to the origin.
    assert found.bounds() == pytest.approx(roads.bounds(), abs=0.1)
