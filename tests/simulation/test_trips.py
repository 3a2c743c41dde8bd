from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation_data import drifting_walks
from ldptrace.core.paths import CellPaths
from ldptrace.core.timing import Timing
from ldptrace.core.trajectories import Trajectories
from ldptrace.device import trip_of
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.questions import Pace
from ldptrace.simulation.trips import Trips
from ldptrace.simulation.unit import with_counts

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


def test_devices_keep_4096_points() -> None:
    """The same points as the device keeps, of long trajectories only; blocks are cut by what was there."""
    rng = np.random.default_rng(4)
    sizes = np.array([5, 4096, 4097, 0, 9001])
    x, y, t = (rng.random(sizes.sum()) * 10 for _ in range(3))
    trips = Trajectories(x, y, np.concatenate(([0], np.cumsum(sizes))), t=t)
    found = Trips.of(trips, GRID)
    np.testing.assert_array_equal(np.diff(found.offsets), sizes)
    assert found.timing is not None
    for number, (start, stop) in enumerate(zip(trips.offsets[:-1], trips.offsets[1:], strict=True)):
        points = list(zip(x[start:stop], y[start:stop], t[start:stop], strict=True))
        device = trip_of(points, GRID)
        path = found.paths.cells[found.paths.offsets[number] : found.paths.offsets[number + 1]]
        assert path.tolist() == device.path
        assert len(device.points) == min(stop - start, 4096)
        if points:
            assert (found.timing.departure[number], found.timing.arrival[number]) == (t[start], t[stop - 1])
            assert found.timing.ways(1, 2)[number] == pytest.approx(Pace(4, 1, 2, 1, 2, 0).way(device))


def test_counts_go_with_their_trips() -> None:
    trips = with_counts(TRIPS, np.arange(30))
    whole = Trips.of(trips, GRID)
    assert whole.counts is not None
    assert whole.part(3, 9).counts.tolist() == list(range(3, 9))  # type: ignore[union-attr]
    assert whole.take([7, 2]).counts.tolist() == [7, 2]  # type: ignore[union-attr]
    assert Trips.concat([whole.part(0, 4), whole.part(4, 30)]).counts.tolist() == list(range(30))  # type: ignore[union-attr]
    assert Trips.concat([whole, Trips.of(TRIPS, GRID)]).counts is None
