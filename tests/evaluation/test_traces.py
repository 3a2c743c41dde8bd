"""Traces of lines: additive, complete, right by hand."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation_data import drifting_walks, timed
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.distances import travel_distances
from ldptrace.evaluation.traces import FINE, Traces, coarser
from ldptrace.protocol.grid import Grid

SQUARE = (0.0, 0.0, 10.0, 10.0)


GRID = Grid(SQUARE, 6)


TABLES = [column.name for column in fields(Traces) if column.name not in {"grid", "fixes"}]


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(1, 39))
def test_traces_of_batches_add_up(seed: int, cut: int) -> None:
    whole = timed(drifting_walks(40, seed), seed)
    parts = [whole.take(np.arange(cut)), whole.take(np.arange(cut, 40))]
    total, expected = Traces.of(whole[:0], GRID), Traces.of(whole, GRID)
    for part in parts:
        total = total + Traces.of(part, GRID)
    for name in (*TABLES, "fixes"):
        assert np.allclose(getattr(total, name), getattr(expected, name), rtol=1e-12, atol=1e-9)


@settings(max_examples=15)
@given(st.integers(0, 1000))
def test_lengths_and_times_are_all_there(seed: int) -> None:
    trips = timed(drifting_walks(30, seed), seed)
    traces = Traces.of(trips, GRID)
    spent = trips.t[trips.offsets[1:] - 1] - trips.t[trips.offsets[:-1]]  # type: ignore[index]
    assert traces.way.sum() == pytest.approx(travel_distances(trips).sum())
    assert traces.stay.sum() == pytest.approx(spent.sum())
    assert traces.presence.sum() == pytest.approx(spent.sum())
    assert traces.fixes.sum() == trips.points
    assert traces.departures.sum() == traces.trips.sum() == traces.durations.sum() == 30


def test_weights_count_a_trip_several_times() -> None:
    trips = timed(drifting_walks(20, 1), 1)
    times = np.arange(20) % 3
    weighted, repeated = (
        Traces.of(trips, GRID, times),
        Traces.of(trips.take(np.repeat(np.arange(20), times)), GRID),
    )
    for name in (*TABLES, "fixes"):
        assert np.allclose(getattr(weighted, name), getattr(repeated, name))


def test_a_line_by_hand() -> None:
    # Along the bottom of the map, for half an hour around nine: half of it before, half after.
    line = Trajectories([0.0, 10.0], [0.1, 0.1], [0, 2], t=[8.75 * 3600, 9.25 * 3600])
    traces = Traces.of(line, GRID)
    assert np.allclose(traces.way[:, 1], 10 / FINE, rtol=1e-3)
    assert traces.way.sum() == pytest.approx(10.0)
    hours = traces.presence.sum(axis=(0, 1))
    assert hours[8] == pytest.approx(900)
    assert hours[9] == pytest.approx(900)
    assert traces.departures[8 * 60 + 45] == 1
    # The western half of the map was left by nine.
    assert traces.presence[:12, :, 8].sum() == pytest.approx(900, rel=1e-3)
    assert coarser(traces.way, 24).shape == (24, 24)


def test_midnight_is_passed_hour_by_hour() -> None:
    still = Trajectories([5.0, 5.0], [5.0, 5.0], [0, 2], t=[23 * 3600.0, 26 * 3600.0])
    hours = Traces.of(still, GRID).presence.sum(axis=(0, 1))
    assert hours[[23, 0, 1]].tolist() == [3600, 3600, 3600]
    assert hours.sum() == 3 * 3600
