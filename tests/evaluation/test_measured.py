from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaluation_data import drifting_walks
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.local import Memory
from ldptrace.evaluation.measured import (
    Measured,
    Pass,
    chosen,
    on_local_clocks,
    timed_walks,
)
from ldptrace.evaluation.traces import Traces
from ldptrace.protocol.grid import Grid
from statistics_kit import assert_same_law

GRID = Grid((0.0, 0.0, 10.0, 10.0), 6)


def timed(trips: Trajectories, leave: float = 30_000.0) -> Trajectories:
    """A minute from point to point, from the same hour on."""
    step = np.arange(trips.points) - np.repeat(trips.offsets[:-1], trips.sizes)
    return replace(trips, t=leave + 60.0 * step + np.repeat(np.arange(len(trips)), trips.sizes))


def test_blocks_are_measured_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = timed(drifting_walks(60, 1))
    once = Measured.of(whole, GRID)
    monkeypatch.setattr("ldptrace.engines.blocks.POINTS", 50)
    parts = Measured.of(whole, GRID)
    assert len(parts.summary.tables.blocks) > 5
    np.testing.assert_array_equal(parts.summary.density, once.summary.density)
    np.testing.assert_allclose(parts.traces.presence, once.traces.presence)
    assert np.array_equal(parts.trajectories.x, whole.x)


def test_a_sample_and_bootstraps_of_lines() -> None:
    """A tenth of 2000 trajectories, and weights that add up to sizes: within six standard deviations, or 1e-9."""
    whole = timed(drifting_walks(2000, 1))
    rng = np.random.default_rng(3)
    reading = Pass(GRID, None, {}, True, 0.1, rng, {500: 0.25, 6000: 3.0}, np.random.default_rng(4))
    measured, again = Measured.by(reading, Memory(whole), None, rng)
    assert abs(len(measured.trajectories) - 200) < 6 * np.sqrt(180)
    assert len(measured.summary) == 2000
    for size, other in again.items():
        assert abs(other.traces.trajectories - size) < 6 * np.sqrt(size)
    assert len(Trajectories.concat(Memory(whole).add_up(reading.chosen, []))) == len(measured.trajectories)


def test_another_size_of_the_same_set() -> None:
    measured = Measured.of(drifting_walks(40, 1), GRID)
    larger = measured.resized(500)
    assert len(larger.summary) == 500
    assert larger.traces is measured.traces


def test_random_trips_are_few_and_all_different() -> None:
    trips = Trajectories.from_lists([[(float(k), 0.0)] for k in range(50)])
    few = chosen(trips, 20, np.random.default_rng(1))
    assert len(few) == 20
    assert np.all(np.diff(few.x) > 0)
    assert chosen(trips, 50, np.random.default_rng(1)) is trips


def test_dates_are_put_on_the_clocks_of_their_zone() -> None:
    trip = Trajectories([0], [0], [0, 1], t=[1.7e9], timezone="Asia/Tokyo")
    local = on_local_clocks(trip)
    assert local.t is not None
    assert local.t.tolist() == [1.7e9 + 9 * 3600]
    plain = replace(trip, timezone=None)
    assert on_local_clocks(plain) is plain


def test_walks_without_knowledge_leave_at_any_time() -> None:
    real = Traces.of(timed(drifting_walks(60, 1)), GRID)
    walks = drifting_walks(2000, 2)
    rng = np.random.default_rng(3)
    found = timed_walks(walks, real, rng)
    assert found.t is not None
    leave = found.t[found.offsets[:-1]]
    assert_same_law(leave, rng.random(2000) * 86_400)
    inner = np.ones(found.points - 1, dtype=bool)
    inner[found.offsets[1:-1] - 1] = False
    assert np.diff(found.t)[inner].min() > 0
    assert timed_walks(walks, Traces.of(walks, GRID), rng) is walks
