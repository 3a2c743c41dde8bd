from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation_data import CITY, chessboard, legs
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.controls import map_alone, plain_routing, shortest_ways
from ldptrace.evaluation.evaluator import evaluate
from ldptrace.evaluation.measured import StreetUse
from ldptrace.roads.matching import StreetIndex
from ldptrace.roads.network import RoadNetwork


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
    roads, lines = chessboard(), legs(40, 2, off=10.0)
    routed = plain_routing(roads, lines, np.random.default_rng(1))
    assert len(routed) == 40
    first, last = routed.offsets[:-1], routed.offsets[1:] - 1
    assert np.allclose(routed.x[first], lines.x[lines.offsets[:-1]] - 10)
    assert np.allclose(routed.y[last], lines.y[lines.offsets[1:] - 1] - 10)
    # A trip within a block has no way to go, and stays.
    still = plain_routing(roads, Trajectories.from_lists([[(3, 3), (9, 9)]]), np.random.default_rng(1))
    assert still.x.tolist() == [3, 9]


def test_the_map_alone_is_on_streets() -> None:
    alone = map_alone(chessboard(), np.random.default_rng(1), 500)
    assert len(alone) == 500
    assert StreetUse.of(StreetIndex.of(chessboard()), alone).on_streets == pytest.approx(1.0)


def test_maps_of_other_places_are_refused() -> None:
    roads, trips = chessboard(), legs(20, 1)
    with pytest.raises(InputError, match="there are no roads in the bounds"):
        evaluate(trips, trips, roads=replace(roads, x=roads.x + 1e6), bounds=CITY)
    labelled = RoadNetwork.of(roads.x, roads.y, roads.source, roads.target, crs="EPSG:25832")
    with pytest.raises(
        InputError, match="its coordinates are EPSG:25832, those of the trajectories EPSG:3857"
    ):
        evaluate(*[replace(trips, crs="EPSG:3857")] * 2, roads=labelled, bounds=CITY)
