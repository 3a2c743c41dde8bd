from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import random_paths
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import place
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.methods import METHODS, method
from ldptrace.protocol.grid import Grid
from ldptrace.synthesis import Run, synthesize
from synthesis_kit import drawn, run_method

BOUNDS = (0.0, 0.0, 4.0, 4.0)
PAPER = ["paper", "randsyn", "combtran", "noadapt"]


@pytest.fixture
def real(grid: Grid, rng: np.random.Generator) -> Trajectories:
    paths = random_paths(2000, grid, rng)
    return place(paths.take(paths.sizes > 0), rng)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["single-report", "paper", "ngram"])
def test_what_is_published_does_not_determine_what_the_devices_drew(real: Trajectories, name: str) -> None:
    """Two releases with one `sample_seed` differ by their devices alone; `sample_seed` never reaches the devices."""
    options = {"hide_length": True} if name == "ngram" else {}
    seeds = ((None, 5), (None, 5), (3, 5), (3, 6), (5, None))
    runs = [
        run_method(real, 1.0, bounds=BOUNDS, grid=4, method=name, seed=seed, sample_seed=sample, **options)
        for seed, sample in seeds
    ]
    drawn = [_cells(run) if run.synthesis.estimates is None else _frequencies(run) for run in runs]
    assert not np.array_equal(drawn[0], drawn[1])
    assert np.array_equal(drawn[2], drawn[3])
    assert not any(np.array_equal(drawn[4], other) for other in drawn[:4])
    assert [run.seeded for run in runs] == [False, False, True, True, True]
    for run in runs:
        said = run.privacy()
        assert "seed" not in said
        assert (said["experiment"] is None) == (not run.seeded)
    assert [run.privacy()["sample_seed"] for run in runs] == [5, 5, 5, 6, None]


def _cells(run: Run) -> NDArray[np.int32]:
    return CellPaths.from_trajectories(run.trajectories, run.grid).cells


def _frequencies(run: Run) -> NDArray[np.float64]:
    assert run.synthesis.estimates is not None
    return np.concatenate([found.frequencies for found in run.synthesis.estimates.values()])


def test_a_seed_that_is_told_repeats_the_sampling_alone(real: Trajectories) -> None:
    run = run_method(real, 1.0, bounds=BOUNDS, grid=4, method="paper")
    assert run.release is not None
    again = drawn(run.release, len(real), run.privacy()["sample_seed"])
    assert np.array_equal(again.x, run.trajectories.x)
    assert again.provenance == run.trajectories.provenance


@pytest.mark.slow
def test_one_seed_one_result(real: Trajectories) -> None:
    first, again, other = (synthesize(real, 1.0, bounds=BOUNDS, grid=4, seed=s) for s in (5, 5, 6))
    assert np.array_equal(first.x, again.x)
    assert not np.array_equal(first.x, other.x)


def test_any_number_of_synthetic_trajectories(real: Trajectories) -> None:
    for count in (0, 1, 77):
        assert len(synthesize(real, 1.0, bounds=BOUNDS, grid=4, method="paper", count=count)) == count


@pytest.mark.parametrize("name", ["single-report", *PAPER])
def test_ten_users_and_a_tiny_budget(name: str, real: Trajectories) -> None:
    few = real.take(np.arange(10))
    made = synthesize(few, 0.1, bounds=BOUNDS, grid=4, method=name, seed=3)
    assert len(made) == 10
    assert np.all(np.isfinite(made.x))


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), 21])
def test_impossible_budgets_are_refused(epsilon: float, real: Trajectories) -> None:
    with pytest.raises(InputError, match="epsilon"):
        synthesize(real, epsilon, bounds=BOUNDS)


def test_mistakes_get_one_clear_sentence(real: Trajectories) -> None:
    with pytest.raises(InputError, match="the methods are"):
        synthesize(real, 1.0, bounds=BOUNDS, method="nonsense")
    with pytest.raises(InputError, match="no option 'colour'"):
        synthesize(real, 1.0, bounds=BOUNDS, method="paper", options={"colour": 1})
    with pytest.raises(InputError, match="there are no trajectories"):
        synthesize(Trajectories.from_lists([]), 1.0, bounds=BOUNDS)
    with pytest.raises(InputError, match="count must be at least 0"):
        synthesize(real, 1.0, bounds=BOUNDS, count=-1)
    with pytest.raises(InputError, match="counts or devices"):
        synthesize(real, 1.0, bounds=BOUNDS, simulation="guess")  # type: ignore[arg-type]


def test_every_method_has_a_summary() -> None:
    for name in METHODS:
        assert method(name).name == name
        assert method(name).summary
    modules = {import_module(f"ldptrace.methods.{module}") for module in METHODS.values()}
    assert {recipe.name for module in modules for recipe in module.METHODS} == set(METHODS)
