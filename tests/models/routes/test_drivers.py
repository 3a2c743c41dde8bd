"""Kinds of drivers: shares that the answers show, and equal ones where they do not."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from ldptrace.core.paths import CellPaths
from ldptrace.curator.estimates import Estimates
from ldptrace.models.observation import Observation
from ldptrace.models.path.model import longest
from ldptrace.models.routes.answers import PathTables
from ldptrace.models.routes.drivers import Drivers, likely_shares
from ldptrace.models.routes.ends import Ends
from ldptrace.models.routes.fitted import Cut, Fitted
from ldptrace.models.routes.weighting import Weighting
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads.library import Lean, Library
from ldptrace.simulation import collect
from road_kit import scattered_roads

KINDS = ((0.0, 0.15), (1.0, 0.15), (2.0, 0.15))
EQUAL = np.full(3, 1 / 3)


def likely(truth: list[float], knowledge: float) -> Drivers:
    """Answers whose log-probability is highest at the true shares, as sharply as `knowledge` says."""
    curvature = knowledge * np.diag([3.0, 2.0, 1.0])
    slope = curvature @ (np.array(truth) - EQUAL)
    return likely_shares(KINDS, EQUAL, slope, curvature, np.random.default_rng(0))


def test_shares_are_found_where_answers_tell() -> None:
    for truth in ([0.8, 0.1, 0.1], [0.0, 0.0, 1.0]):
        found = likely(truth, 1000.0)
        assert found.clear
        np.testing.assert_allclose(found.shares, truth, atol=0.06)
        assert found.errors.max() < 0.05


def test_shares_stay_equal_where_answers_say_little() -> None:
    found = likely([1.0, 0.0, 0.0], 0.5)
    assert not found.clear
    assert np.array_equal(found.shares, EQUAL)
    assert "in equal parts are assumed" in found.lines[0]
    # Equal shares that are known exactly are no reason for others.
    assert likely([1 / 3, 1 / 3, 1 / 3], 1000.0).odds < 0


def test_without_answers_all_that_is_known_is_the_law_before() -> None:
    assumed, nothing = Drivers.assumed(KINDS), likely([1.0, 0.0, 0.0], 0.0)
    np.testing.assert_allclose(nothing.found, assumed.found, atol=0.01)
    np.testing.assert_allclose(nothing.errors, assumed.errors, atol=0.01)
    assert nothing.odds == pytest.approx(0.0, abs=1e-9)


def test_files_keep_them_and_refuse_impossible_ones() -> None:
    found = likely([0.8, 0.1, 0.1], 1000.0)
    document = json.loads(json.dumps(found.document()))
    again = Drivers.restored(document)
    assert again is not None
    assert again.lines == found.lines
    assert again.clear
    assert Drivers.restored(None) is None
    for broken in (
        {"found": [0.5, 0.1, 0.1]},
        {"found": [2.0, -1.0, 0.0]},
        {"errors": [0.1]},
        {"odds": np.nan},
    ):
        with pytest.raises(ValueError, match="kinds of drivers"):
            Drivers.restored(document | broken)


@pytest.mark.slow
def test_answers_of_one_kind_and_of_all_kinds_are_told_apart() -> None:
    """Answers without noise of routes that one kind of driver takes, judged at public weights."""
    roads, grid = scattered_roads(nodes=800, seed=1), Grid((0, 0, 1000, 1000), 10)
    library, rng = Library(routes=20_000, turn_costs=(0.0, 8.0), noises=(0.15,)), np.random.default_rng(3)
    pool = library.pool(roads, rng, Lean.none(roads))
    cut, plan = Cut.of(pool.routes, grid, rng), Plan.single_report(grid, 4.0, for_map=True)
    nothing = CellPaths.from_trajectories(pool.routes.points(np.arange(10)), grid)
    estimates = Estimates.from_tally(plan, collect(plan, nothing, rng))
    found = []
    for drivers in (replace(library, turn_costs=(8.0,)), library):
        routes = replace(drivers, routes=60_000).draw(roads, rng)
        there = Cut.of(routes, grid, rng)
        tables = PathTables(there.cells, longest(estimates))
        weights, seen = there.strides.weighted(routes.weights), []
        for name, users in (("links", 8_000), ("turns", 4_000), ("length", 8_000)):
            answers = tables.answers(name, 3).T @ weights
            seen.append(Observation(name, 3, users, answers, np.maximum(answers, 1e-4) / users))
        public = Fitted.of(pool.routes, cut, estimates, [])
        ends, known = Ends.of(pool.routes, grid), cut.strides.weighted(pool.routes.weights)
        model = Weighting.of(cut.cells, cut.strides.kind, ends, known, longest(estimates), seen)
        variances = {part.name: 1e-6 for part in public.prior.components}
        at = replace(public, fit=replace(public.fit, model=model, variances=variances))
        found.append(Drivers.of(at, pool, library, estimates, seen, rng))
    # Seeded.
    assert found[0].clear
    assert found[0].shares[1] > 0.8
    assert not found[1].clear
    assert abs(found[1].found[1] - 0.5) < 0.2
