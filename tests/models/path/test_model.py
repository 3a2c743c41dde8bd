from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.core.area import Area
from ldptrace.core.paths import CellPaths
from ldptrace.curator import Estimates
from ldptrace.curator.estimates import Estimate
from ldptrace.errors import FitWarning, FormatError, InputError
from ldptrace.generators import city
from ldptrace.models.path.flow import Flow
from ldptrace.models.path.model import PathModel
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import bend_count
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.shares import DEFAULT_SHARES, Wanted
from ldptrace.simulation import collect
from path_kit import random_flow

EVERYTHING = [*DEFAULT_SHARES, "pairs", "bends"]
GRID = Grid((0.0, 0.0, 4.0, 4.0), 4)


def estimates(paths: CellPaths, epsilon: float, rng: np.random.Generator) -> Estimates:
    plan = Plan.single_report(paths.grid, epsilon)
    return Estimates.from_tally(plan, collect(plan, paths, rng))


@pytest.fixture(scope="module")
def walkers() -> CellPaths:
    paths = random_paths(20_000, GRID, np.random.default_rng(1))
    return paths.take(paths.sizes > 0)


@pytest.fixture(scope="module")
def fitted(walkers: CellPaths) -> PathModel:
    return PathModel.fit(estimates(walkers, 3.0, np.random.default_rng(2)))


def shares(cells: np.ndarray) -> np.ndarray:
    return np.bincount(cells, minlength=GRID.cells) / len(cells)


@pytest.mark.slow
def test_synthetic_paths_are_like_the_real_ones(
    walkers: CellPaths, fitted: PathModel, rng: np.random.Generator
) -> None:
    """Total variation distances; uniform paths are three times as far away or more."""
    drawn = fitted.sample_paths(100_000, rng)
    assert np.all(
        np.abs(np.diff(drawn.cells // 4))[np.diff(np.repeat(np.arange(len(drawn)), drawn.sizes)) == 0] <= 1
    )
    for real, synthetic in (
        (walkers.starts(), drawn.starts()),
        (walkers.ends(), drawn.ends()),
        (walkers.cells, drawn.cells),
    ):
        distance = np.abs(shares(real) - shares(synthetic)).sum() / 2
        assert distance < np.abs(shares(real) - 1 / GRID.cells).sum() / 6
    assert abs(drawn.sizes.mean() / walkers.sizes.mean() - 1) < 0.05


def test_few_users_decide_how_trips_turn_and_how_long_they_are() -> None:
    """Answers about places are far more, and a chain of moves would follow them alone."""
    side = 20_000.0
    paths = CellPaths.from_trajectories(city(3_000, seed=1, size=side), Grid((0.0, 0.0, side, side), 6))
    model = PathModel.fit(estimates(paths, 8.0, np.random.default_rng(1)))
    chi2 = {match.question: match.chi2 for match in model.matches}
    assert chi2["turns"] < 0.4
    assert chi2["length"] < 0.18


def test_explain_names_every_question(fitted: PathModel) -> None:
    text = fitted.explain()
    for match in fitted.matches:
        assert match.question in text
        assert 0 < match.chi2 < 3
    assert {match.question for match in fitted.matches} >= {
        "length",
        "start",
        "end",
        "moves",
        "visits",
        "turns",
    }
    assert "popularity" in text


def test_saved_models_draw_the_same_paths(fitted: PathModel, tmp_path: Path) -> None:
    file = tmp_path / "model.npz"
    fitted.save(file)
    loaded = PathModel.load(file)
    first, second = (model.sample_paths(1000, np.random.default_rng(3)) for model in (fitted, loaded))
    assert np.array_equal(first.cells, second.cells)
    assert loaded.explain() == fitted.explain()
    with np.load(file, allow_pickle=False) as arrays:
        header = json.loads(arrays["header"].tobytes())
    assert (header["format"], header["model"], header["version"]) == ("ldptrace-model", "path", 1)


def test_broken_files_are_refused(fitted: PathModel, tmp_path: Path) -> None:
    file = tmp_path / "model.npz"
    replace(fitted, start=fitted.start[:-1]).save(file)
    with pytest.raises(FormatError, match="start"):
        PathModel.load(file)
    replace(fitted, length=fitted.length * np.nan).save(file)
    with pytest.raises(FormatError, match="length"):
        PathModel.load(file)
    file.write_bytes(b"nothing")
    with pytest.raises(FormatError, match="not a saved model"):
        PathModel.load(file)


def test_answers_that_contradict_each_other_are_told(walkers: CellPaths, rng: np.random.Generator) -> None:
    honest = estimates(walkers, 3.0, rng)
    start = honest["start"]
    twisted = replace(start, frequencies=start.frequencies[::-1].copy())
    with pytest.warns(FitWarning, match="more than noise explains"):
        PathModel.fit(Estimates(honest.plan, {**honest, "start": twisted}))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "users", "epsilon"), [(2, 300, 1.0), (3, 1, 1.0), (4, 10, 0.1), (6, 2000, 0.1), (9, 50, 5.0)]
)
def test_little_data_gives_sensible_paths(
    n: int, users: int, epsilon: float, rng: np.random.Generator
) -> None:
    grid = Grid((0, 0, 1, 1), n)
    paths = random_paths(users, grid, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        model = PathModel.fit(estimates(paths, epsilon, rng))
    drawn = model.sample_paths(5000, rng)
    assert 1 <= drawn.sizes.mean() <= 2 * n + 2
    assert np.bincount(drawn.starts(), minlength=grid.cells).max() < 0.9 * len(drawn)
    assert np.all(np.isfinite(model.move))


def test_nobody_was_asked(walkers: CellPaths, rng: np.random.Generator) -> None:
    empty = estimates(walkers.take(np.zeros(0, dtype=np.int64)), 1.0, rng)
    model = PathModel.fit(empty)
    assert model.matches == ()
    assert len(model.sample_paths(10, rng)) == 10
    assert len(PathModel.fit(Estimates(empty.plan, {})).sample_paths(0, rng)) == 0
    with pytest.raises(InputError, match="must be from 0 to"):
        model.sample_paths(-1, rng)


def test_turns_nobody_was_asked_about_stay_out_of_the_model(
    walkers: CellPaths, fitted: PathModel, rng: np.random.Generator
) -> None:
    answers = estimates(walkers, 2.0, rng)
    without = answers.without("turns")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        model = PathModel.fit(without)
    assert np.abs(model.turn).max() < 1e-3 < np.abs(fitted.turn).max()


@pytest.mark.slow
@pytest.mark.parametrize("at_home", [0.0, 0.2])
def test_answers_without_noise_say_how_many_had_no_trip(at_home: float) -> None:
    """Trips of a city are no chain of moves: what the model misses of nearly exact answers is not people at home.

    Within five stated errors in each of two collections, as often as one test in half a million is not."""
    trips = city(round(20_000 * (1 - at_home)), seed=5)
    plan = Plan.single_report(Grid((0, 0, 20_000, 20_000), 6), 20.0)
    paths = CellPaths.from_trajectories(trips, plan.grid)
    ends = np.concatenate([paths.offsets, np.full(20_000 - len(paths), paths.offsets[-1])])
    everyone = CellPaths(paths.cells, ends, plan.grid)
    for seed in range(2):
        model = PathModel.fit(
            Estimates.from_tally(plan, collect(plan, everyone, np.random.default_rng(seed)))
        )
        share = model.without_trip
        assert share is not None
        assert abs(share.value - at_home) < 5 * share.std_error
        assert share.std_error < 0.02
        assert model.trips(20_000) == pytest.approx(20_000 * (1 - at_home), abs=5 * 20_000 * share.std_error)


@pytest.mark.slow
def test_answers_without_noise_give_the_model_back(rng: np.random.Generator) -> None:
    """Pairs of ends, and which moves follow each other, included: expected answers are those of the known model."""
    truth = random_flow(4, 9, rng, scale=0.5)
    wanted = Wanted(most_moves=4, cap=9, questions=EVERYTHING, districts=2)
    plan = Plan.asking(wanted, truth.graph.grid, 5)
    questions = {ask.question.name: ask.question for ask in plan.rounds[0].asks}
    capacities = {name: question.capacity for name, question in questions.items()}
    expected, left = truth.answers(capacities), truth.products(capacities).left
    answers = {
        name: Estimate(question, expected[name] * left[name], np.full(question.domain, 1e-4), 10**9)
        for name, question in questions.items()
    }
    with warnings.catch_warnings():
        # To a hundredth: that is what a fit leaves.
        warnings.simplefilter("ignore", FitWarning)
        model = PathModel.fit(Estimates(plan, answers))
    found = Flow.at(truth.graph, truth.layout, model.potentials).answers(capacities)
    for name, answer in expected.items():
        assert (np.abs(found[name] - answer) < 1e-3 + 0.01 * answer).all(), name
    assert model.layout == truth.layout


@pytest.mark.slow
def test_a_few_very_long_trips_keep_their_lengths() -> None:
    """Lengths above 13 are one answer, which is far above those before."""
    rng = np.random.default_rng(7)
    usual, long = random_paths(5000, GRID, rng), random_paths(1500, GRID, rng, 50)
    long = long.take(rng.random(len(long)) < 0.95**long.sizes)
    paths = CellPaths.concat([usual.take(usual.sizes > 0), long.take(long.sizes > 12)])
    drawn = PathModel.fit(estimates(paths, 5.0, rng)).sample_paths(50_000, rng)
    assert (drawn.sizes > 13).mean() > (paths.sizes > 13).mean() / 2
    assert drawn.sizes[drawn.sizes > 13].mean() > 16


def test_pairs_and_bends_are_in_the_file(
    walkers: CellPaths, rng: np.random.Generator, tmp_path: Path
) -> None:
    wanted = Wanted(questions=EVERYTHING, districts=2, most_moves=3)
    plan = Plan.asking(wanted, GRID, 4)
    model = PathModel.fit(Estimates.from_tally(plan, collect(plan, walkers.part(0, 4000), rng)))
    assert (len(model.pair), len(model.bend)) == (16, bend_count(4))
    model.save(tmp_path / "model.npz")
    again = PathModel.load(tmp_path / "model.npz")
    first, second = (one.sample_paths(500, np.random.default_rng(3)) for one in (model, again))
    assert np.array_equal(first.cells, second.cells)
    replace(model, bend=model.bend[:-1]).save(tmp_path / "model.npz")
    with pytest.raises(FormatError, match="bend"):
        PathModel.load(tmp_path / "model.npz")


COAST = Area.of([[[(0, 0), (3.4, 0), (2.6, 1.2), (1.4, 1.4), (0.6, 4.0), (0, 4)]]])


@pytest.fixture(scope="module")
def ashore() -> PathModel:
    """Fitted to people who live by a coast, in a grid of which a part is water."""
    open_cells = COAST.land(GRID).cells
    paths = random_paths(40_000, GRID, np.random.default_rng(3))
    paths = paths.take(paths.sizes > 0)
    dry = np.minimum.reduceat(open_cells[paths.cells], paths.offsets[:-1])
    paths = paths.take(dry.astype(bool))
    return PathModel.fit(estimates(paths, 2.0, np.random.default_rng(4)), COAST)


@pytest.mark.slow
def test_paths_and_points_stay_in_the_area(ashore: PathModel, rng: np.random.Generator) -> None:
    land = COAST.land(GRID)
    assert 0 < (~land.cells).sum() < GRID.cells
    assert land.cells[ashore.sample_paths(20_000, rng).cells].all()
    for spacing in (None, 0.3):
        trips = ashore.sample(5000, rng, spacing=spacing)
        assert COAST.contains(trips.x, trips.y).all()
    assert f"{(~land.cells).sum()} of 16 cells have no part in the area" in ashore.explain()


@pytest.mark.slow
def test_a_saved_model_keeps_its_area(ashore: PathModel, tmp_path: Path) -> None:
    ashore.save(tmp_path / "model.npz")
    again = PathModel.load(tmp_path / "model.npz")
    one, other = (model.sample(200, np.random.default_rng(5)) for model in (ashore, again))
    np.testing.assert_array_equal(one.x, other.x)


def test_an_area_must_have_room_for_a_move(walkers: CellPaths) -> None:
    answers = estimates(walkers, 1.0, np.random.default_rng(2))
    islet = Area.of([[[(0.2, 0.2), (0.8, 0.2), (0.5, 0.8)]]])
    with pytest.raises(InputError, match="no two neighbouring cells"):
        PathModel.fit(answers, islet)


@pytest.mark.slow
def test_a_large_grid_tells_how_long_its_fit_takes(caplog: pytest.LogCaptureFixture) -> None:
    """Above 12 x 12 cells: without matrices, with a word before it begins and one for every round."""
    grid, rng = Grid((0, 0, 1, 1), 14), np.random.default_rng(2)
    plan = Plan.single_report(grid, 4.0, cap=40)
    paths = random_paths(20_000, grid, rng)
    with caplog.at_level("INFO", "ldptrace"):
        model = PathModel.fit(Estimates.from_tally(plan, collect(plan, paths, rng)))
    said = [record.getMessage() for record in caplog.records]
    assert "14 x 14 cells" in said[0]
    assert " s on two cores" in said[0]
    assert said[1].startswith("fit: round 1")
    visited = np.bincount(model.sample_paths(20_000, rng).cells, minlength=196) / 20_000
    truth = np.bincount(paths.cells, minlength=196) / 20_000
    assert np.abs(visited - truth).sum() < 0.5 * truth.sum()
