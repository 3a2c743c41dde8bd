"""Fit the potentials of a model to all noisy answers at once, each weighted by its known variance.

The answers are the expected answers of the model plus noise of known variance; the potentials have the Gaussian
prior of `ldptrace.models.prior`. The potentials are the most probable ones (Gauss-Newton steps), the variances of
the prior's components those of `ldptrace.models.evidence`. Nothing is clipped, and nothing is tuned by hand to a
data set. Any model that computes expected answers can be fitted (`docs/explanation/path-model.md`, "The fit").

Devices without a trip answer null to every question, so each expected answer is t times what the trips alone give, t
the share of devices with a trip (`Solver.with_trip`). It is not one of the potentials: what a model cannot explain
would be taken for people at home. It follows from the questions that every trip answers with exactly one item, whose
totals need no model, and from the other answers as far as the model agrees (`_share`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.models.linear import one_thread
from ldptrace.models.observation import CLEAR, Observation, Share, first_guess
from ldptrace.models.prior import Prior
from ldptrace.models.solver import (
    INEXACT,
    DenseSolver,
    LargePredictor,
    Model,
    Solver,
)

# The smallest share with a trip that a fit begins from.
LEAST = 0.02


# Rounds at most, and in a stream, where the next fit goes on from this one.
ROUNDS, CONTINUED = 10, 3
# Rounds in which the variances of the prior's components are learned, where a fit goes on from one, and in a stream.
LEARNING, RELEARNING, CONTINUED_LEARNING = 4, 2, 1
# Variances have settled when the logarithms of none changes by more.
SETTLED = 0.15
# The fit has settled when new derivatives move no expected answer by more than this many standard errors; a fit is one
# to go on from while it is this near.
TOLERANCE, NEAR = 0.5, 10.0
# Steps after the first two, in a stream after the first, fall short on purpose: full ones swing around the fit.
_RELAXED = 0.6
# Standard errors by which the share without a trip may differ between totals and model.
AGREED = 2.0
# Variance of potentials that are held at zero.
_HELD = 1e-9


@dataclass(frozen=True, eq=False)
class Fit(Generic[Model]):
    """The fitted model of trips, the share of devices without one, and the variances of the prior's components.

    `with_trip` is the share of devices with a trip that it was fitted with: one, unless the answers to single questions
    say clearly that it is less. `expected` are the answers of all devices to each question. The last round wanted to
    move none of them by more than `change` standard errors. `nearest` is how the potentials would follow if all answers
    grew (`Solver.beyond`).
    """

    model: Model
    expected: dict[str, Floats]
    variances: dict[str, float]
    rounds: int
    change: float
    with_trip: float
    share: Share
    nearest: tuple[Floats, float] | None = None

    @property
    def converged(self) -> bool:
        return self.change < TOLERANCE

    @property
    def near(self) -> bool:
        """Whether it saw answers, and the next fit can go on from it."""
        return bool(self.expected) and self.change < NEAR

    @property
    def scales(self) -> dict[str, float]:
        """Standard deviations of the components of the potentials."""
        return {name: math.sqrt(variance) for name, variance in self.variances.items()}


def fit_potentials(
    here: Model,
    prior: Prior,
    observations: Sequence[Observation],
    progress: Callable[[int, int], None] | None = None,
    before: Fit[Any] | None = None,
    *,
    briefly: bool = False,
) -> Fit[Model]:
    """Find the most probable potentials given the answers, from a model whose potentials are zero.

    Or from one that is nearly fitted: with the potentials of a similar fit, `before`, whose variances are where the
    search for others begins. A model that offers products with its Jacobian instead of the Jacobian is fitted without
    any large matrix. `progress` gets, before each round, its number and the largest possible number. A fit of a stream
    goes on `briefly`: what a few rounds leave undone, the next fit does, so that the time of a step has a bound.
    """
    guess, rounds, prior = (
        first_guess(observations),
        _Rounds.of(before, briefly),
        _answerable(prior, observations),
    )
    if not observations:
        return Fit(here, {}, _variances(prior, rounds.logs(prior)), 0, 0.0, 1.0, guess)
    with_trip = 1.0
    if guess.clear:
        with_trip = 1 - (guess if before is None else before.share).value
    with one_thread():
        return _fitted(here, _solver(here, prior, observations, with_trip), rounds, progress)


def judged(fit: Fit[Any], prior: Prior, observations: Sequence[Observation]) -> tuple[Floats, float]:
    """Return misfits of a fitted model in standard errors, and its effective number of parameters.

    With J the Jacobian at the fit and K the prior's covariance, the latter is tr (K^-1 + J^T J)^-1 J^T J.
    """
    solver, logs = solver_at(fit, prior, observations)
    with one_thread():
        return solver.misfit(fit.model), solver.freedom(logs)


def solver_at(fit: Fit[Any], prior: Prior, observations: Sequence[Observation]) -> tuple[Solver[Any], Floats]:
    """Return the solver with the derivatives at a fit, and the logarithms of the variances that the fit found."""
    solver = _solver(fit.model, prior, observations, fit.with_trip)
    with one_thread():
        solver.linearise(fit.model)
    return solver, np.log([fit.variances[part.name] for part in prior.components])


@dataclass(frozen=True)
class _Rounds:
    """How many rounds a fit makes at most, in how many it learns variances, from which on, and how many are full."""

    most: int
    learning: int
    full: int
    variances: Mapping[str, float]

    @staticmethod
    def of(before: Fit[Any] | None, briefly: bool) -> _Rounds:
        if before is None:
            return _Rounds(ROUNDS, LEARNING, 2, {})
        if briefly:
            return _Rounds(CONTINUED, CONTINUED_LEARNING, 1, before.variances)
        return _Rounds(ROUNDS, RELEARNING, 2, before.variances)

    def logs(self, prior: Prior) -> Floats:
        """Return the logarithms of the variances that a fit begins with."""
        known = self.variances
        return np.log(
            [
                part.variance if part.fixed else known.get(part.name, part.variance)
                for part in prior.components
            ]
        )


def _fitted(
    here: Model, solver: Solver[Model], rounds: _Rounds, progress: Callable[[int, int], None] | None
) -> Fit[Model]:
    logs = rounds.logs(solver.prior)
    guess, absent, settled = first_guess(solver.observations), None, False
    for number in range(1, rounds.most + 1):
        if progress is not None:
            progress(number, rounds.most)
        solver.linearise(here)
        if number <= rounds.learning:
            learned = solver.likely(here, logs)
            settled = number > solver.first_learning and np.abs(learned - logs).max() < SETTLED
            # Half a step, later on: what is most likely near one fit is not quite so near the next.
            logs = learned if number <= solver.first_learning + 1 else (logs + learned) / 2
        here, change = solver.descend(here, logs, 1.0 if number <= rounds.full else _RELAXED)
        if number < rounds.learning and not settled:
            continue
        # Without a clear share there is none: with few answers it would only overfit.
        if guess.clear:
            absent, before = _share(here, solver, logs), solver.growth(here)
            solver.with_trip = _possible(1 - absent[0].value)
            change = max(change, float(np.abs(solver.growth(here) - before).max()))
        if change < TOLERANCE:
            break
    absent = absent or _share(here, solver, logs)
    variances, expected = _variances(solver.prior, logs), solver.expected(here)
    return Fit(here, expected, variances, number, change, solver.with_trip, *absent)


def _variances(prior: Prior, logs: Floats) -> dict[str, float]:
    return {part.name: float(np.exp(log)) for part, log in zip(prior.components, logs, strict=True)}


def _share(here: Model, solver: Solver[Model], logs: Floats) -> tuple[Share, tuple[Floats, float] | None]:
    """Return the share without a trip with its error, by the totals and by the model, and how the potentials would
    follow if all answers grew, where that was asked.

    Totals of the questions that every trip answers once need no model. What all other answers say depends on the model,
    and counts the less the more it differs from the totals: a misfit must not be taken for people at home. The error is
    never stated below that of the totals alone, because the model can be wrong where they do not show it.
    """
    totals, with_trip = first_guess(solver.observations), solver.with_trip
    if not totals.known:
        return first_guess([]), None
    # All of it is about x, the logarithm of the share with a trip less that of now: estimates with their variances.
    by_totals, variance = _log_of(totals, with_trip)
    growth = solver.growth(here)
    nearest, precision = solver.beyond(growth, logs)
    own, own_variance = _log_of(first_guess(solver.weighted()), with_trip)
    rest = precision - 1 / own_variance
    if rest <= 0:
        return totals, (nearest, precision)
    by_model = (float(growth @ solver.misfit(here)) - own / own_variance) / rest
    own_doubt, square = 1 / rest + INEXACT**2, (by_model - by_totals) ** 2
    # Up to `AGREED` standard errors the two agree; beyond, what the model says is as doubtful as makes it so.
    doubt = max(square / AGREED**2 - variance, own_doubt)
    change = (by_totals / variance + by_model / doubt) / (1 / variance + 1 / doubt)
    differs = square > CLEAR**2 * (variance + own_doubt)
    mistaken = 1 - with_trip * math.exp(min(by_model, 1.0)) if differs else None
    return Share(1 - with_trip * (1 + change), totals.std_error, mistaken), (nearest, precision)


def _log_of(share: Share, with_trip: float) -> tuple[float, float]:
    """Return a share as a change of the logarithm of the share with a trip, and its variance."""
    return (1 - share.value) / with_trip - 1, (share.std_error / with_trip) ** 2


def _possible(with_trip: float) -> float:
    """Return the share with a trip, not below the smallest that a fit begins from, and at most one."""
    return min(max(with_trip, LEAST), 1.0)


def _solver(
    here: Model, prior: Prior, observations: Sequence[Observation], with_trip: float
) -> Solver[Model]:
    share = _possible(with_trip)
    if not isinstance(here, LargePredictor):
        return DenseSolver(prior, observations, share)
    # Small grids start without what large ones need.
    from ldptrace.models.iterative import IterativeSolver

    return IterativeSolver(prior, observations, share)


def _answerable(prior: Prior, observations: Sequence[Observation]) -> Prior:
    """Hold components at zero whose question nobody was asked."""
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
