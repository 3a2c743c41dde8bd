"""Fits by products only: what the dense ones find, found without a matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ldptrace.models import iterative
from ldptrace.models.iterative import IterativeSolver, Preconditioner
from ldptrace.models.solver import DenseSolver
from linear_kit import Line, most_probable, observations, prior

COLUMNS, POOLS = 8, 3


@pytest.fixture
def every_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iterative, "SLIGHT", 0.0)


@pytest.mark.usefixtures("every_column")
@pytest.mark.parametrize("damping", [0.0, 10.0])
def test_it_is_the_inverse_of_the_rows_and_a_diagonal(rng: np.random.Generator, damping: float) -> None:
    views = rng.normal(size=(POOLS, COLUMNS))
    sizes, beside = rng.uniform(0.5, 2, COLUMNS), rng.uniform(0, 5, COLUMNS)
    made = Preconditioner(views.astype(np.float32), (views**2).sum(axis=0) + beside)
    seen = views * sizes
    whole = np.diag(damping + np.sqrt(1 + sizes**2 * beside)) + seen.T @ seen
    values = rng.normal(size=COLUMNS)
    np.testing.assert_allclose(made.inverse(sizes, damping)(whole @ values), values, rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("every_column")
def test_other_sizes_are_other_equations(rng: np.random.Generator) -> None:
    views = rng.normal(size=(POOLS, COLUMNS))
    made = Preconditioner(views.astype(np.float32), (views**2).sum(axis=0))
    values = rng.normal(size=COLUMNS)
    for size in (1.0, 3.0):
        whole = np.eye(COLUMNS) + size**2 * views.T @ views
        found = made.inverse(np.full(COLUMNS, size), 0.0)(whole @ values)
        np.testing.assert_allclose(found, values, rtol=1e-3, atol=1e-3)


def test_columns_that_the_pools_hardly_see_are_in_the_diagonal_alone(rng: np.random.Generator) -> None:
    views = rng.normal(size=(POOLS, COLUMNS))
    views[:, 2:] *= 0.1
    made = Preconditioner(views.astype(np.float32), (views**2).sum(axis=0))
    seen = 2 * views * (4 * (views**2).sum(axis=0) > 1)
    assert 0 < seen.any(axis=0).sum() < COLUMNS
    whole, values = np.eye(COLUMNS) + seen.T @ seen, rng.normal(size=COLUMNS)
    found = made.inverse(np.full(COLUMNS, 2.0), 0.0)(whole @ values)
    np.testing.assert_allclose(found, values, rtol=1e-3, atol=1e-3)


def test_before_any_answer_there_is_the_damping_alone(rng: np.random.Generator) -> None:
    values = rng.normal(size=COLUMNS)
    nothing = Preconditioner(np.zeros((0, COLUMNS), np.float32), np.zeros(COLUMNS))
    np.testing.assert_allclose(nothing.inverse(np.ones(COLUMNS), 3.0)(values), values / 4)


def test_answers_that_are_nearly_exact_are_in_double_precision(rng: np.random.Generator) -> None:
    views = (1e5 * rng.normal(size=(POOLS, COLUMNS))).astype(np.float32)
    made = Preconditioner(views, (views.astype(np.float64) ** 2).sum(axis=0))
    values = rng.normal(size=COLUMNS)
    found = made.inverse(np.ones(COLUMNS), 0.0)(values)
    # What no row sees stays, what one sees is next to nothing.
    np.testing.assert_allclose(views.astype(np.float64) @ found, 0, atol=1.0)
    assert values @ found > 0


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
    # Two fifths of the devices have a trip.
    free, dense = IterativeSolver(prior(), seen, 0.4), DenseSolver(prior(), seen, 0.4)
    for solver in (free, dense):
        solver.linearise(truth)
    scale = np.sqrt(
        np.concatenate([[*each.variances, *([] if each.total is None else [each.total[1]])] for each in seen])
    )
    slopes = np.concatenate([truth.slopes["a"], truth.slopes["a"].sum(axis=0)[None], truth.slopes["b"]])
    np.testing.assert_allclose(dense.jacobian, 0.4 * slopes / scale[:, None])
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
    drawn = free.draws(logs, 1_000, rng, np.zeros(len(free.observed))) @ np.linalg.cholesky(precision)
    np.testing.assert_allclose(drawn.T @ drawn / len(drawn), np.eye(3), atol=0.25)


def test_a_fit_that_goes_on_is_pulled_to_zero_too(rng: np.random.Generator) -> None:
    """The answers of nobody: from wherever it begins, the most probable potentials are zero."""
    truth = Line.drawn(rng)
    vague = [
        replace(seen, variances=np.full(len(seen.variances), 1e8), total=None)
        for seen in observations(truth, rng)
    ]
    solver, here = IterativeSolver(prior(), vague), truth
    for _ in range(6):
        solver.linearise(here)
        here, _ = solver.descend(here, np.array([0.3]), 1.0)
    assert np.abs(here.potentials).max() < 0.1 * np.abs(truth.potentials).max()


def test_variances_are_learned_away_from_zero_only(rng: np.random.Generator) -> None:
    truth, logs = Line.drawn(rng), np.array([0.3])
    zero = truth.moved(-truth.potentials)
    solver = IterativeSolver(prior(), observations(truth, rng))
    for here, learns in ((zero, False), (truth, True)):
        solver.linearise(here)
        assert (solver.likely(here, logs) != logs).any() == learns


def test_pools_that_tell_nothing_take_no_rows(rng: np.random.Generator) -> None:
    truth = Line.drawn(rng)
    seen = observations(truth, rng)
    pools, rows = [len(np.unique(truth.pools(each.name))) + (each.total is not None) for each in seen], []
    vague = [replace(seen[0], variances=np.full(len(seen[0].variances), 1e8), total=None), *seen[1:]]
    for answers in (seen, vague):
        solver = IterativeSolver(prior(), answers)
        solver.linearise(truth)
        solver.likely(truth, np.array([0.0]))
        assert solver._pooled is not None
        rows.append(len(solver._pooled.rows))
    assert rows[0] == sum(pools)
    assert rows[1] == sum(pools[1:])
