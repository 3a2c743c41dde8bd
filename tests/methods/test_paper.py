from __future__ import annotations

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import place
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import PrivacyWarning
from ldptrace.protocol.grid import Grid
from synthesis_kit import run_method

BOUNDS = (0.0, 0.0, 4.0, 4.0)


PAPER = ["paper", "randsyn", "combtran", "noadapt"]


@pytest.fixture
def real(grid: Grid, rng: np.random.Generator) -> Trajectories:
    paths = random_paths(2000, grid, rng)
    return place(paths.take(paths.sizes > 0), rng)


@pytest.mark.parametrize("name", PAPER)
def test_methods_of_the_paper_are_private_and_stay_in_bounds(name: str, real: Trajectories) -> None:
    run = run_method(real, 1.0, bounds=BOUNDS, grid=4, method=name, seed=1)
    assert len(run.trajectories) == len(real)
    x0, y0, x1, y1 = run.trajectories.bounds()
    assert x0 >= 0
    assert y0 >= 0
    assert x1 <= 4
    assert y1 <= 4
    plan = run.synthesis.plan
    assert plan is not None
    assert plan.is_private
    assert float(plan.spent) <= 1.0
    assert float(plan.spent) > 0.999


def test_the_published_report_count_warns(real: Trajectories) -> None:
    with pytest.warns(PrivacyWarning, match="reveals the length"):
        run = run_method(real, 1.0, bounds=BOUNDS, grid=4, method="paper-unpadded", seed=1)
    assert run.privacy()["leaks"]


def test_a_large_budget_reproduces_the_statistics(real: Trajectories, grid: Grid) -> None:
    """With hardly any noise the model's starts are the real ones: no step of the pipeline bends them."""
    paths = CellPaths.from_trajectories(real, grid)
    run = run_method(real, 20.0, bounds=BOUNDS, grid=4, method="paper", seed=1, count=40_000, quantile=0.5)
    truth = np.bincount(paths.starts(), minlength=16) / len(paths)
    drawn = CellPaths.from_trajectories(run.trajectories, grid)
    made = np.bincount(drawn.starts(), minlength=16) / 40_000
    assert np.abs(truth - made).max() < 0.05


def test_the_second_round_cuts_where_the_first_one_says(real: Trajectories) -> None:
    plans = [
        run_method(real, 5.0, bounds=BOUNDS, grid=4, method="paper", seed=1, quantile=quantile).synthesis.plan
        for quantile in (0.2, 1.0)
    ]
    short, long = (plan.rounds[1] for plan in plans if plan is not None)
    assert sum(ask.question.slots for ask in short.asks) < sum(ask.question.slots for ask in long.asks)


def test_noadapt_leaves_the_end_as_it_is(real: Trajectories) -> None:
    plain, same = (
        run_method(real, 1.0, bounds=BOUNDS, grid=4, method="noadapt", seed=1, alpha=alpha, beta=beta)
        for alpha, beta in ((0.3, 0.2), (0.9, 0.9))
    )
    # Its options of re-weighting have no effect.
    assert np.array_equal(plain.trajectories.x, same.trajectories.x)
