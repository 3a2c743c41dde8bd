from __future__ import annotations

import math

import numpy as np
import pytest

from ldptrace.core.paths import CellPaths
from ldptrace.methods import METHODS
from ldptrace.simulation.answers import answers
from ldptrace_lab.reproduce.central import CENTRAL_LAPLACE, noisy_statistics


def test_noise_is_as_large_as_it_says(paths: CellPaths, rng: np.random.Generator) -> None:
    """Squares of Laplace scores have mean 1 and variance 5; six standard errors are a false alarm below 1e-6."""
    scores = []
    for _ in range(20):
        estimates = noisy_statistics(paths, 1.0, rng)
        for estimate in estimates.values():
            if estimate.question.capacity == 1 and estimate.question.name != "turns":
                rows = answers(estimate.question, paths, np.arange(len(paths)), rng)
                truth = np.bincount(rows[rows >= 0], minlength=estimate.question.domain) / len(paths)
                scores.append((estimate.frequencies - truth) / estimate.std_errors)
    squares = np.concatenate(scores) ** 2
    assert abs(squares.mean() - 1) < 6 * math.sqrt(5 / len(squares))


def test_budgets_add_up(paths: CellPaths, rng: np.random.Generator) -> None:
    """A standard error of sqrt(2) * sensitivity / budget / users tells the budget of each question."""
    estimates = noisy_statistics(paths, 0.7, rng)
    budgets = [
        math.sqrt(2) * 2 * estimate.question.capacity / (estimate.std_errors[0] * len(paths))
        for estimate in estimates.values()
    ]
    assert sum(budgets) == pytest.approx(0.7)


def test_it_is_marked_and_kept_apart() -> None:
    assert "central" in str(CENTRAL_LAPLACE.leaks)
    assert CENTRAL_LAPLACE.name not in METHODS
