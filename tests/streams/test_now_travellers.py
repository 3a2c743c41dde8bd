from __future__ import annotations

import json
import math

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.models.observation import Share
from ldptrace.streams.now import NOMINAL, Hidden, Shown, Travellers


def two() -> Trajectories:
    """One goes 10 east in each tick of 5 s, for 12 s; one stays."""
    return Trajectories([0, 10, 20, 24, 7], [0, 0, 0, 0, 3], [0, 4, 5], t=[0.0, 5.0, 10.0, 12.0, 0.0])


def test_trips_are_on_the_clock_and_end_with_it() -> None:
    travellers = Travellers(5.0, 111.0)
    left = travellers.leave(two(), np.array([100.0, 130.0]))
    assert left.t is not None
    assert left.t.tolist() == [100.0, 105.0, 110.0]
    assert left.offsets.tolist() == [0, 3, 3]


def test_positions_are_between_points() -> None:
    travellers = Travellers(5.0, 1000.0)
    travellers.leave(two(), np.array([100.0, 103.0]))
    for time, ids, x in (
        (99.0, [], []),
        (100.0, [0], [0.0]),
        (102.0, [0], [4.0]),
        (103.0, [0, 1], [6.0, 7.0]),
        (111.0, [0], [22.0]),
        (112.5, [], []),
    ):
        who, where, _ = travellers.positions(time)
        assert who.tolist() == ids
        assert where.tolist() == x


def test_those_who_have_arrived_are_forgotten_and_numbers_go_on() -> None:
    travellers = Travellers(5.0, 1000.0)
    assert travellers.positions(0.0)[0].tolist() == []
    travellers.leave(two(), np.array([100.0, 103.0]))
    travellers.arrived(112.0)
    assert travellers._on_the_way == []
    travellers.leave(two(), np.array([200.0, 200.0]))
    assert travellers.positions(200.0)[0].tolist() == [2, 3]


def test_lines_are_ticks() -> None:
    travellers = Travellers(5.0, 1000.0)
    travellers.leave(two(), np.array([100.0, 103.0]))
    first, second = (json.loads(line) for line in travellers.lines(95.0, range(1, 3)))
    assert first == {"tick": 1, "time": 100.0, "trip": [0], "x": [0.0], "y": [0.0]}
    assert second["time"] == 105.0
    assert second["x"] == [10.0]


def test_shown_as_many_leave_as_arrived() -> None:
    rate = Shown(50.0)
    assert rate.per_second == NOMINAL / 50
    rate.add(200, Share(1.0, 0.1), 100.0)
    assert rate.per_second == 4.0


def test_hidden_the_slope_of_the_number_of_devices_with_a_trip(rng: np.random.Generator) -> None:
    """10 trips end in each second from second 100 on, of 20,000 devices; known to a thousand."""
    rate = Hidden(20_000, 2000.0, 0.0)
    for time in range(50, 1000, 100):
        share = max(10 * (time - 100), 0) / 20_000
        rate.add(1000, Share(share + rng.normal(0, 0.005), 0.005), float(time))
    assert rate.per_second == pytest.approx(10, rel=0.2)


def test_hidden_later_the_number_over_the_window() -> None:
    rate = Hidden(1000, 100.0, 0.0)
    for time in (50.0, 150.0, 250.0, 350.0):
        rate.add(10, Share(0.5, 0.01), time)
    assert rate.per_second == pytest.approx(5.0)


def test_hidden_nothing_new_changes_nothing() -> None:
    rate = Hidden(1000, 100.0, 0.0)
    before = rate.per_second
    rate.add(0, Share(0.5, 0.1), 10.0)
    rate.add(5, Share(1.0, math.inf), 20.0)
    assert rate.per_second == before == 10.0
