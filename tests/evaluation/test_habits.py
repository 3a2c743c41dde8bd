from __future__ import annotations

import math

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.traces import drawn_again, habits_of
from ldptrace.protocol.grid import Grid

GRID = Grid((0, 0, 12, 12), 6)


def test_habits_by_hand() -> None:
    trips = Trajectories.from_lists(
        [[(0.5, 0.5), (3, 9), (4.5, 0.5)], [(4.5, 0.5), (0.5, 0.5)], [(1.5, 1.5), (1.5, 1.5)], [(0.5, 3.5)]]
    )
    found = habits_of(trips, np.array([9, 9, 4, 4]), GRID)
    # Users are in the order of their numbers: 4, then 9.
    assert found["trips"].tolist() == [2, 2]
    assert found["places"].tolist() == [2, 2]
    # Visits of user 4: twice (1.5, 1.5), twice (0.5, 3.5); of user 9: twice (0.5, 0.5), twice (4.5, 0.5).
    assert found["radii"] == pytest.approx([math.hypot(0.5, 1.0), 2.0])


def test_radii_of_degrees_are_metres() -> None:
    trips = Trajectories.from_lists([[(0.0, -0.005), (0.0, 0.005)]], crs="EPSG:4326")
    found = habits_of(trips, np.array([1]), Grid((-1, -1, 1, 1), 6))
    assert found["radii"] == pytest.approx([6_371_008.8 * math.radians(0.005)])


def test_a_bootstrap_draws_whole_users() -> None:
    trips = Trajectories.from_lists([[(0.5, 0.5)]] * 3)
    found = drawn_again(habits_of(trips, np.array([1, 2, 2]), GRID), np.random.default_rng(3))
    assert len(found["trips"]) == 2
    assert set(found["trips"].tolist()) <= {1, 2}
