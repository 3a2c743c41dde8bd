"""Road networks: the columns, their checks, parts and lines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import InputError
from ldptrace.roads.network import RoadNetwork
from road_kit import square


def test_largest_component_is_strong_and_counts_what_it_leaves_out() -> None:
    part = square().largest_component()
    assert (part.nodes, part.edges) == (4, 8)
    assert sum(part.account.dropped.values()) == 1
    assert sum(part.account.dropped_nodes.values()) == 1
    assert part.account.nodes == 4


def test_opposite_pairs_the_two_ways_of_a_street() -> None:
    roads = square()
    assert roads.opposite.tolist() == [4, 5, 6, 7, 0, 1, 2, 3, -1]


def test_opposite_tells_parallel_streets_apart_by_their_length() -> None:
    roads = RoadNetwork.of([0, 10], [0, 0], [0, 0, 1, 1], [1, 1, 0, 0], length=[10, 30, 30, 10])
    assert roads.opposite.tolist() == [3, 2, 1, 0]


def test_opposite_of_a_street_beside_a_one_way_street() -> None:
    roads = RoadNetwork.of([0, 10], [0, 0], [0, 0, 1], [1, 1, 0], length=[10, 30, 30])
    assert roads.opposite.tolist() == [-1, 2, 1]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 3)), max_size=30))
def test_opposite_is_mutual_and_leads_back(edges: list[tuple[int, int, int]]) -> None:
    source, target, length = np.array(edges, dtype=np.int64).reshape(-1, 3).T
    roads = RoadNetwork.of(np.arange(5), np.zeros(5), source, target, length=length)
    paired = np.flatnonzero(roads.opposite >= 0)
    back = roads.opposite[paired]
    assert (roads.opposite[back] == paired).all()
    assert (roads.source[back] == roads.target[paired]).all()
    assert (roads.target[back] == roads.source[paired]).all()
    assert (back != paired).all()
    # As many pairs as there can be between any two nodes.
    for a in range(5):
        for b in range(a + 1, 5):
            there, again = (int(((source == p) & (target == q)).sum()) for p, q in ((a, b), (b, a)))
            between = (roads.source[paired] == a) & (roads.target[paired] == b)
            assert int(between.sum()) == min(there, again)


def test_lines_and_lengths_follow_the_shape() -> None:
    shape = ([50.0, 50.0], [0.0, 50.0], [0, 2, 2])
    roads = RoadNetwork.of([0, 0], [0, 50], [0, 1], [1, 0], shape=shape)
    assert roads.length.tolist() == [150.0, 50.0]
    x, y, offsets = roads.lines([1, 0])
    assert offsets.tolist() == [0, 2, 6]
    assert list(zip(x, y, strict=True))[2:] == [(0, 0), (50, 0), (50, 50), (0, 50)]
    assert roads.take_edges([1]).lines([0])[2].tolist() == [0, 2]
    leave, arrive = roads.headings
    np.testing.assert_allclose(np.degrees(leave), [0, -90])
    np.testing.assert_allclose(np.abs(np.degrees(arrive)), [180, 90])


def test_degrees_are_measured_in_metres() -> None:
    roads = RoadNetwork.of([11.0, 11.0], [60.0, 60.001], [0], [1], crs="EPSG:4326")
    assert roads.length[0] == pytest.approx(111.2, abs=0.2)


def test_given_lengths_win_and_missing_ones_are_measured() -> None:
    roads = RoadNetwork.of([0, 3, 3], [0, 4, 4], [0, 1, 1], [1, 0, 2], length=[np.nan, 7.0, 0.0])
    assert roads.length[:2].tolist() == [5.0, 7.0]
    assert roads.length[2] > 0


def test_clipping_keeps_the_streets_inside() -> None:
    part = square().clipped((-1, -1, 101, 50))
    assert (part.nodes, part.edges) == (2, 2)
    assert part.account.dropped == {"outside the bounds": 7}
    with pytest.raises(InputError, match="none of its roads lies in the bounds 1000,"):
        square().clipped((1000, 1000, 2000, 2000))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"target": [5]}, "leads to node 5, the nodes are 0 to 1"),
        ({"target": [0, 1]}, "column target has 2 values for 1 edges"),
        ({"x": [0, np.inf]}, "finite"),
        ({"y": [0]}, "2 values of x and 1 of y"),
        ({"seconds": [-1.0]}, "seconds must be a positive number"),
        ({"road_class": [2], "classes": ("street",)}, "index into 1 names"),
        ({"shape": ([1.0], [1.0], [0, 2])}, "shape_offsets must run from 0"),
    ],
)
def test_what_is_no_network_is_refused(columns: dict[str, object], words: str) -> None:
    good: dict[str, object] = {"x": [0, 1], "y": [0, 1], "source": [0], "target": [1]}
    with pytest.raises(InputError, match=words):
        RoadNetwork.of(**(good | columns))  # type: ignore[arg-type]


def test_one_way_streets_alone_make_no_network() -> None:
    with pytest.raises(InputError, match="no two of its 3 nodes"):
        RoadNetwork.of([0, 1, 2], [0, 0, 0], [0, 1], [1, 2]).largest_component()


def test_a_map_is_checked_against_what_it_is_for() -> None:
    side = np.arange(5) * 100.0
    x, y = (axis.ravel() for axis in np.meshgrid(side, side))
    east = np.array([k for k in range(25) if k % 5 < 4])
    ends = np.r_[east, np.arange(20)], np.r_[east + 1, np.arange(5, 25)]
    roads = RoadNetwork.of(x, y, np.r_[ends], np.r_[ends[::-1]], crs="EPSG:32632", name="town")
    roads.check_against((-50, -50, 500, 500), "epsg:32632")
    roads.check_against((-50, -50, 500, 500), None)
    for bounds, crs, words in (
        ((0, 0, 1, 1), "EPSG:4326", "its coordinates are EPSG:32632, those of the trajectories EPSG:4326"),
        (
            (900, 900, 1000, 1000),
            None,
            "no roads in the bounds 900,900,1000,1000; its roads lie in 0,0,400,400$",
        ),
        ((-8.7, -41.4, -8.4, -41.0), None, r"metres and degrees: other coordinates"),
        ((10, 10, 90, 90), None, "none of its roads lies in the bounds 10,10,90,90"),
        ((0, 0, 100, 100), None, "only 4 of its nodes lie in the bounds"),
    ):
        with pytest.raises(InputError, match=words):
            roads.check_against(bounds, crs)


def test_a_map_goes_into_other_coordinates() -> None:
    roads = RoadNetwork.of([13.4, 13.41], [52.5, 52.5], [0, 1], [1, 0], crs="EPSG:4326")
    projected = roads.to_crs("EPSG:32633")
    assert projected.crs == "EPSG:32633"
    np.testing.assert_allclose(projected.measured(), roads.length, rtol=0.003)
    with pytest.raises(InputError, match="its coordinate system is not known"):
        square().to_crs("EPSG:4326")


def test_a_torn_map_says_so() -> None:
    two = RoadNetwork.of([0, 1, 2, 3], [0, 0, 0, 0], [0, 1, 2, 3], [1, 0, 3, 2])
    assert two.largest_component().account.notes == (
        "its roads are disconnected: the largest part holds 50 % of them",
    )
