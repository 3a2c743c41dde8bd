"""A model of space with one of time: drawn together, saved together, on a calendar or not."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.paths import CellPaths
from ldptrace.core.timing import Timing
from ldptrace.curator.estimates import Estimates
from ldptrace.errors import FormatError
from ldptrace.models import fit_model, load_model
from ldptrace.models.observation import REPLICATES
from ldptrace.models.path.model import PathModel
from ldptrace.models.routes.model import RouteModel
from ldptrace.models.space_time import TimedModel
from ldptrace.models.time import TIME_QUESTIONS, Calendar
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads.library import Library
from ldptrace.simulation import collect
from road_kit import lattice_roads
from sampling_kit import assert_batches_agree
from trajectory_kit import straight_trips

GRID = Grid((0.0, 0.0, 20_000.0, 20_000.0), 3)
PLAN = Plan.single_report(GRID, 4.0, time=True)


@pytest.fixture(scope="module")
def model() -> TimedModel:
    trips = straight_trips(400, seed=3)
    paths = CellPaths.from_trajectories(trips, GRID)
    tally = collect(PLAN, paths, np.random.default_rng(1), timing=Timing.of(trips))
    found = fit_model(Estimates.from_tally(PLAN, tally))
    assert isinstance(found, TimedModel)
    return found


@pytest.mark.slow
def test_it_is_a_model_of_the_same_place_and_says_both_parts(model: TimedModel) -> None:
    assert (model.grid, model.plan) == (GRID, PLAN)
    assert model.questions == TIME_QUESTIONS
    assert model.explain() == f"{model.space.explain()}\n{model.time.explain()}"


def test_trips_are_those_of_space_with_times(model: TimedModel) -> None:
    drawn = model.sample(50, np.random.default_rng(2))
    same = model.space.sample(50, np.random.default_rng(2))
    assert drawn.t is not None
    assert np.array_equal(drawn.x, same.x)
    assert np.array_equal(drawn.y, same.y)
    assert np.all(Timing.of(drawn).seconds > 0)


def test_a_calendar_moves_the_same_trips_to_a_date(model: TimedModel) -> None:
    dated = model.on(Calendar(date(2026, 3, 2)))
    drawn, there = (one.sample(50, np.random.default_rng(2)) for one in (model, dated))
    assert drawn.t is not None
    assert there.t is not None
    assert np.array_equal(drawn.x, there.x)
    assert drawn.t.max() < 3 * 86_400
    assert np.all(np.abs(there.t - 1_772_409_600) < 3 * 86_400)
    assert model.on(None).calendar is None


def test_large_grids_have_fewer_replicates_than_hours(model: TimedModel) -> None:
    assert isinstance(model.space, PathModel)
    draws = model.space.draws
    assert draws is not None
    fewer = replace(model, space=replace(model.space, redraw=lambda: draws[: REPLICATES // 2]))
    trips, ratios = fewer.replicated(50, np.random.default_rng(2))
    assert ratios is not None
    assert ratios.shape == (REPLICATES, len(trips))


def test_a_point_every_so_many_seconds(model: TimedModel) -> None:
    drawn = model.sample(20, np.random.default_rng(2), interval=60.0)
    assert drawn.t is not None
    steps = np.diff(drawn.t)
    within = np.delete(np.arange(len(steps)), drawn.offsets[1:-1] - 1)
    assert np.all(steps[within] <= 60.0 + 1e-6)


def test_trips_are_the_same_however_many_are_drawn_at_a_time(model: TimedModel) -> None:
    dated = model.on(Calendar(date(2026, 3, 2), "Europe/Berlin"))
    for options in ({}, {"spacing": 2000.0}, {"interval": 300.0}):
        assert_batches_agree(dated, **options)


@pytest.mark.slow
def test_on_streets_they_are_the_same_too(model: TimedModel) -> None:
    """Some of them off the streets, and some that go nowhere."""
    roads = lattice_roads(20)
    streets = replace(roads, x=1000 * roads.x / 100, y=1000 * roads.y / 100, seconds=roads.length)
    routes = Library(routes=2000).draw(streets, np.random.default_rng(1))
    space = RouteModel.of_map(routes, GRID, np.random.default_rng(2))
    assert isinstance(model.space, PathModel)
    mixed = replace(space, off_streets=0.2, paths=model.space)
    timed = TimedModel(mixed, replace(model.time, free=np.linspace(1e3, 5e4, 101)))
    for options in ({}, {"interval": 300.0}):
        assert_batches_agree(timed, **options)


def test_saved_and_loaded_it_draws_the_same(model: TimedModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert isinstance(again, TimedModel)
    one, other = (found.sample(30, np.random.default_rng(5)) for found in (model, again))
    assert one.t is not None
    assert other.t is not None
    assert np.array_equal(one.x, other.x)
    assert np.array_equal(one.t, other.t)


def test_a_model_of_space_that_nobody_knows_is_refused(model: TimedModel) -> None:
    header, arrays = model.contents()
    for change in ({"model": "crystal ball"}, {"version": 99}):
        broken = header | {"space": header["space"] | change}
        with pytest.raises(FormatError, match="unknown kind"):
            TimedModel.restored(GRID, PLAN, broken, arrays)
