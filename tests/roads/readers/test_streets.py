from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ldptrace.errors import InputError
from ldptrace.roads import RoadNetwork, read_roads
from ldptrace.roads.readers.streets import Streets

Writer = Callable[[str, str], Path]
NODES = "node_id,x,y\na,0,0\nb,100,0\nc,100,100\n"


def pairs(roads: RoadNetwork) -> list[tuple[float, float]]:
    """Edges as (x of source + y, x of target + y): 0, 100 and 200 are the nodes a, b, c."""
    place = roads.x + roads.y
    return sorted(zip(place[roads.source].tolist(), place[roads.target].tolist(), strict=True))


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
    assert "speeds by road class on 25 % of the edges" in roads.account.notes


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
    assert any("0.001 times what the coordinates say" in note for note in roads.account.notes)


def test_walkers_go_both_ways_at_their_own_pace(write_tables: Writer) -> None:
    folder = write_tables(NODES, "from,to,highway,maxspeed,oneway\na,b,primary,50,1\nb,c,motorway,120,1\n")
    roads = read_roads(folder, "foot")
    assert pairs(roads) == [(0, 100), (100, 0)]
    assert roads.seconds is not None
    np.testing.assert_allclose(roads.seconds, 100 / 1.35)
    assert roads.account.dropped_streets == {"not for people on foot": 1}


def line(**more: object) -> Streets:
    """Three nodes in a row, two streets both ways."""
    unknown = np.full(2, np.nan)
    both = np.ones(2, dtype=bool)
    plain = Streets(
        *(np.array([0.0, 100.0, 200.0]), np.zeros(3), np.array([0, 1]), np.array([1, 2]), both, both),
        *(np.full(2, -1, dtype=np.int32), (), unknown, unknown, unknown, unknown),
    )
    return replace(plain, **more)  # type: ignore[arg-type]


def test_directions_make_edges() -> None:
    roads = line(forward=np.array([True, False]), backward=np.array([False, True])).network("car", "a")
    assert pairs(roads) == [(0, 100), (200, 100)]
    assert pairs(line(forward=np.zeros(2, dtype=bool)).network("foot", "a")) == pairs(
        line().network("car", "a")
    )


def test_bends_are_turned_on_the_way_back() -> None:
    shape = (np.array([20.0, 80.0]), np.array([5.0, 9.0]), np.array([0, 2, 2]))
    roads = line(shape=shape).network("car", "a")
    there = int(np.flatnonzero((roads.source == 0) & (roads.target == 1))[0])
    back = int(np.flatnonzero((roads.source == 1) & (roads.target == 0))[0])
    assert roads.lines([there])[1].tolist() == [0, 5, 9, 0]
    assert roads.lines([back])[1].tolist() == [0, 9, 5, 0]


def test_nodes_and_classes_that_nobody_uses_are_left_away() -> None:
    kind = np.array([0, 1], dtype=np.int32)
    roads = line(kind=kind, kinds=("residential", "footway", "primary")).network("car", "a")
    assert (roads.nodes, roads.classes) == (2, ("residential",))
    assert roads.account.dropped_streets == {"not for cars": 1}
    assert roads.account.dropped_nodes == {"without a road": 1}


def test_speeds_that_nobody_knows_are_those_of_a_street() -> None:
    roads = line(speed=np.array([36.0, np.nan])).network("car", "a")
    assert roads.seconds is not None
    np.testing.assert_allclose(np.sort(roads.seconds), [10, 10, 100 / (22 / 1.35**3), 100 / (22 / 1.35**3)])
    assert any(
        "neither speed nor class is known on 50 % of the edges" in note for note in roads.account.notes
    )


def test_streets_that_lead_nowhere_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"there are no roads for cars in it \(omitted: 2 from a node to itself"
    ):
        line(end=np.array([0, 1])).network("car", "a")
