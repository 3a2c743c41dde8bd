from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ldptrace.models.prior import Prior, PriorComponent
from ldptrace.models.solver import DenseSolver
from linear_kit import Line, most_probable, observations, prior


def test_one_step_solves_what_is_linear(rng: np.random.Generator) -> None:
    truth, logs = Line.drawn(rng), np.array([0.3])
    seen = observations(truth, rng)
    solver = DenseSolver(prior(), seen)
    start = truth.moved(-truth.potentials)
    solver.linearise(start)
    found, change = solver.descend(start, logs, 1.0)
    np.testing.assert_allclose(found.potentials, most_probable(truth, seen, np.exp(0.3)), atol=1e-8)
    assert change == pytest.approx(np.abs(solver.jacobian @ found.potentials).max())


def test_freedom_is_the_trace_of_what_the_answers_decide(rng: np.random.Generator) -> None:
    truth = Line.drawn(rng)
    solver = DenseSolver(prior(), observations(truth, rng))
    solver.linearise(truth)
    square = solver.jacobian.T @ solver.jacobian
    wanted = np.trace(np.linalg.solve(np.eye(3) / np.exp(0.3) + square, square))
    assert solver.freedom(np.array([0.3])) == pytest.approx(wanted)
    # Nothing is free where nothing may vary, everything where all may.
    assert solver.freedom(np.array([-30.0])) == pytest.approx(0, abs=1e-6)
    assert solver.freedom(np.array([30.0])) == pytest.approx(3, abs=1e-6)


def test_totals_stand_after_the_items_of_their_question(rng: np.random.Generator) -> None:
    truth = Line.drawn(rng)
    solver = DenseSolver(prior(), observations(truth, rng))
    stacked = solver.stacked({"a": np.array([1.0, 2.0, 3.0, 4.0]), "b": np.array([5.0, 6.0])})
    assert stacked.tolist() == [1, 2, 3, 4, 10, 5, 6]
    assert len(solver.observed) == len(solver.errors) == 7
    assert solver.capacities == {"a": 2, "b": 1}


def test_misfits_are_in_standard_errors(rng: np.random.Generator) -> None:
    truth = Line.drawn(rng)
    solver = DenseSolver(prior(), observations(truth, rng, noise=0.0))
    solver.linearise(truth)
    np.testing.assert_allclose(solver.misfit(truth), 0, atol=1e-9)


def test_a_step_that_is_too_long_still_leads_downhill(rng: np.random.Generator) -> None:
    """Two potentials that must move together, five to one: the longest step of each alone would tear them apart."""
    together = np.array([[10.0, -50.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    truth = Line(np.array([5.0, 1.0, 0.0]), {"a": together, "b": np.eye(3)[:2]})
    solver, here = DenseSolver(prior(), observations(truth, rng)), truth.moved(-truth.potentials)
    logs = np.array([6.0])
    for _ in range(8):
        solver.linearise(here)
        here, change = solver.descend(here, logs, 1.0)
    assert change < 1e-6
    np.testing.assert_allclose(here.potentials, truth.potentials, atol=0.2)


def test_answers_that_say_nothing_change_the_fit_but_not_the_time(rng: np.random.Generator) -> None:
    """Fewer answers than potentials: three of them hardly depend on these."""
    table = np.vstack([10 * rng.normal(size=(3, 8)), 1e-4 * rng.normal(size=(3, 8))])
    truth = Line(rng.normal(size=8), {"a": table[:4], "b": table[4:]})
    seen = [replace(each, total=None) for each in observations(truth, rng)]
    solver, here = DenseSolver(Prior([PriorComponent("x", np.eye(8))]), seen), truth.moved(-truth.potentials)
    logs = np.array([0.3])
    for _ in range(3):
        solver.linearise(here)
        here, change = solver.descend(here, logs, 1.0)
    root = solver.prior.root(np.exp(logs))
    assert solver._seen_covariance(root)[1].shape == (3, 8)
    assert change < 1e-6
    np.testing.assert_allclose(solver.misfit(here) @ solver.jacobian, root.pull(here.potentials), atol=1e-6)


@pytest.mark.parametrize("few", [False, True])
def test_draws_vary_as_noise_and_prior_allow(rng: np.random.Generator, few: bool) -> None:
    """With more answers than potentials and with fewer: their covariance is (K^-1 + J^T J)^-1."""
    truth = Line.drawn(rng)
    solver = DenseSolver(prior(), observations(truth, rng))
    solver.linearise(truth)
    if few:
        solver.jacobian, solver._square = solver.jacobian[:2], None
    wanted = np.linalg.inv(np.eye(3) / np.exp(0.3) + solver.jacobian.T @ solver.jacobian)
    drawn = solver.draws(np.array([0.3]), 40_000, rng, np.zeros(len(solver.jacobian)))
    # A standard error of a covariance is about a hundred-and-fortieth of the variances.
    scale = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)))
    assert np.abs((np.cov(drawn.T) - wanted) / scale).max() < 0.04


def test_changes_lead_from_one_fit_to_others_that_the_answers_allow(rng: np.random.Generator) -> None:
    """From potentials that are not the most probable ones, too: answers as precise as these leave little open."""
    truth = Line.drawn(rng)
    solver = DenseSolver(prior(), observations(truth, rng))
    here = truth.moved(np.array([0.3, -0.2, 0.1]))
    solver.linearise(here)
    there = here.potentials + solver.changes(here, np.array([0.3]), 40, rng)
    error = np.sqrt(np.diag(np.linalg.inv(solver.jacobian.T @ solver.jacobian)))
    assert there.shape == (40, 3)
    assert np.all(np.abs(there.mean(axis=0) - truth.potentials) < 5 * error)
