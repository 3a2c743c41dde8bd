"""Fits by products only: what the dense ones find, found without a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.models import iterative
from ldptrace.models.iterative import IterativeSolver
from ldptrace.models.solver import DenseSolver
from linear_kit import Line, most_probable, observations, prior


@pytest.fixture(autouse=True)
def _exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that the model can express, equations solved to the end."""
    monkeypatch.setattr(iterative, "INEXACT", 0.0)
    monkeypatch.setattr(iterative, "LEFT_OVER", 1e-9)


def test_steps_lead_to_the_most_probable_potentials(rng: np.random.Generator) -> None:
    truth, logs = Line.drawn(rng), np.array([0.3])
    seen = observations(truth, rng)
    solver = IterativeSolver(prior(), seen)
    found = truth.moved(-truth.potentials)
    for _ in range(3):  # The first steps are damped: the answers are far off.
        solver.linearise(found)
        found, _ = solver.descend(found, logs, 1.0)
    np.testing.assert_allclose(found.potentials, most_probable(truth, seen, np.exp(0.3)), atol=1e-6)
    np.testing.assert_allclose(solver.coefficients, found.potentials, atol=1e-6)


def test_products_are_those_of_the_matrix(rng: np.random.Generator) -> None:
    truth = Line.drawn(rng)
    seen = observations(truth, rng)
    free, dense = IterativeSolver(prior(), seen), DenseSolver(prior(), seen)
    for solver in (free, dense):
        solver.linearise(truth)
    direction, values = rng.normal(size=3), rng.normal(size=7)
    np.testing.assert_allclose(free.apply(direction), dense.jacobian @ direction)
    np.testing.assert_allclose(free.apply_transposed(values), dense.jacobian.T @ values)


def test_variances_and_freedom_are_like_those_of_the_matrix(rng: np.random.Generator) -> None:
    truth = Line.drawn(rng)
    seen = observations(truth, rng)
    free, dense = IterativeSolver(prior(), seen), DenseSolver(prior(), seen)
    logs = []
    for solver in (free, dense):
        solver.linearise(truth)
        logs.append(solver.likely(truth, np.array([0.0])))
    np.testing.assert_allclose(logs[0], logs[1], rtol=0.05)
    # Every direction is far better known than its variance, so that no random sign matters.
    assert free.freedom(np.array([3.0])) == pytest.approx(dense.freedom(np.array([3.0])), rel=1e-3)


def test_answers_far_off_are_met_by_damped_steps(rng: np.random.Generator) -> None:
    truth = Line.drawn(rng)
    solver = IterativeSolver(prior(), observations(truth, rng, noise=0.0))
    # A step goes two units at most, and the way is longer.
    begin = truth.moved(np.full(3, 7.0))
    solver.linearise(begin)
    solver.coefficients = begin.potentials
    here, costs = begin, []
    for _ in range(8):
        here, change = solver.descend(here, np.array([4.0]), 1.0)
        costs.append(float(np.square(solver.misfit(here)).sum()))
    assert costs[-1] < 1e-3 * costs[0]
    assert change < 0.5


@pytest.mark.slow
def test_draws_have_the_covariance_of_the_potentials(rng: np.random.Generator) -> None:
    """In units of what the matrix says: 1,000 draws know a variance to 4.5 %, so 25 % is more than five of that."""
    truth, logs = Line.drawn(rng), np.array([0.5])
    seen = observations(truth, rng)
    free, dense = IterativeSolver(prior(), seen), DenseSolver(prior(), seen)
    for solver in (free, dense):
        solver.linearise(truth)
    precision = np.eye(3) / np.exp(0.5) + dense.jacobian.T @ dense.jacobian
    drawn = free.draws(logs, 1_000, rng) @ np.linalg.cholesky(precision)
    np.testing.assert_allclose(drawn.T @ drawn / len(drawn), np.eye(3), atol=0.25)
