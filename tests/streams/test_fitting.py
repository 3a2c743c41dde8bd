from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.area import Area
from ldptrace.curator.estimates import Estimates
from ldptrace.models.path.model import observed
from ldptrace.models.routes.model import RouteModel
from ldptrace.models.routes.options import StreetOptions
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads.network import RoadNetwork
from ldptrace.streams import fitting
from ldptrace.streams.fitting import PathRefit, RouteRefit
from ldptrace.streams.occasions import tally_of_step
from road_kit import lattice_roads
from stream_kit import lines

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
    monkeypatch.setattr(fitting, "ROUTES", 500)
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
    monkeypatch.setattr(fitting, "ROUTES", 500)
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
    monkeypatch.setattr(fitting, "ROUTES", 2000)
    monkeypatch.setattr(fitting, "SEARCHES", (3000.0,))
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
