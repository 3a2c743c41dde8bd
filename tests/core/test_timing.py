from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.timing import AT_END, Timing, slow_at_ends
from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.trips import LAST_CLOCK
from trajectory_kit import trajectory_sets


@given(trajectory_sets(min_points=0))
def test_first_and_last_point_of_each(trips: Trajectories) -> None:
    timing = Timing.of(trips)
    assert len(timing.departure) == len(timing.arrival) == len(trips)
    for k in range(len(trips)):
        if trips.t is None or trips.sizes[k] == 0:
            assert np.isnan(timing.departure[k])
            assert np.isnan(timing.arrival[k])
        else:
            assert timing.departure[k] == trips.t[trips.offsets[k]]
            assert timing.arrival[k] == trips.t[trips.offsets[k + 1] - 1]


def test_a_trip_that_takes_no_time_has_no_duration() -> None:
    trips = Trajectories([0] * 6, [0] * 6, [0, 2, 4, 6], t=[5, 5, 9, 4, 3, 10])
    np.testing.assert_array_equal(Timing.of(trips).seconds, [np.nan, np.nan, 7.0])


def test_one_unknown_end_makes_both_unknown() -> None:
    trips = Trajectories([0] * 4, [0] * 4, [0, 2, 4], t=[1, np.nan, 1, 2 * LAST_CLOCK])
    timing = Timing.of(trips)
    assert np.isnan(timing.departure).all()
    assert np.isnan(timing.arrival).all()


def test_hours_are_of_the_local_clock() -> None:
    trips = Trajectories([0], [0], [0, 1], t=[1.7e9], timezone="Europe/Berlin")
    assert Timing.of(trips).hours.tolist() == [(1_700_000_000 + 3600) // 3600]


def test_ways_are_stretched() -> None:
    trips = Trajectories([0, 3, 3, 7], [0, 0, 2, 7], [0, 3, 4])
    assert Timing.of(trips).ways(1, 1).tolist() == [5.0, 0.0]
    assert Timing.of(trips).ways(2, 10).tolist() == [26.0, 0.0]


def test_parts_are_those_of_their_trajectories() -> None:
    trips = Trajectories([0, 1, 2, 3], [0] * 4, [0, 1, 3, 4], t=[10, 20, 30, 40])
    timing = Timing.of(trips)
    for part in (timing.part(1, 3), timing.take([1, 2]), timing.take([False, True, True])):
        assert part.departure.tolist() == [20, 40]
        assert part.arrival.tolist() == [30, 40]
        assert part.ways(1, 1).tolist() == pytest.approx([1, 0])


@given(st.lists(st.lists(st.floats(0, 1e6), max_size=6), max_size=4))
def test_slow_ends_keep_the_sum_of_each_trip(trips: list[list[float]]) -> None:
    offsets = np.cumsum([0, *map(len, trips)])
    felt = slow_at_ends(offsets, np.array([step for trip in trips for step in trip], dtype=np.float64))
    assert (felt >= 0).all()
    for trip, first, last in zip(trips, offsets[:-1], offsets[1:], strict=True):
        # The first step of a trip leads to its first point, and does not count.
        assert felt[first:last].sum() == pytest.approx(sum(trip[1:]), rel=1e-7, abs=1e-9)
        assert felt[first : first + 1].sum() == 0


def test_both_ends_are_slow_alike_and_the_middle_is_even() -> None:
    felt = slow_at_ends(np.array([0, 101]), np.ones(101))[1:]
    assert felt == pytest.approx(felt[::-1])
    assert felt[:20].sum() == pytest.approx(20 * (1 - 2 * AT_END) + 100 * AT_END, rel=0.01)
    assert felt[30:70] == pytest.approx(1 - 2 * AT_END, rel=0.01)
