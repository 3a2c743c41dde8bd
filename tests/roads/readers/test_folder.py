"""A folder of two tables is read as the design says."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.errors import FormatError, InputError
from ldptrace.roads import RoadNetwork, read_roads
from ldptrace.roads.coverage import in_pieces
from ldptrace.roads.readers.folder import find, need, numbers, optional_numbers, positions, read_table

HERE = Path("nodes.csv")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_header_tells_what_parts_the_columns(tmp_path: Path, delimiter: str, packed: bool) -> None:
    text = "\ufeffNode ID,x\r\n007,1.5\r\n".replace(",", delimiter).encode()
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    table = read_table(path, text=["node_id"])
    assert table.to_pydict() == {"Node ID": ["007"], "x": [1.5]}


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_table(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("a,b\n1,2,3\n")
    with pytest.raises(FormatError, match="is not a table of text columns"):
        read_table(tmp_path / "a.csv")


def test_columns_by_the_first_of_their_names() -> None:
    table = pa.table({"ID": [1], "Node-Id": [2]})
    assert find(table, ("node_id", "id")) == "Node-Id"
    assert find(table, ("osmid",)) is None
    with pytest.raises(FormatError, match=r"nodes\.csv has no column u or from; its columns are ID, Node-Id"):
        need(table, ("u", "from"), HERE)


def test_numbers_that_must_be_and_numbers_that_may_be() -> None:
    table = pa.table({"a": [1, None], "b": ["1", "two"], "c": [1.0, np.inf]})
    np.testing.assert_array_equal(optional_numbers(table, "a", HERE), [1, np.nan])
    with pytest.raises(FormatError, match=r"column b of nodes\.csv holds values that are not numbers"):
        optional_numbers(table, "b", HERE)
    for name in ("a", "c"):
        with pytest.raises(FormatError, match=f"column {name} of .* has no finite number in line 3"):
            numbers(table, name, HERE)


def test_places_on_a_plane_or_on_the_earth() -> None:
    columns = {"x": [1], "y": [2], "lon": [3], "lat": [4]}
    x, y, degrees = positions(pa.table(columns), HERE)
    assert (x.tolist(), y.tolist(), degrees) == ([1], [2], False)
    x, y, degrees = positions(pa.table({"x": [1], "lon": [3], "lat": [4]}), HERE)
    assert (x.tolist(), y.tolist(), degrees) == ([3], [4], True)
    with pytest.raises(FormatError, match="no columns x and y or lon and lat; its columns are x, lat"):
        positions(pa.table({"x": [1], "lat": [2]}), HERE)


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
    assert not twice.account.dropped_streets
    assert once.account.line() == twice.account.line()


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
    assert any("not known" in note for note in roads.account.notes)


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
        (NODES, "from,to\na,a\n", "there are no roads for cars in it .omitted: 1 from a node to itself"),
        (NODES, "from,to,highway\na,b,footway\n", "no roads for cars in it .omitted: 1 not for cars"),
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


@pytest.mark.parametrize("named", [True, False])
def test_edges_keep_their_names_or_rows_also_in_pieces(tmp_path: Path, named: bool) -> None:
    (tmp_path / "nodes.csv").write_text("id,x,y\n1,0,0\n2,100,0\n3,300,0\n")
    rows = ["7,1,2,0", "9,2,3,1", "12,3,2,1"]
    text = "\n".join(["edge_id,from,to,oneway", *rows])
    if not named:
        text = "\n".join(["from,to,oneway", *(row.partition(",")[2] for row in rows)])
    (tmp_path / "edges.csv").write_text(text + "\n")
    roads = read_roads(tmp_path)
    known = dict(zip(["7", "9", "12"] if named else ["0", "1", "2"], [(0, 1), (1, 2), (2, 1)], strict=True))
    assert roads.edge_id is not None
    assert roads.backward is not None
    for edge in range(roads.edges):
        ends = int(roads.source[edge]), int(roads.target[edge])
        assert known[roads.edge_id[edge]] == (ends[::-1] if roads.backward[edge] else ends)
    assert roads.backward.sum() == 1
    pieces = in_pieces(roads, 60.0)
    assert pieces.edge_id is not None
    assert sorted(pieces.edge_id) == sorted([*roads.edge_id[[0, 3]]] * 2 + [*roads.edge_id[[1, 2]]] * 4)
