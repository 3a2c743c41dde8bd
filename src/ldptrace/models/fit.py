"""Fit the potentials of a model to all noisy answers at once, each weighted by its known variance.

The answers are the expected answers of the model plus noise of known variance; the potentials have the Gaussian
prior of `ldptrace.models.prior`. The potentials are the most probable ones (Gauss-Newton steps), the variances of
the prior's components those of `ldptrace.models.evidence`. Nothing is clipped, and nothing is tuned by hand to a
data set. What is fitted may be any model that can say what it expects (`docs/explanation/path-model.md`, "The fit").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from ldptrace.models.linear import one_thread
from ldptrace.models.observation import Observation
from ldptrace.models.prior import Prior
from ldptrace.models.solver import DenseSolver, LargePredictor, Model, Solver

Floats = NDArray[np.float64]

ROUNDS = 10
# Rounds in which the variances of the prior's components are learned, and where a fit goes on from a similar one.
LEARNING, RELEARNING = 4, 2
# The fit has settled when new derivatives move no expected answer by more than this many standard errors.
TOLERANCE = 0.5
# Later steps fall short on purpose: full ones swing around the fit.
_RELAXED = 0.6
# Variance of potentials that are held at zero.
_HELD = 1e-6


@dataclass(frozen=True, eq=False)
class Fit(Generic[Model]):
    """The fitted model, its expected answers per question, and the variances of the prior's components."""

    model: Model
    expected: dict[str, Floats]
    variances: dict[str, float]
    rounds: int
    converged: bool


def fit_potentials(
    here: Model,
    prior: Prior,
    observations: Sequence[Observation],
    progress: Callable[[int, int], None] | None = None,
    variances: Mapping[str, float] | None = None,
) -> Fit[Model]:
    """The most probable potentials given the answers, from a model whose potentials are zero.

    Or from one that is nearly fitted: with the potentials of a similar fit, and the `variances` that it found.
    A model that offers products with its Jacobian instead of the Jacobian is fitted without any large matrix.
    `progress` is told, before each round, its number and the largest one there may be.
    """
    with one_thread():
        return _fitted(here, _answerable(prior, observations), observations, progress, variances)


def judged(fit: Fit[Any], prior: Prior, observations: Sequence[Observation]) -> tuple[Floats, float]:
    """Misfits of a fitted model in standard errors, and its effective number of parameters.

    With J the Jacobian at the fit and K the prior's covariance, the latter is tr (K^-1 + J^T J)^-1 J^T J.
    """
    solver = _solver(fit.model, prior, observations)
    logs = np.log([fit.variances[part.name] for part in prior.components])
    with one_thread():
        solver.linearise(fit.model)
        return solver.misfit(fit.model), solver.freedom(logs)


def _fitted(
    here: Model,
    prior: Prior,
    observations: Sequence[Observation],
    progress: Callable[[int, int], None] | None,
    found: Mapping[str, float] | None,
) -> Fit[Model]:
    names = [component.name for component in prior.components]
    logs = np.log(
        [
            found[component.name] if found is not None and not component.fixed else component.variance
            for component in prior.components
        ]
    )
    learning = LEARNING if found is None else RELEARNING
    if not observations:
        return Fit(here, {}, dict(zip(names, np.exp(logs).tolist(), strict=True)), 0, True)
    solver = _solver(here, prior, observations)
    for number in range(1, ROUNDS + 1):
        if progress is not None:
            progress(number, ROUNDS)
        solver.linearise(here)
        if number <= learning:
            learned = solver.likely(here, logs)
            # Half a step, later on: what is most likely near one fit is not quite so near the next.
            logs = learned if number <= 2 else (logs + learned) / 2
        here, change = solver.descend(here, logs, 1.0 if number <= 2 else _RELAXED)
        if number >= learning and change < TOLERANCE:
            break
    variances = {name: float(np.exp(log)) for name, log in zip(names, logs, strict=True)}
    return Fit(here, solver.expected(here), variances, number, change < TOLERANCE)


def _solver(here: Model, prior: Prior, observations: Sequence[Observation]) -> Solver[Model]:
    if not isinstance(here, LargePredictor):
        return DenseSolver(prior, observations)
    # Small grids start without what large ones need.
    from ldptrace.models.iterative import IterativeSolver

    return IterativeSolver(prior, observations)


def _answerable(prior: Prior, observations: Sequence[Observation]) -> Prior:
    """Components whose question nobody was asked are held at zero."""
    seen = {observation.name for observation in observations}
    held = [component.needs is not None and component.needs not in seen for component in prior.components]
    if not any(held):
        return prior
    return Prior(
        [
            replace(component, variance=_HELD, fixed=True) if zero else component
            for component, zero in zip(prior.components, held, strict=True)
        ]
    )
