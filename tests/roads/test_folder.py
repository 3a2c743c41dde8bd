"""A folder of two tables is read as the design says."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ldptrace.errors import FormatError, InputError
from ldptrace.roads import RoadNetwork, read_roads

Writer = Callable[[str, str], Path]
NODES = "node_id,x,y\na,0,0\nb,100,0\nc,100,100\n"


def pairs(roads: RoadNetwork) -> list[tuple[float, float]]:
    """Edges as (x of source + y, x of target + y): 0, 100 and 200 are the nodes a, b, c."""
    place = roads.x + roads.y
    return sorted(zip(place[roads.source].tolist(), place[roads.target].tolist(), strict=True))


def test_oneway_is_one_zero_or_empty_and_a_second_row_changes_nothing(write_tables: Writer) -> None:
    once = read_roads(write_tables(NODES, "from,to,oneway\na,b,0\nb,c,\nc,a,1\n"))
    assert pairs(once) == [(0, 100), (100, 0), (100, 200), (200, 0), (200, 100)]
    twice = read_roads(write_tables(NODES, "from,to,oneway\na,b,0\nb,a,0\nb,c,\nc,b,\nc,a,1\n"))
    assert pairs(twice) == pairs(once)
    assert not twice.report.dropped_streets
    assert once.report.line() == twice.report.line()


@pytest.mark.parametrize("ends", ["from,to", "u,v", "node1,node2", "source,target"])
@pytest.mark.parametrize("node", ["node_id,x,y", "id,x,y", "osmid;lon;lat"])
def test_usual_names_are_known(write_tables: Writer, ends: str, node: str) -> None:
    nodes = f"{node}\n" + "\n".join(["7,0,0", "8,0.01,0", "9,0,0.01"]).replace(
        ",", ";" if ";" in node else ","
    )
    roads = read_roads(write_tables(nodes, f"{ends}\n7,8\n8,9\n9,7\n"))
    assert (roads.nodes, roads.edges) == (3, 6)
    assert roads.crs == ("EPSG:4326" if "lon" in node else None)
    assert roads.seconds is None
    assert any("not known" in note for note in roads.report.notes)


def test_times_come_from_seconds_then_speed_then_limit_then_class(write_tables: Writer) -> None:
    edges = (
        "from,to,length,seconds,speed_kmh,maxspeed,highway,oneway\n"
        "a,b,100,7,36,,primary,1\n"
        "b,a,100,,36,,primary,1\n"
        "b,c,100,,,18,primary,1\n"
        "c,b,100,,,,residential,1\n"
    )
    roads = read_roads(write_tables(NODES, edges))
    assert roads.seconds is not None
    assert roads.seconds.tolist()[:3] == pytest.approx([7, 10, 20])
    assert roads.seconds[3] == pytest.approx(100 / (22 / 1.35**3))
    assert [roads.classes[code] for code in roads.road_class] == ["primary"] * 3 + ["residential"]
    assert "speeds by road class on 25 % of the edges" in roads.report.notes


def test_numbered_classes_are_slower_the_higher_they_are(write_tables: Writer) -> None:
    roads = read_roads(write_tables(NODES, "node1,node2,edge_class\na,b,0\nb,c,2\nc,a,6\n"))
    assert roads.seconds is not None
    speed = roads.length / roads.seconds
    np.testing.assert_allclose(speed[:3], [22, 22 / 1.35**2, 4])


def test_lengths_of_the_file_are_used_where_it_has_them(write_tables: Writer) -> None:
    roads = read_roads(write_tables(NODES, "from,to,length_m\na,b,130\nb,c,\n"))
    assert sorted(roads.length.tolist()) == [100, 100, 130, 130]


def test_lengths_in_another_unit_are_measured_anew(write_tables: Writer) -> None:
    roads = read_roads(write_tables(NODES, "from,to,length\na,b,0.1\nb,c,0.1\n"))
    assert roads.length.tolist() == [100] * 4
    assert any("0.001 times what the coordinates say" in note for note in roads.report.notes)


def test_packed_tables_and_a_loose_pair_are_read(tmp_path: Path) -> None:
    (tmp_path / "town_nodes.csv.gz").write_bytes(gzip.compress(NODES.encode()))
    (tmp_path / "town_edges.csv.gz").write_bytes(gzip.compress(b"from,to\na,b\nb,c\n"))
    assert read_roads(tmp_path).edges == 4
    (tmp_path / "village_nodes.csv").write_text(NODES)
    with pytest.raises(InputError, match=r"of \*nodes.csv 2 of them"):
        read_roads(tmp_path)


def test_walkers_go_both_ways_at_their_own_pace(write_tables: Writer) -> None:
    folder = write_tables(NODES, "from,to,highway,maxspeed,oneway\na,b,primary,50,1\nb,c,motorway,120,1\n")
    roads = read_roads(folder, "foot")
    assert pairs(roads) == [(0, 100), (100, 0)]
    assert roads.seconds is not None
    np.testing.assert_allclose(roads.seconds, 100 / 1.35)
    assert roads.report.dropped_streets == {"not for people on foot": 1}


@pytest.mark.parametrize(
    ("nodes", "edges", "words"),
    [
        (NODES, "from,to\na,b\nb,nowhere\n", "line 3 of .*leads to the node 'nowhere', which nodes.csv"),
        (NODES, "from,to\n", "there are no roads in it"),
        (NODES, "from,to\na,a\n", "there are no roads for cars in it .left out: 1 from a node to itself"),
        (NODES, "from,to,highway\na,b,footway\n", "no roads for cars in it .left out: 1 not for cars"),
        (NODES, "from,to,oneway\na,b,maybe\n", "oneway is 1 or yes, 0 or no, -1 or empty, not 'maybe'"),
        (NODES, "from,to,length\na,b,-5\n", "column length of .* is negative in line 2: -5"),
        (NODES, "von,nach\na,b\n", "has no column from or u .* its columns are von, nach"),
        (NODES + "a,5,5\n", "from,to\na,b\n", "names a node twice: 'a'"),
        ("node_id,x,y\na,0,\n", "from,to\na,a\n", "column y of .* has no finite number in line 2"),
        ("node_id,lon,lat\na,1,200\nb,1,2\n", "from,to\na,b\n", "latitudes within ±89"),
        (NODES, "from,to,oneway\na,b,1\nb,c,1\n", "no two of its 3 nodes can be reached from each other"),
    ],
)
def test_bad_tables_get_one_sentence(write_tables: Writer, nodes: str, edges: str, words: str) -> None:
    folder = write_tables(nodes, edges)
    with pytest.raises(InputError, match=words) as caught:
        read_roads(folder)
    assert str(caught.value).startswith(str(folder))
    assert "\n" not in str(caught.value)


def test_a_folder_written_is_the_folder_read(write_tables: Writer, tmp_path: Path) -> None:
    bend = '"LINESTRING (100 0, 150 50, 100 100)"'
    edges = f"from,to,highway,oneway,geometry\na,b,primary,0,\nb,c,,1,{bend}\nc,a,path,1,\n"
    roads = read_roads(write_tables(NODES, edges), "foot")
    roads.to_folder(tmp_path / "out")
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
        roads.to_folder(tmp_path / "out" / "nodes.csv")


def test_unknown_files_and_modes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "roads.dwg").write_text("")
    with pytest.raises(FormatError, match=r"nodes.csv and edges.csv, or a file .osm.pbf"):
        read_roads(tmp_path / "roads.dwg")
    with pytest.raises(InputError, match="there is no file or folder"):
        read_roads(tmp_path / "nothing.graphml")
    with pytest.raises(InputError, match="the mode can be car, bicycle, foot, not 'boat'"):
        read_roads(tmp_path / "roads.dwg", "boat")


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
        roads.to_folder(folder)
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
