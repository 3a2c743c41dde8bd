"""Road networks: the columns, their checks, parts and lines."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.errors import InputError
from ldptrace.roads.network import RoadNetwork


def square(**more: object) -> RoadNetwork:
    """Four corners 100 apart, both ways round, and a one-way street out to a fifth node."""
    there, back = [0, 1, 2, 3], [1, 2, 3, 0]
    return RoadNetwork.of(
        [0, 100, 100, 0, 300],
        [0, 0, 100, 100, 0],
        [*there, *back, 1],
        [*back, *there, 4],
        **more,  # type: ignore[arg-type]
    )


def test_largest_component_is_strong_and_counts_what_it_leaves_out() -> None:
    part = square().largest_component()
    assert (part.nodes, part.edges) == (4, 8)
    assert sum(part.report.dropped.values()) == 1
    assert sum(part.report.dropped_nodes.values()) == 1
    assert part.report.nodes == 4


def test_opposite_pairs_the_two_ways_of_a_street() -> None:
    roads = square()
    assert roads.opposite.tolist() == [4, 5, 6, 7, 0, 1, 2, 3, -1]


def test_opposite_tells_parallel_streets_apart_by_their_length() -> None:
    roads = RoadNetwork.of([0, 10], [0, 0], [0, 0, 1, 1], [1, 1, 0, 0], length=[10, 30, 30, 10])
    assert roads.opposite.tolist() == [3, 2, 1, 0]


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
    assert part.report.dropped == {"outside the bounds": 7}
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
