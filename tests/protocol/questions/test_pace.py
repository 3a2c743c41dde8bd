"""Speeds in classes that begin at their edges, along each axis in its own scale."""

from __future__ import annotations

import math
from itertools import pairwise

from ldptrace.protocol.questions import Pace
from ldptrace.protocol.questions.pace import edge
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip

SPEEDS = Pace(4, 1000, 1000, 2000, 26, 0)


def test_speed_classes_begin_at_their_edges() -> None:
    edges = [edge(k, 2000) for k in range(25)]
    assert all(math.isclose(b / a, 2**0.25) for a, b in pairwise(edges))
    for k, metres in enumerate(edges):
        for way, item in ((metres, k + 1), (math.nextafter(metres, 0.0), k)):
            # 3.6 * way in millimetres over 3600 seconds is the speed in metres per hour.
            trip = Trip([0], [(0.0, 0.0), (way, 0.0)], 0.0, 3600.0)
            assert abs(SPEEDS.answer(Occasion(trip), Source())[0][0] - item) <= (
                0 if k % 4 == 0 and item == k + 1 else 1
            )
    assert SPEEDS.answer(Occasion(Trip([0], [(5.0, 5.0)], 0.0, 60.0)), Source()) == [[0]]
    assert SPEEDS.answer(Occasion(Trip([0], [(0.0, 0.0), (1e7, 0.0)], 0.0, 60.0)), Source()) == [[25]]
    assert SPEEDS.words(0) == "slower than 2 km/h"
    assert SPEEDS.words(25) == "128 km/h or faster"


def test_scales_stretch_each_axis() -> None:
    degrees = Pace(4, 88_000_000, 111_195_000, 2000, 26, 0)
    east, north = (Trip([0], [(0.0, 0.0), step], 0.0, 360.0) for step in ((0.01, 0.0), (0.0, 0.01)))
    assert degrees.way(east) == 880_000.0
    assert math.isclose(degrees.way(north), 1_111_950.0)
