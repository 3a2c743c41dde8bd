"""Fit the potentials of a model to all noisy answers at once, each weighted by its known variance.

The answers are the expected answers of the model plus noise of known variance; the potentials have the Gaussian
prior of `ldptrace.models.prior`. The potentials are the most probable ones (Gauss-Newton steps), the variances of
the prior's components those of `ldptrace.models.evidence`. Nothing is clipped, and nothing is tuned by hand to a
data set. What is fitted may be any model that can say what it expects (`docs/explanation/path-model.md`, "The fit").
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from ldptrace.models.evidence import likely_variances
from ldptrace.models.observation import Observation
from ldptrace.models.prior import Prior

Floats = NDArray[np.float64]

ROUNDS = 10
# Rounds in which the variances of the prior's components are learned.
LEARNING = 4
# Steps of the potentials with the same derivatives.
CHORDS = 3
# The fit has settled when new derivatives move no expected answer by more than this many standard errors; steps
# with the same derivatives go on a little longer.
TOLERANCE, _SMALL = 0.5, 0.1
# Steps of single potentials, and how far a step is shortened that leads to worse.
_LONGEST_STEP, _SHORTEST_SHARE = 1.0, 0.03
# Later steps fall short on purpose: full ones swing around the fit.
_RELAXED = 0.6
# Variance of potentials that are held at zero.
_HELD = 1e-6
# Potentials from which matrix products are worth several threads.
_LARGE = 1000


class Predictor(Protocol):
    """A model at given potentials x: what it expects users to answer, and how that changes with x."""

    @property
    def potentials(self) -> Floats: ...

    def moved(self, step: Floats) -> Self:
        """The model with the potentials x + step."""

    def answers(self, capacities: Mapping[str, int]) -> dict[str, Floats]:
        """Expected items per user for each question (name -> most items named)."""

    def jacobian(self, capacities: Mapping[str, int]) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Derivatives of the expected answers (rows) by the potentials (columns), and the part of each answer that
        is left when a path names an item once, which the rows include."""


Model = TypeVar("Model", bound=Predictor)


@dataclass(frozen=True, eq=False)
class Fit(Generic[Model]):
    """The fitted model, its expected answers per question, and the variances of the prior's components."""

    model: Model
    expected: dict[str, Floats]
    variances: dict[str, float]
    rounds: int
    converged: bool


def fit_potentials(here: Model, prior: Prior, observations: Sequence[Observation]) -> Fit[Model]:
    """The most probable potentials given the answers, from a model whose potentials are zero."""
    # Threads inside small matrix products cost ten times what they save, beside the threads of `map_chunks`.
    with threadpool_limits(1 if len(here.potentials) < _LARGE else None, "blas"):
        return _fitted(here, _answerable(prior, observations), observations)


def judged(fit: Fit[Model], prior: Prior, observations: Sequence[Observation]) -> tuple[Floats, float]:
    """Misfits of a fitted model in standard errors, and its effective number of parameters.

    With J the Jacobian at the fit and K the prior's covariance, the latter is tr (K^-1 + J^T J)^-1 J^T J.
    """
    tangent = _Tangent.at(fit.model, observations)
    with threadpool_limits(1 if len(fit.model.potentials) < _LARGE else None, "blas"):
        precision = prior.precision(np.array([fit.variances[part.name] for part in prior.components]))
        square = tangent.jacobian.T @ tangent.jacobian
        freedom = float(np.trace(cho_solve(cho_factor(precision + square), square)))
    return tangent.misfit(fit.model), freedom


def _fitted(here: Model, prior: Prior, observations: Sequence[Observation]) -> Fit[Model]:
    names = [component.name for component in prior.components]
    logs = np.log([component.variance for component in prior.components])
    if not observations:
        return Fit(here, {}, dict(zip(names, np.exp(logs).tolist(), strict=True)), 0, True)
    for number in range(1, ROUNDS + 1):
        tangent = _Tangent.at(here, observations)
        if number <= LEARNING:
            target = tangent.misfit(here) + tangent.jacobian @ here.potentials
            learned = likely_variances(prior, logs, tangent.jacobian, target)
            # Half a step, later on: what is most likely near one fit is not quite so near the next.
            logs = learned if number <= 2 else (logs + learned) / 2
        precision = prior.precision(np.exp(logs))
        here, change = _descend(here, tangent, precision, 1.0 if number <= 2 else _RELAXED)
        if number >= LEARNING and change < TOLERANCE:
            break
    variances = {name: float(np.exp(log)) for name, log in zip(names, logs, strict=True)}
    return Fit(here, tangent.expected(here), variances, number, change < TOLERANCE)


def _answerable(prior: Prior, observations: Sequence[Observation]) -> Prior:
    """Components whose question nobody was asked are held at zero."""
    seen = {observation.name for observation in observations}
    held = [component.needs is not None and component.needs not in seen for component in prior.components]
    if not any(held):
        return prior
    return Prior(
        [
            replace(component, variance=_HELD) if zero else component
            for component, zero in zip(prior.components, held, strict=True)
        ]
    )


@dataclass(frozen=True, eq=False)
class _Tangent:
    """The answers as a nearly linear function of the potentials, in units of their standard errors."""

    observations: Sequence[Observation]
    observed: Floats
    errors: Floats
    jacobian: Floats
    # Part of each expected answer that is left when a path names an item once; held while steps are made.
    left: dict[str, Floats]

    @staticmethod
    def at(here: Predictor, observations: Sequence[Observation]) -> _Tangent:
        observed, errors = _stacked(observations)
        rows, left = here.jacobian({seen.name: seen.most for seen in observations})
        return _Tangent(observations, observed, errors, _rows(observations, rows) / errors[:, None], left)

    def expected(self, at: Predictor) -> dict[str, Floats]:
        answers = at.answers({seen.name: seen.most for seen in self.observations})
        return {name: answer * self.left[name] for name, answer in answers.items()}

    def misfit(self, at: Predictor) -> Floats:
        return (self.observed - _rows(self.observations, self.expected(at))) / self.errors


def _descend(here: Model, tangent: _Tangent, precision: Floats, longest: float) -> tuple[Model, float]:
    """A few steps uphill in probability with the same derivatives; and by how much the first one wanted to change
    the expected answers."""
    jacobian = tangent.jacobian
    curvature = cho_factor(precision + jacobian.T @ jacobian, overwrite_a=True)
    gap, pull = tangent.misfit(here), precision @ here.potentials
    cost = gap @ gap + here.potentials @ pull
    first = math.inf
    for number in range(CHORDS):
        step = cho_solve(curvature, jacobian.T @ gap - pull)
        change = float(np.abs(jacobian @ step).max())
        first = change if number == 0 else first
        step, share = np.clip(step, -_LONGEST_STEP, _LONGEST_STEP), longest
        while share > _SHORTEST_SHARE:
            there = here.moved(share * step)
            new_gap, new_pull = tangent.misfit(there), precision @ there.potentials
            new_cost = new_gap @ new_gap + there.potentials @ new_pull
            if new_cost < cost:
                here, gap, pull, cost = there, new_gap, new_pull, new_cost
                break
            share /= 2
        if share < longest or change < _SMALL:
            break
    return here, first


def _stacked(observations: Sequence[Observation]) -> tuple[Floats, Floats]:
    """All frequencies and totals in one column, and their standard errors."""
    values = [part for seen in observations for part in (seen.frequencies, *_optional(seen, 0))]
    variances = [part for seen in observations for part in (seen.variances, *_optional(seen, 1))]
    return np.concatenate(values), np.sqrt(np.concatenate(variances))


def _optional(seen: Observation, which: int) -> list[Floats]:
    return [] if seen.total is None else [np.array([seen.total[which]])]


def _rows(observations: Sequence[Observation], by_question: dict[str, Floats]) -> Floats:
    """Expected answers or their derivatives in the order of `_stacked`."""
    rows = []
    for seen in observations:
        block = by_question[seen.name]
        rows.append(block)
        if seen.total is not None:
            rows.append(block.sum(axis=0, keepdims=True))
    return np.concatenate(rows)
