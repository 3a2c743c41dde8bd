from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation_data import drifting_walks
from ldptrace.core.paths import CellPaths
from ldptrace.core.timing import Timing
from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid
from ldptrace.simulation.trips import Trips

GRID = Grid((0, 0, 10, 10), 4)
TRIPS = drifting_walks(30, 1)
TIMED = replace(TRIPS, t=np.arange(TRIPS.points) * 60.0)


def assert_same(found: Trips, expected: Trajectories) -> None:
    paths = CellPaths.from_trajectories(expected, GRID)
    np.testing.assert_array_equal(found.paths.cells, paths.cells)
    np.testing.assert_array_equal(found.paths.offsets, paths.offsets)
    np.testing.assert_array_equal(np.diff(found.offsets), expected.sizes)
    assert (len(found), found.points) == (len(expected), expected.points)
    assert (found.timing is None) == (expected.t is None)
    if found.timing is not None:
        timing = Timing.of(expected)
        np.testing.assert_array_equal(found.timing.departure, timing.departure)
        np.testing.assert_array_equal(found.timing.arrival, timing.arrival)
        np.testing.assert_array_equal(found.timing.ways(1, 2), timing.ways(1, 2))


@pytest.mark.parametrize("trips", [TRIPS, TIMED], ids=["no times", "times"])
def test_parts_of_trips_are_walks_of_parts(trips: Trajectories) -> None:
    walks = Trips.of(trips, GRID)
    assert_same(walks, trips)
    assert_same(walks.part(3, 17), trips.part(3, 17))
    assert_same(walks.part(3, 17).part(2, 5), trips.part(5, 8))
    assert_same(walks.take([4, 2, 9]), trips.take([4, 2, 9]))
    assert_same(walks.take(trips.sizes > 4), trips.take(trips.sizes > 4))
    cuts = [walks.part(0, 7), walks.part(7, 7), walks.part(7, 30)]
    assert_same(Trips.concat(cuts), trips)


def test_some_without_times_make_all_without() -> None:
    mixed = Trips.concat([Trips.of(TRIPS, GRID), Trips.of(TIMED, GRID)])
    assert mixed.timing is None
    assert len(mixed) == 60
