"""Fit the potentials of a model to all noisy answers at once, each weighted by its known variance.

The answers are the expected answers of the model plus noise of known variance; the potentials have the Gaussian
prior of `ldptrace.models.prior`. The potentials are the most probable ones (Gauss-Newton steps), the variances of
the prior's components those of `ldptrace.models.evidence`. Nothing is clipped, and nothing is tuned by hand to a
data set. Any model that computes expected answers can be fitted (`docs/explanation/path-model.md`, "The fit").
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.models.linear import one_thread
from ldptrace.models.observation import Observation, Share, first_guess
from ldptrace.models.presence import COMPONENT, SPREAD, Travelling, travelling, with_presence
from ldptrace.models.prior import Prior
from ldptrace.models.solver import DenseSolver, LargePredictor, Model, Solver

ROUNDS = 10
# Rounds in which the variances of the prior's components are learned, and where a fit goes on from a similar one.
LEARNING, RELEARNING = 4, 2
# The fit has settled when new derivatives move no expected answer by more than this many standard errors.
TOLERANCE = 0.5
# Later steps fall short on purpose: full ones swing around the fit.
_RELAXED = 0.6
# Variance of potentials that are held at zero.
_HELD = 1e-9


@dataclass(frozen=True, eq=False)
class Fit(Generic[Model]):
    """The fitted model of trips, the share of devices without one, and the variances of the prior's components.

    `with_trip` is the share of devices with a trip that it was fitted with: one, unless the answers to single questions
    say clearly that it is less. `expected` are the answers of all devices to each question.
    """

    model: Model
    expected: dict[str, Floats]
    variances: dict[str, float]
    rounds: int
    converged: bool
    with_trip: float
    share: Share

    @property
    def scales(self) -> dict[str, float]:
        """Standard deviations of the components of the potentials."""
        return {name: math.sqrt(found) for name, found in self.variances.items() if name != COMPONENT}


def fit_potentials(
    here: Model,
    prior: Prior,
    observations: Sequence[Observation],
    progress: Callable[[int, int], None] | None = None,
    before: Fit[Any] | None = None,
) -> Fit[Model]:
    """The most probable potentials given the answers, from a model whose potentials are zero.

    Or from one that is nearly fitted: with the potentials of a similar fit, `before`, whose variances are where the
    search for others begins. A model that offers products with its Jacobian instead of the Jacobian is fitted without
    any large matrix. `progress` gets, before each round, its number and the largest possible number.
    """
    guess = first_guess(observations)
    with_trip = 1.0
    if guess.clear:
        with_trip = 1 - (guess if before is None else before.share).value
    # Without a clear share there is none: with few answers it would only overfit.
    grown = with_presence(_answerable(prior, observations), SPREAD**2 if guess.clear else _HELD)
    with one_thread():
        return _fitted(
            travelling(here, with_trip),
            grown,
            observations,
            progress,
            None if before is None else before.variances,
        )


def judged(fit: Fit[Any], prior: Prior, observations: Sequence[Observation]) -> tuple[Floats, float]:
    """Misfits of a fitted model in standard errors, and its effective number of parameters.

    With J the Jacobian at the fit and K the prior's covariance, the latter is tr (K^-1 + J^T J)^-1 J^T J.
    """
    solver, logs = solver_at(fit, prior, observations)
    with one_thread():
        return solver.misfit(travelling(fit.model, fit.with_trip)), solver.freedom(logs)


def solver_at(fit: Fit[Any], prior: Prior, observations: Sequence[Observation]) -> tuple[Solver[Any], Floats]:
    """The solver with the derivatives at a fit, and the logarithms of the variances that it found."""
    grown, here = with_presence(prior), travelling(fit.model, fit.with_trip)
    solver = _solver(here, grown, observations)
    with one_thread():
        solver.linearise(here)
    return solver, np.log([fit.variances[part.name] for part in grown.components])


def _fitted(
    here: Travelling[Model],
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
        variances = dict(zip(names, np.exp(logs).tolist(), strict=True))
        return Fit(here.trips, {}, variances, 0, True, 1.0, first_guess([]))
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
    share = _share(here, solver, logs)
    return Fit(
        here.trips, solver.expected(here), variances, number, change < TOLERANCE, here.with_trip, share
    )


def _share(here: Travelling[Any], solver: Solver[Any], logs: Floats) -> Share:
    """The share without a trip with its error, all other potentials unknown too; one step on where it was held."""
    if not first_guess(solver.observations).known:
        return first_guess([])
    last = np.append(np.zeros(len(here.potentials) - 1), 1.0)
    change, beyond = solver.beyond(last, np.append(logs[:-1], math.log(_HELD)))
    precision = beyond + 1 / SPREAD**2
    step = 0.0
    if logs[-1] <= math.log(_HELD):
        step = float(change @ solver.misfit(here)) / precision
    with_trip = here.with_trip * (1 + step)
    return Share(1 - with_trip, here.with_trip / math.sqrt(precision))


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
