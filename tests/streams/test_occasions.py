from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.streams.occasions import Occasions, arrivals, tally_of_step
from statistics_kit import assert_proportion, assert_same_law
from stream_kit import BOUNDS, lines


def test_shown_every_trip_reports_on_arrival(rng: np.random.Generator) -> None:
    trips = lines(50, rng)
    empty = Trajectories(trips.x, trips.y, np.append(trips.offsets, trips.offsets[-1]), t=trips.t)
    found = Occasions.shown(empty, (0.0, 1e9))
    assert found.time.tolist() == sorted(arrivals(trips).tolist())
    assert sorted(found.trip.tolist()) == list(range(50))
    assert np.isnan(arrivals(empty)[-1])
    # Whoever arrives at the very beginning or end is one of them.
    first, last = (float(extreme(arrivals(trips))) for extreme in (np.min, np.max))
    assert Occasions.shown(trips, (first, last)).time.tolist() == found.time.tolist()


def test_hidden_the_rule_of_standing_plans(rng: np.random.Generator) -> None:
    """Every device answers each window once; every trip enters one answer at most, that of its own window."""
    trips = lines(400, rng, span=4000.0)
    device = rng.integers(0, 60, 400)
    device[:60] = np.arange(60)
    found = Occasions.hidden(trips, device, 1000.0, (0.0, 4500.0), rng)
    named = found.trip[found.trip >= 0]
    assert len(np.unique(named)) == len(named)
    arrived = arrivals(trips)[named]
    reported = found.time[found.trip >= 0]
    assert (reported >= arrived).all()
    assert (reported - arrived < 1000).all()
    # Four windows of a device end within 4.5 times their length, a fifth for half of them.
    assert 4 * 60 <= len(found.time) <= 5 * 60
    assert (np.diff(found.time) >= 0).all()


def test_hidden_each_device_has_a_phase_of_its_own_and_answers_about_any_of_its_trips(
    rng: np.random.Generator,
) -> None:
    """Each of 2,000 devices has two trips in its only window."""
    devices = 2000
    ends = np.column_stack([np.zeros(2 * devices), np.full(2 * devices, 0.5)]).ravel()
    trips = Trajectories(np.zeros(len(ends)), np.zeros(len(ends)), np.arange(0, len(ends) + 1, 2), t=ends)
    found = Occasions.hidden(trips, np.repeat(np.arange(devices), 2), 1000.0, (0.0, 1000.0), rng)
    assert_same_law(found.time, 1000 * (np.arange(devices) + 0.5) / devices)
    told = found.trip[found.trip >= 0]
    assert_proportion(int((told % 2).sum()), len(told), 0.5)


def test_hidden_a_device_without_a_trip_answers_too(rng: np.random.Generator) -> None:
    nobody = Trajectories(np.zeros(2), np.zeros(2), [0, 2, 2, 2], t=np.array([5.0, 9.0]))
    found = Occasions.hidden(nobody, np.arange(3), 10.0, (0.0, 10.0), rng)
    assert len(found.time) == 3
    assert (found.trip == -1).sum() >= 2


@pytest.mark.parametrize("arrival", [np.nan, -1.0, 10.5, 1.7e9])
def test_a_trip_without_a_time_or_outside_the_stream_is_not_reported(arrival: float) -> None:
    trips = Trajectories(np.zeros(4), np.zeros(4), [0, 2, 4], t=np.array([5.0, 6.0, 5.0, arrival]))
    hidden = Occasions.hidden(trips, np.arange(2), 4.0, (0.0, 10.0), np.random.default_rng(1))
    assert 1 not in hidden.trip
    assert 0 in hidden.trip
    assert Occasions.shown(trips, (0.0, 10.0)).trip.tolist() == [0]


def test_the_time_of_a_report_does_not_depend_on_trips() -> None:
    trips = lines(100, np.random.default_rng(1))
    other = lines(100, np.random.default_rng(2))
    one, two = (
        Occasions.hidden(each, np.arange(100), 3600.0, (0.0, 3600.0), np.random.default_rng(7))
        for each in (trips, other)
    )
    assert one.time.tolist() == two.time.tolist()


def test_a_step_has_the_reports_until_its_end(rng: np.random.Generator) -> None:
    found = Occasions(np.array([1.0, 2.0, 3.0]), np.array([7, 8, -1]))
    assert found.between(1.0, 2.0).tolist() == [8]
    assert found.between(-np.inf, 3.0).tolist() == [7, 8, -1]


def test_devices_without_a_trip_are_counted(rng: np.random.Generator) -> None:
    plan = Plan.single_report(Grid(BOUNDS, 3), 1.0)
    trips = lines(20, rng)
    tally = tally_of_step(plan, trips, np.array([3, 4, -1, -1, 5]), rng)
    assert sum(tally.users) == 5
    assert sum(tally_of_step(plan, trips, np.empty(0, dtype=np.int64), rng).users) == 0
    assert sum(tally_of_step(plan, trips, np.array([-1, -1]), rng).users) == pytest.approx(2)
