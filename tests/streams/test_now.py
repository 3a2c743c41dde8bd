from __future__ import annotations

import pickle

import numpy as np
import pytest

from ldptrace.models.fit import CONTINUED
from ldptrace.models.space_time import TimedModel
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.streams.now import Now
from ldptrace.streams.occasions import tally_of_step
from ldptrace.streams.run import QUESTIONS
from stream_kit import BOUNDS, lines

PLAN = Plan.single_report(Grid(BOUNDS, 3), 2.0, questions=QUESTIONS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_a_model_of_now_follows_the_reports(rng: np.random.Generator) -> None:
    """Everybody is in the west; half of the devices of the last step have no trip."""
    now = Now(PLAN, 600.0)
    public = now.travellers(500, rng, 30.0)
    assert (public.x > 4000).mean() > 0.2
    trips = lines(6000, rng, west=np.ones(6000, dtype=bool))
    for number in range(3):
        which = np.arange(number * 2000, number * 2000 + 2000)
        if number == 2:
            which[::2] = -1
        now.add(tally_of_step(PLAN, trips, which, rng), 600.0 * number)
    assert isinstance(now.model, TimedModel)
    drawn = now.travellers(500, rng, 30.0)
    assert drawn.t is not None
    assert (drawn.t[drawn.offsets[:-1]] == 0).all()
    assert (drawn.x[drawn.offsets[:-1]] > 4000).mean() < 0.1
    # Five standard errors.
    assert abs(now.with_trip.value - 0.5) < 5 * now.with_trip.std_error
    assert now.with_trip.std_error < 0.1
    assert len(now.travellers(0, rng, 30.0)) == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_a_plan_that_asks_nothing_about_time_has_a_model_of_space(rng: np.random.Generator) -> None:
    now = Now(Plan.single_report(Grid(BOUNDS, 3), 2.0), 600.0)
    now.add(tally_of_step(now.plan, lines(500, rng), np.arange(500), rng), 0.0)
    assert not isinstance(now.model, TimedModel)
    assert now.changes == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_after_a_change_the_model_is_that_of_the_reports_since(rng: np.random.Generator) -> None:
    """From west to east; nothing is named while steps are not complete."""
    trips = lines(8000, rng, west=np.arange(8000) < 6000)
    tallies = [tally_of_step(PLAN, trips, np.arange(2000) + 2000 * number, rng) for number in range(4)]
    now, waiting = Now(PLAN, 600.0), Now(PLAN, 600.0, warm_up=4)
    named = [len(now.add(tally, 600.0 * number)) for number, tally in enumerate(tallies)]
    assert named[:3] == [0, 0, 0]
    assert named[3] == len(now.changes) > 0
    assert not any(waiting.add(tally, 600.0 * number) for number, tally in enumerate(tallies))
    drawn = now.travellers(500, rng, 30.0)
    assert (drawn.x[drawn.offsets[:-1]] > 3000).mean() > 0.75


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_where_devices_report_on_arrival_long_trips_are_drawn_more_often(rng: np.random.Generator) -> None:
    now = Now(PLAN, 600.0)
    assert len(now.travellers(10, rng, 30.0, start=0.0)) == 10
    now.add(tally_of_step(PLAN, lines(2000, rng), np.arange(2000), rng), 600.0)
    durations = np.array([0.0, 150.0, 300.0, 590.0])
    assert now._reported(durations, 0.0).tolist() == [1.0, 0.75, 0.5, 0.25]
    # Long after the start nobody is missing, nor where only the last reports are remembered.
    assert now._reported(durations, -1e9) == pytest.approx(np.ones(4))
    short = Now(PLAN, 600.0, remember=60.0)
    short.add(tally_of_step(PLAN, lines(200, rng), np.arange(200), rng), 600.0)
    assert short._reported(durations[:3], 0.0) == pytest.approx(np.ones(3), abs=0.04)
    drawn = [now.travellers(2000, np.random.default_rng(1), 30.0, start) for start in (None, 300.0)]
    assert [len(each) for each in drawn] == [2000, 2000]
    assert drawn[1].sizes.mean() > 1.1 * drawn[0].sizes.mean()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")
def test_a_step_takes_bounded_work_and_leaves_a_bounded_state(rng: np.random.Generator) -> None:
    """Answers that are precise and that no model of paths explains quite: a fit could go on for long."""
    plan, trips = Plan.single_report(Grid(BOUNDS, 3), 6.0, questions=QUESTIONS), lines(20_000, rng)
    now, tally = Now(plan, 600.0), tally_of_step(plan, trips, np.arange(20_000), rng)
    rounds, sizes = [], []
    for number in range(6):
        now.add(tally, 600.0 * number)
        assert now._refit.latest is not None
        rounds.append(now._refit.latest.rounds)
        sizes.append(len(pickle.dumps(now._refit)))
    assert rounds[0] > CONTINUED
    assert max(rounds[1:]) <= CONTINUED
    assert max(sizes) < min(sizes) + 500
