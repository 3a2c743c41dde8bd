"""A folder of two tables is read as the design says."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from ldptrace.errors import InputError
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


def test_packed_tables_and_a_loose_pair_are_read(tmp_path: Path) -> None:
    (tmp_path / "town_nodes.csv.gz").write_bytes(gzip.compress(NODES.encode()))
    (tmp_path / "town_edges.csv.gz").write_bytes(gzip.compress(b"from,to\na,b\nb,c\n"))
    assert read_roads(tmp_path).edges == 4
    (tmp_path / "village_nodes.csv").write_text(NODES)
    with pytest.raises(InputError, match=r"of \*nodes.csv 2 of them"):
        read_roads(tmp_path)


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
