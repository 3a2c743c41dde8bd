"""Trips that streets do not carry: those elsewhere, and those off the streets where there are some."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import Estimates
from ldptrace.errors import FitWarning
from ldptrace.models.observation import Match, Observation, clearly_missed
from ldptrace.models.path.model import PathModel, observed
from ldptrace.models.routes.free import LEAST_GAIN, FreePaths, Split, drawn, missed, passes, share_off_streets
from ldptrace.models.routes.model import RouteModel
from ldptrace.models.routes.options import StreetOptions
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads.library import Library
from ldptrace.simulation import collect
from road_kit import lattice_roads

GRID = Grid((0, 0, 1900, 1900), 4)
WEST = np.arange(16) < 8
SMALL = StreetOptions(Library(routes=5_000))


def answered(trips: Trajectories, epsilon: float, seed: int) -> Estimates:
    plan = Plan.single_report(GRID, epsilon, for_map=True)
    paths = CellPaths.from_trajectories(trips, GRID)
    return Estimates.from_tally(plan, collect(plan, paths, np.random.default_rng(seed)))


@pytest.fixture(scope="module")
def half() -> tuple[RouteModel, Estimates, Trajectories]:
    """A town whose map has streets in the west only, and trips all over it."""
    town = lattice_roads(20)
    trips = Library(routes=30_000).draw(town, np.random.default_rng(1)).points(spacing=50)
    estimates = answered(trips, 3.0, 2)
    roads = town.take_nodes(town.x < 900)
    with pytest.warns(FitWarning, match="pass cells in which roads has no streets"):
        model = RouteModel.fit(estimates, roads, np.random.default_rng(3), streets=SMALL)
    return model, estimates, trips


@pytest.mark.slow
def test_trips_where_the_map_has_no_streets_follow_the_cells(
    half: tuple[RouteModel, Estimates, Trajectories],
) -> None:
    model, _, trips = half
    bare = ~WEST
    really = float(passes(CellPaths.from_trajectories(trips, GRID), bare).mean())
    assert model.coverage is not None
    assert np.array_equal(model.coverage.bare, bare)
    assert model.elsewhere == pytest.approx(really, abs=0.03)
    assert model.off_streets < 0.05
    made = model.sample(20_000, np.random.default_rng(4))
    there = passes(CellPaths.from_trajectories(made, GRID), bare)
    assert float(there.mean()) == pytest.approx(really, abs=0.03)
    inside = made.take(~there)
    # Every point of a street of the lattice has a coordinate that is a multiple of 100.
    apart = [np.abs(axis / 100 - np.round(axis / 100)) for axis in (inside.x, inside.y)]
    assert float((np.minimum(*apart) < 1e-6).mean()) > 0.9


@pytest.mark.slow
def test_both_shares_are_told_apart(half: tuple[RouteModel, Estimates, Trajectories]) -> None:
    model = replace(half[0], off_streets=0.25)
    text = model.explain()
    assert model.coverage is not None
    assert model.coverage.line in text
    assert f"Trips through cells without streets, by the path model: {model.elsewhere:.0%}." in text
    assert "Trips off the streets, by the path model: 25% of the others." in text
    assert (
        "Where there are streets: the answers do not show that the reports add anything to the map." in text
    )
    assert model.street_lines[0] in model.remarks
    header, arrays = model.contents()
    loaded = RouteModel.restored(GRID, None, header, arrays)
    assert loaded.elsewhere == model.elsewhere
    assert (
        loaded.sample(50, np.random.default_rng(0)).points
        == model.sample(50, np.random.default_rng(0)).points
    )
    header["elsewhere"] = 1.5
    with pytest.raises(ValueError, match=r"a share of 1\.5 trips"):
        RouteModel.restored(GRID, None, header, arrays)


@pytest.mark.slow
def test_few_reports_do_not_show_that_trips_are_elsewhere(
    half: tuple[RouteModel, Estimates, Trajectories],
) -> None:
    few = answered(half[2].take(np.arange(300)), 1.0, 5)
    observations = observed(few)
    free = FreePaths.of(few, observations)
    assert free.split(~WEST, observations, np.random.default_rng(0)).elsewhere == 0
    assert free.split(np.zeros(16, dtype=bool), observed(half[1]), np.random.default_rng(0)).elsewhere == 0


@pytest.mark.slow
def test_without_leave_every_trip_is_on_streets(half: tuple[RouteModel, Estimates, Trajectories]) -> None:
    town = lattice_roads(20)
    only = replace(SMALL, off_streets="never")
    with pytest.warns(FitWarning) as told:
        model = RouteModel.fit(half[1], town.take_nodes(town.x < 900), np.random.default_rng(3), streets=only)
    assert any("by more than noise explains" in str(warning.message) for warning in told)
    assert (model.off_streets, model.elsewhere, model.paths) == (0.0, 0.0, None)
    assert model.sample(500, np.random.default_rng(0)).x.max() < 900


def seen(frequencies: list[float]) -> Observation:
    return Observation("visits", 2, 100, np.array(frequencies), np.full(len(frequencies), 0.01), (0.8, 0.02))


def test_a_split_takes_off_what_devices_elsewhere_answer() -> None:
    whole = [seen([0.6, 0.2])]
    split = Split(whole, 0.5, {"visits": np.array([0.1, 0.2])})
    (other,) = split.others
    assert other.frequencies == pytest.approx([1.0, 0.0])
    assert other.variances == pytest.approx([0.04, 0.04])
    assert other.total == pytest.approx((1.0, 0.08))
    (back,) = split.whole([other])
    assert back.frequencies == pytest.approx(whole[0].frequencies)
    assert back.variances == pytest.approx(whole[0].variances)
    assert Split(whole).others is whole


@pytest.mark.slow
def test_paths_are_drawn_until_there_are_enough(half: tuple[RouteModel, Estimates, Trajectories]) -> None:
    paths = half[0].paths
    assert isinstance(paths, PathModel)
    for there in (True, False):
        some = drawn(paths, 700, np.random.default_rng(0), ~WEST, there)
        assert len(some) == 700
        assert np.all(passes(some, ~WEST) == there)


def test_streets_are_left_only_where_noise_does_not_explain_the_answers() -> None:
    assert not clearly_missed([Match("visits", 100, 36, 1.3, 2.0)])
    assert clearly_missed([Match("moves", 100, 2000, 0.95, 3.0), Match("turns", 100, 4, 14.0, 5.0)])


def test_what_is_missed_is_measured_beyond_noise() -> None:
    whole = [seen([0.6, 0.8])]
    assert missed(whole, {"visits": np.array([0.6, 0.8])}) == 0
    assert missed(whole, {"visits": np.zeros(2)}) == pytest.approx(1.0)
    assert missed(whole, {"visits": np.array([0.6, 0.3])}) == pytest.approx(
        np.sqrt((0.25 - 0.02) / (1 - 0.02))
    )
    # Answers that are noise say nothing of any model.
    assert missed([seen([0.1, -0.1])], {"visits": np.ones(2)}) == 0


def test_streets_are_believed_where_both_explain_the_answers(rng: np.random.Generator) -> None:
    noise = rng.standard_normal(400)
    assert share_off_streets(noise, 20, noise, 100) == 0.0
    # A richer model fits noise better, by about its number of parameters, and that is not held against streets.
    better = noise.copy()
    better[:80] = 0.0
    assert share_off_streets(noise, 20, better, 100) == 0.0


@pytest.mark.parametrize("true", [0.2, 0.5, 0.9])
def test_the_share_of_a_mixture_is_found(true: float, rng: np.random.Generator) -> None:
    # Answers lie between what the two models expect, far apart for the noise.
    noise, apart = rng.standard_normal(2000), 3 * rng.standard_normal(2000)
    assert share_off_streets(noise + true * apart, 20, noise - (1 - true) * apart, 20) == pytest.approx(
        true, abs=0.03
    )


def test_little_evidence_is_not_enough() -> None:
    misfit = np.zeros(100)
    misfit[0] = np.sqrt(LEAST_GAIN) - 0.1
    assert share_off_streets(misfit, 10, np.zeros(100), 10) == 0.0
    misfit[0] = np.sqrt(LEAST_GAIN) + 0.1
    assert share_off_streets(misfit, 10, np.zeros(100), 10) == 1.0


@given(st.integers(0, 1000), st.floats(0, 50), st.floats(0, 50))
def test_a_share_is_a_share(seed: int, street_freedom: float, path_freedom: float) -> None:
    streets, paths = np.random.default_rng(seed).normal(0, 2, (2, 60))
    assert 0.0 <= share_off_streets(streets, street_freedom, paths, path_freedom) <= 1.0
