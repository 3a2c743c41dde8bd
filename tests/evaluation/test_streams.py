"""Positions tick by tick, and what they add up to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation_data import densified
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.streams import Clock, Counts, Frame, Positions, StreamTables, spans
from ldptrace.protocol.grid import Grid
from tick_kit import GRID, ticking

CLOCK = Clock(10.0, 0.0, 40)


def test_a_position_in_each_tick_of_a_trip() -> None:
    trips = Trajectories([0, 4, 8, 1], [0, 4, 0, 1], [0, 3, 4], t=[5.0, 25.0, 45.0, 33.0])
    found = Positions.of(trips, CLOCK)
    assert found.tick.tolist() == [0, 1, 2, 3, 4, 3]
    assert found.x.tolist() == [0, 1, 3, 5, 7, 1]
    assert found.y.tolist() == [0, 1, 3, 3, 1, 1]
    # Shuffled in time, and as a walk that knows nothing: as many positions at as many ticks.
    moved = found.begun_at(np.array([7, 0]))
    assert moved.tick.tolist() == [7, 8, 9, 10, 11, 0]
    blind = found.wandering(GRID, np.random.default_rng(1))
    cells = blind.cells(GRID)
    steps = np.abs(np.diff(np.stack(np.divmod(cells[:5], GRID.n)), axis=1))
    assert steps.max() <= 1
    assert np.array_equal(blind.tick, found.tick)


def test_moments_a_hair_before_a_tick_belong_to_it() -> None:
    tick = 15.6
    times = np.arange(500) * tick
    assert Clock(tick, 0.0, 500).at(times).tolist() == list(range(500))
    assert Clock(tick, 0.0, 500).at(np.nextafter(times[1:], 0)).tolist() == list(range(1, 500))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_tables_do_not_depend_on_how_densely_a_trip_is_sampled(seed: int, more: int) -> None:
    trips = ticking(12, seed)
    frame = Frame.of(GRID, CLOCK, np.random.default_rng(1))
    once, again = (StreamTables.of(each, frame) for each in (trips, densified(trips, more)))
    np.testing.assert_array_equal(again.density.keys, once.density.keys)
    np.testing.assert_allclose(again.lengths[0], once.lengths[0])
    np.testing.assert_allclose(again.answers, once.answers)
    np.testing.assert_allclose(again.coverage, once.coverage)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 11))
def test_blocks_add_up_and_weights_repeat(seed: int, cut: int) -> None:
    trips = ticking(12, seed)
    frame = Frame.of(GRID, CLOCK, np.random.default_rng(2))
    whole = StreamTables.of(trips, frame)
    parts = StreamTables.of(trips[:cut], frame) + StreamTables.of(trips[cut:], frame)
    twice = StreamTables.of(trips, frame, np.full(12, 2.0))
    for table, other, double in (
        (whole.density, parts.density, twice.density),
        (whole.patterns[-1], parts.patterns[-1], twice.patterns[-1]),
        (whole.ends, parts.ends, twice.ends),
    ):
        np.testing.assert_array_equal(other.keys, table.keys)
        np.testing.assert_allclose(other.values, table.values)
        np.testing.assert_allclose(double.values, 2 * table.values)
    np.testing.assert_allclose(parts.answers, whole.answers)
    assert parts.trips == 12
    # A block of which no trip is left.
    none = StreamTables.of(trips, frame, np.zeros(12))
    assert (none + whole).trips == 12
    assert none.answers.sum() == none.coverage.sum() == len(none.density.keys) == 0


def test_trips_that_begin_in_the_warm_up_are_not_of_the_history() -> None:
    trips = Trajectories([1, 2, 3, 4], [1, 1, 2, 2], [0, 2, 4], t=[0.0, 100.0, 150.0, 200.0])
    late = Clock(10.0, 0.0, 40, start=10)
    tables = StreamTables.of(trips, Frame.of(GRID, late, np.random.default_rng(1)))
    assert [len(lengths) for lengths in tables.lengths] == [1]
    assert tables.density.totals(40)[:10].sum() == 0
    assert tables.density.totals(40)[10] == 1


def test_large_tables_are_counted_as_small_ones() -> None:
    keys, weight = np.array([3, 3, 0]) * (1 << 31) + [1 << 30, 1 << 30, 5], np.array([1.0, 2.0, 1.0])
    found = Counts.of(1 << 31, keys, weight)
    assert found.keys.tolist() == [5, 3 * (1 << 31) + (1 << 30)]
    assert found.values.tolist() == [1.0, 3.0]
    items, counts = found.between(1, 4)
    assert (items.tolist(), counts.tolist()) == ([1 << 30], [3.0])


def test_a_clock_begins_with_the_first_trip_and_refuses_a_warm_up_without_end() -> None:
    trips = Trajectories([1, 2, 3], [1, 1, 1], [0, 2, 3], t=[100.0, 160.0, 130.0])
    found = spans(trips) + spans(trips.take(np.arange(0)))
    clock = Clock.of(found, 20.0, 1)
    assert (clock.origin, clock.ticks, clock.window) == (100.0, 4, 3)
    with pytest.raises(InputError, match="4 ticks of 20 s: compare from tick 0 to 2 on, got 3"):
        Clock.of(found, 20.0, 3)


def test_grids_that_are_too_fine_for_patterns_are_refused() -> None:
    with pytest.raises(InputError, match="on at most 36 cells per side, got 100"):
        Frame.of(Grid((0, 0, 10, 10), 100), Clock(1.0, 0.0, 1000), np.random.default_rng(1))
