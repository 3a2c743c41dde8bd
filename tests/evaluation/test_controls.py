from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.controls import map_alone, plain_routing, shortest_ways, usable_roads
from ldptrace.evaluation.streets import StreetMap
from ldptrace.protocol.grid import Grid
from ldptrace.roads.network import RoadNetwork

SIDE, BLOCK = 11, 200.0


BOUNDS = (0.0, 0.0, 2000.0, 2000.0)


def chessboard() -> RoadNetwork:
    """Streets every 200 m, both ways."""
    x, y = (axis.ravel() * BLOCK for axis in np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"))
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    a = np.concatenate((number[:-1].ravel(), number[:, :-1].ravel()))
    b = np.concatenate((number[1:].ravel(), number[:, 1:].ravel()))
    return RoadNetwork.of(x, y, np.concatenate((a, b)), np.concatenate((b, a)))


def trips(count: int, seed: int, *, east_first: float = 0.5, off: float = 0.0) -> Trajectories:
    """Two legs each, one to the east and one to the north, along streets, `off` them to the side."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        (x0, x1), (y0, y1) = (np.sort(rng.choice(SIDE, 2, replace=False)) * BLOCK for _ in range(2))
        corner = (x1, y0) if rng.random() < east_first else (x0, y1)
        lines.append([(x + off, y + off) for x, y in ((x0, y0), corner, (x1, y1))])
    return Trajectories.from_lists(lines)


@pytest.fixture(scope="module")
def streets() -> StreetMap:
    return StreetMap.of(chessboard())


def test_shortest_ways_are_shortest() -> None:
    roads = chessboard()
    rng = np.random.default_rng(1)
    start, end = rng.integers(0, roads.nodes, (2, 50))
    edges, offsets = shortest_ways(roads, start, end)
    for k in range(50):
        way = edges[offsets[k] : offsets[k + 1]]
        apart = abs(roads.x[start[k]] - roads.x[end[k]]) + abs(roads.y[start[k]] - roads.y[end[k]])
        assert roads.length[way].sum() == pytest.approx(apart)
        if len(way):
            assert (roads.source[way[0]], roads.target[way[-1]]) == (start[k], end[k])
            assert np.array_equal(roads.target[way[:-1]], roads.source[way[1:]])


def test_plain_routing_keeps_the_ends() -> None:
    roads, lines = chessboard(), trips(40, 2, off=10.0)
    routed = plain_routing(roads, lines, np.random.default_rng(1))
    assert len(routed) == 40
    first, last = routed.offsets[:-1], routed.offsets[1:] - 1
    assert np.allclose(routed.x[first], lines.x[lines.offsets[:-1]] - 10)
    assert np.allclose(routed.y[last], lines.y[lines.offsets[1:] - 1] - 10)
    # A trip within a block has no way to go, and stays.
    still = plain_routing(roads, Trajectories.from_lists([[(3, 3), (9, 9)]]), np.random.default_rng(1))
    assert still.x.tolist() == [3, 9]


def test_the_map_alone_is_on_streets(streets: StreetMap) -> None:
    alone = map_alone(chessboard(), np.random.default_rng(1), 500)
    assert len(alone) == 500
    assert streets.match(alone).on_streets == pytest.approx(1.0)


def test_maps_of_other_places_are_refused() -> None:
    roads = chessboard()
    with pytest.raises(InputError, match="none of its roads lies in the bounds"):
        usable_roads(roads, Grid((1e6, 1e6, 2e6, 2e6), 6), None)
    labelled = RoadNetwork.of(roads.x, roads.y, roads.source, roads.target, crs="EPSG:25832")
    with pytest.raises(InputError, match="EPSG:25832 and the trajectories are in EPSG:4326"):
        usable_roads(labelled, Grid(BOUNDS, 6), "EPSG:4326")
