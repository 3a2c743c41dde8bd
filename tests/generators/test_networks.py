"""Trips on a given network: tables by any usual names, and a clear word about what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ldptrace import generators
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import FormatError, InputError
from ldptrace.roads import RoadNetwork, read_roads

SIDE, STEP = 8, 250


def network_trips(nodes: Any, edges: Any, count: int, seed: int = 1, **settings: Any) -> Trajectories:
    """Trips on the network of a seed."""
    world, day = np.random.default_rng(seed).spawn(2)
    return generators.network_traffic(nodes, edges, world, **settings).trips(count, day)


def write_grid(folder: Path, *, lost: bool = False) -> tuple[Path, Path]:
    """A network of SIDE x SIDE junctions; with `lost` also a pair of nodes far away, cut off."""
    nodes = [f"{100 + i * SIDE + j},{i * STEP},{j * STEP}" for i in range(SIDE) for j in range(SIDE)]
    pairs = [(i * SIDE + j, i * SIDE + j + 1) for i in range(SIDE) for j in range(SIDE - 1)]
    pairs += [(i * SIDE + j, (i + 1) * SIDE + j) for i in range(SIDE - 1) for j in range(SIDE)]
    edges = [f"{k},{100 + a},{100 + b},{k % 5}" for k, (a, b) in enumerate(pairs)]
    if lost:
        nodes += ["900,50000,50000", "901,50100,50000"]
        edges += ["999,900,901,3"]
    return (
        written(folder / "nodes.csv", ["node_id,x,y", *nodes]),
        written(folder / "edges.csv", ["edge_id,node1,node2,edge_class", *edges]),
    )


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_trips_stay_on_the_network(tmp_path: Path) -> None:
    trips = network_trips(*write_grid(tmp_path), 300, seed=1, noise=0.0, interval=5.0)
    on_line = np.minimum(np.abs(trips.x / STEP % 1), np.abs(trips.y / STEP % 1))
    on_line = np.minimum(on_line, np.minimum(1 - trips.x / STEP % 1, 1 - trips.y / STEP % 1))
    assert on_line.max() < 1e-9
    assert len(trips) == 300
    assert trips.crs is None


def test_the_seed_decides_everything(tmp_path: Path) -> None:
    files = write_grid(tmp_path)
    one, same, other = (network_trips(*files, 50, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.x, same.x)
    assert one.points != other.points or not np.array_equal(one.x, other.x)


def test_degrees_come_out_as_degrees(tmp_path: Path) -> None:
    nodes = written(tmp_path / "n.csv", ["osmid;lat;lon", "1;52.50;13.40", "2;52.51;13.41", "3;52.52;13.40"])
    edges = written(
        tmp_path / "e.csv", ["u;v;highway", "1;2;primary", "2;3;residential", "3;1;motorway_link"]
    )
    traffic = generators.network_traffic(nodes, edges, 1, noise=0.0)
    trips = traffic.trips(50, np.random.default_rng(1))
    assert trips.crs == "EPSG:4326"
    x0, y0, x1, y1 = trips.bounds()
    assert 13.4 - 1e-9 <= x0 <= x1 <= 13.41 + 1e-9
    assert 52.5 - 1e-9 <= y0 <= y1 <= 52.52 + 1e-9
    assert traffic.bounds[0] <= x0
    assert traffic.bounds[3] >= y1
    # A degree of latitude is 111 km everywhere, one of longitude 67.7 km here.
    assert np.ptp(traffic.roads.y) == pytest.approx(0.02 * 111_195)
    assert np.ptp(traffic.roads.x) == pytest.approx(0.01 * 67_690, rel=1e-3)
    assert traffic.network.crs == "EPSG:4326"
    np.testing.assert_allclose(traffic.network.x, [13.4, 13.41, 13.4])
    np.testing.assert_array_equal(traffic.network.seconds, traffic.roads.seconds)


def test_trips_follow_one_way_streets_and_bends() -> None:
    # A ring that is driven one way round, with a bend on every side.
    side = np.array([0, 1000, 1000, 0]), np.array([0, 0, 1000, 1000])
    bend = ([500.0, 1200.0, 500.0, -200.0], [-200.0, 500.0, 1200.0, 500.0], [0, 1, 2, 3, 4])
    ring = np.arange(4)
    roads = RoadNetwork.of(*side, ring, np.roll(ring, -1), seconds=np.full(4, 100.0), shape=bend)
    traffic = generators.network_traffic(roads, seed=1, noise=0.0, interval=5.0)
    assert traffic.network is roads
    trips = traffic.trips(200, np.random.default_rng(1))
    inner = np.ones(trips.points - 1, dtype=bool)
    inner[trips.offsets[1:-1] - 1] = False
    angle = np.arctan2(trips.y - 500, trips.x - 500)
    turned = (np.diff(angle) + np.pi) % (2 * np.pi) - np.pi
    assert turned[inner].min() > -1e-9
    assert trips.x.max() > 1100
    assert trips.y.min() < -100


def test_any_road_network_will_do(tmp_path: Path) -> None:
    write_grid(tmp_path)
    from_folder = network_trips(tmp_path, None, 50, seed=1)
    from_network = network_trips(read_roads(tmp_path), None, 50, seed=1)
    np.testing.assert_array_equal(from_folder.x, from_network.x)


def test_a_part_that_is_cut_off_is_told_and_left_empty(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="2 of 66 nodes are cut off"):
        trips = network_trips(*write_grid(tmp_path, lost=True), 200, seed=1)
    assert trips.x.max() < 10_000


def test_two_nodes_are_enough(tmp_path: Path) -> None:
    nodes = written(tmp_path / "n.csv", ["id,x,y", "a,0,0", "b,500,0"])
    edges = written(tmp_path / "e.csv", ["from,to", "a,b"])
    trips = network_trips(nodes, edges, 20, seed=1, noise=0.0)
    assert trips.sizes.min() >= 2
    assert trips.x.min() >= 0
    assert trips.x.max() <= 500


def test_minutes_are_met_where_the_map_allows(tmp_path: Path) -> None:
    files = write_grid(tmp_path)
    trips = network_trips(*files, 3000, seed=1, interval=5.0, minutes=2.0)
    assert (trips.sizes.mean() - 1.5) * 5 / 60 == pytest.approx(2.0, rel=0.1)
    with pytest.raises(InputError, match="minutes on average, not 60"):
        network_trips(*files, 1, minutes=60.0)


NODES = ["node_id,x,y", "1,0,0", "2,100,0", "3,200,0"]
EDGES = ["node1,node2,edge_class", "1,2,3", "2,3,3"]


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        (["node_id,x", "1,0"], EDGES, "no columns x and y or lon and lat; its columns are node_id, x"),
        (["name,x,y", "1,0,0"], EDGES, "no column node_id or id"),
        (["node_id,x,y", "1,zero,0", "2,1,1"], EDGES, "column x of .* not numbers"),
        (["node_id,x,y", "1,nan,0", "2,1,1"], EDGES, "column x of .* no finite number in line 2"),
        ([*NODES, "2,5,5"], EDGES, "names a node twice: '2'"),
        (NODES, ["node1,edge_class", "1,3"], "no column to or v"),
        (
            NODES,
            ["node1,node2", "1,2", "2,7"],
            "line 3 of .* leads to the node '7', which nodes.csv does not have",
        ),
        (
            NODES,
            ["node1,node2,highway", "1,2,footway"],
            "there are no roads for cars in it .omitted: 1 not for cars",
        ),
        (
            NODES,
            ["node1,node2,edge_class", "1,1,3"],
            "no roads for cars in it .omitted: 1 from a node to itself",
        ),
        (NODES, ["node1,node2,edge_class"], "there are no roads in it"),
        ([""], EDGES, "nodes.csv"),
    ],
)
def test_wrong_tables_are_told(tmp_path: Path, nodes: list[str], edges: list[str], message: str) -> None:
    files = written(tmp_path / "nodes.csv", nodes), written(tmp_path / "edges.csv", edges)
    with pytest.raises(InputError, match=message):
        network_trips(*files, 1)


def test_missing_and_binary_files_are_told(tmp_path: Path) -> None:
    _, edges = write_grid(tmp_path)
    with pytest.raises(InputError, match=r"there is no file .*nowhere"):
        network_trips(tmp_path / "nowhere.csv", edges, 1)
    broken = tmp_path / "broken.csv"
    broken.write_bytes(b"\xff\xfe\x00\x01" * 50)
    with pytest.raises(FormatError, match="is not a table of text columns"):
        network_trips(broken, edges, 1)
