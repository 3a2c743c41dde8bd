"""The search for a library that suits the answers, and fits that go on from another."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from ldptrace.core.paths import CellPaths
from ldptrace.curator.estimates import Estimates
from ldptrace.errors import FitWarning
from ldptrace.models.path.model import observed
from ldptrace.models.routes.fitted import Cut, Fitted
from ldptrace.models.routes.search import SMALL, parts_of, searched
from ldptrace.models.routes.strides import DRAWN
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads.library import Library, zones_of
from ldptrace.simulation import collect
from road_kit import lattice_roads

GRID = Grid((0, 0, 1900, 1900), 3)
ROADS = lattice_roads(20)


@pytest.fixture(scope="module")
def estimates() -> Estimates:
    """Half of all trips begin in one corner."""
    rng = np.random.default_rng(0)
    routes = Library(routes=20_000).draw(ROADS, rng)
    corner = zones_of(ROADS, GRID)[routes.edges[routes.offsets[:-1]]] == 0
    chances = np.where(corner, 9.0, 1.0)
    trips = routes.take(rng.choice(len(routes), 20_000, p=chances / chances.sum()))
    plan = Plan.single_report(GRID, 2.0, for_map=True)
    return Estimates.from_tally(plan, collect(plan, CellPaths.from_trajectories(trips.points(), GRID), rng))


def test_all_routes_are_drawn_in_parts() -> None:
    for routes in (1, 5, SMALL - 1, SMALL, 300_000):
        until = parts_of(routes)
        assert until[0] == 0
        assert until[-1] == routes
        assert np.all(np.diff(until) > 0)
    assert len(parts_of(SMALL)) > len(parts_of(SMALL - 1))


@pytest.mark.slow
def test_a_search_finds_what_is_odd_and_keeps_all_it_drew(estimates: Estimates) -> None:
    seen, told = observed(estimates), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        rng = np.random.default_rng(2)
        fitted, alone, drivers = searched(ROADS, Library(routes=6000), estimates, seen, rng, told.append)
    # On few cells kinds of drivers are assumed.
    assert not drivers.clear
    assert drivers.odds == 0
    assert len(fitted.routes) == len(fitted.weights) == len(fitted.strides.kind) == 6000
    assert told == sorted(told)
    assert told[-1] == 1.0
    starts = zones_of(ROADS, GRID)[fitted.routes.edges[fitted.routes.offsets[:-1]]]
    # Half of the trips begin in the corner, by the map alone a ninth; seeded, so no luck is involved.
    assert fitted.weights[starts == 0].sum() == pytest.approx(0.5, abs=0.1)
    for ours, public in zip(fitted.matches(seen), alone, strict=True):
        assert ours.question == public.question
    assert sum(match.chi2 for match in fitted.matches(seen)) < 0.5 * sum(match.chi2 for match in alone)
    # The library leans: the corner has more routes than the broad law would give it, and strides that weigh more
    # are drawn more often.
    assert np.mean(starts == 0) > 0.2
    shares, kind = fitted.strides.shares(fitted.weights), fitted.strides.kind
    assert np.mean(kind == shares.argmax()) > max(DRAWN)


@pytest.mark.slow
def test_a_fit_goes_on_where_another_ended(estimates: Estimates) -> None:
    seen, rng = observed(estimates), np.random.default_rng(3)
    routes = Library(routes=3000).draw(ROADS, rng)
    cut = Cut.of(routes, GRID, rng)
    first = Fitted.of(routes, cut, estimates, seen)
    second = Fitted.of(routes, cut, estimates, seen, first)
    assert second.fit.rounds < first.fit.rounds
    for name, answers in first.fit.expected.items():
        # Standard errors of these answers are about 0.04.
        np.testing.assert_allclose(second.fit.expected[name], answers, atol=0.03)
    assert first.scales().shape == (first.fit.model.places,)
