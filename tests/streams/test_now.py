from __future__ import annotations

import pickle

import numpy as np
import pytest

from ldptrace.core.area import Area
from ldptrace.curator.estimates import Estimates
from ldptrace.models.fit import CONTINUED
from ldptrace.models.path.model import observed
from ldptrace.models.routes.model import RouteModel
from ldptrace.models.routes.options import StreetOptions
from ldptrace.models.space_time import TimedModel
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads.network import RoadNetwork
from ldptrace.streams.now import Now, PathRefit, RouteRefit
from ldptrace.streams.occasions import tally_of_step
from ldptrace.streams.run import QUESTIONS
from road_kit import lattice_roads
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


def test_a_step_in_which_hardly_anybody_had_a_trip_weighs_a_little(rng: np.random.Generator) -> None:
    now, nobody = Now(PLAN, 600.0), np.full(20_000, -1)
    now.add(tally_of_step(PLAN, lines(9, rng), nobody, rng), 600.0)
    # Each of the 20,000 reports is one of some question, and counts a twentieth.
    assert now.memory.sums.users == pytest.approx(1_000)


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


pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ldptrace.errors.FitWarning")]


def estimates(plan: Plan, users: int, rng: np.random.Generator) -> Estimates:
    return Estimates.from_tally(plan, tally_of_step(plan, lines(users, rng), np.arange(users), rng))


def test_a_fit_goes_on_from_the_one_before(rng: np.random.Generator) -> None:
    plan = Plan.single_report(Grid((0, 0, 6000, 6000), 3), 2.0)
    refit = PathRefit()
    assert refit.answers_of_trips() == {}
    first, second = estimates(plan, 4000, rng), estimates(plan, 4000, rng)
    refit.fit(first, observed(first))
    refit.fit(second, observed(second))
    cold = PathRefit()
    cold.fit(second, observed(second))
    assert refit.latest is not None
    assert cold.latest is not None
    warm_answers, cold_answers = refit.answers_of_trips(), cold.answers_of_trips()
    for name, seen in second.items():
        errors = np.abs(warm_answers[name] - cold_answers[name]) / seen.std_errors
        assert errors.max() < 2, name


def test_trips_that_streets_do_not_explain_are_drawn_from_paths(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Straight lines all over the map, of which the only street runs along the southern border."""
    monkeypatch.setattr("ldptrace.streams.now.ROUTES", 500)
    plan = Plan.single_report(Grid((0, 0, 6000, 6000), 3), 8.0)
    west, east = np.arange(12), np.arange(1, 13)
    x, y = np.arange(0.0, 6001.0, 500.0), np.full(13, 100.0)
    street = RoadNetwork.of(x, y, np.r_[west, east], np.r_[east, west])
    refit = RouteRefit(street, plan, rng, Area.of([[[(0, 0), (6000, 0), (6000, 6000), (0, 6000)]]]))
    many = estimates(plan, 6000, rng)
    model = refit.fit(many, observed(many))
    assert isinstance(model, RouteModel)
    assert model.elsewhere > 0.5
    # Devices with a trip elsewhere answer too.
    trips = refit.answers_of_trips()
    assert trips["start"].sum() == pytest.approx(1.0, abs=0.1)
    only = RouteRefit(street, plan, rng, streets=StreetOptions(off_streets="never")).fit(many, observed(many))
    assert isinstance(only, RouteModel)
    assert only.paths is None
    assert model.paths is not None
    assert model.paths.area is not None


def test_questions_that_nobody_was_asked_at_first_count_later(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quiet hour at the start: a few reports to one question, then reports to all; fewer again change nothing."""
    monkeypatch.setattr("ldptrace.streams.now.ROUTES", 500)
    roads = lattice_roads(9, 700.0)
    x0, y0, x1, y1 = roads.bounds()
    plan = Plan.single_report(Grid((x0 - 1, y0 - 1, x1 + 1, y1 + 1), 3), 2.0)
    refit, some = RouteRefit(roads, plan, rng), estimates(plan, 500, rng)
    for seen in (observed(some)[:1], observed(some), observed(some)[:2]):
        refit.fit(some, seen)
        assert set(refit.answers_of_trips()) == {each.name for each in seen}


def test_on_streets_the_library_stays_until_far_more_is_known(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ldptrace.streams.now.ROUTES", 2000)
    monkeypatch.setattr("ldptrace.streams.now.SEARCHES", (3000.0,))
    roads = lattice_roads(9, 700.0)
    x0, y0, x1, y1 = roads.bounds()
    plan = Plan.single_report(Grid((x0 - 1, y0 - 1, x1 + 1, y1 + 1), 3), 2.0)
    refit = RouteRefit(roads, plan, rng)
    nothing = Estimates.from_tally(plan, tally_of_step(plan, lines(1, rng), np.empty(0, dtype=np.int64), rng))
    alone = refit.fit(nothing, [])
    few, many = estimates(plan, 500, rng), estimates(plan, 4000, rng)
    first = refit.fit(few, observed(few))
    again = refit.fit(few, observed(few))
    searched = refit.fit(many, observed(many))
    models = [alone, first, again, searched]
    assert all(isinstance(model, RouteModel) for model in models)
    edges = [model.routes.edges for model in models if isinstance(model, RouteModel)]
    assert edges[0] is edges[1] is edges[2]
    assert edges[3] is not edges[2]
