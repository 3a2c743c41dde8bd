"""One round of a fit: the answers made linear at the current potentials, and steps towards the most probable ones.

Two solvers do it, one with the Jacobian as a matrix (`DenseSolver`), one with products only
(`ldptrace.models.iterative`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Generic, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ldptrace.models.evidence import condensed, likely_variances
from ldptrace.models.linear import solver_of
from ldptrace.models.observation import Observation
from ldptrace.models.prior import Prior

Floats = NDArray[np.float64]

# Steps of the potentials with the same derivatives; they go on until no answer moves by more standard errors than this.
CHORDS, SMALL = 3, 0.1
# Steps of single potentials, and how far a step is shortened that leads to worse.
LONGEST_STEP, SHORTEST_SHARE = 1.0, 0.03


class Predictor(Protocol):
    """A model at given potentials x: what it expects users to answer, and how that changes with x."""

    @property
    def potentials(self) -> Floats: ...

    def moved(self, step: Floats) -> Self:
        """The model with the potentials x + step."""

    def answers(self, capacities: Mapping[str, int]) -> dict[str, Floats]:
        """Expected items per user for each question (name -> most items named)."""


@runtime_checkable
class SmallPredictor(Predictor, Protocol):
    """A model small enough for its Jacobian."""

    def jacobian(self, capacities: Mapping[str, int]) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Derivatives of the expected answers (rows) by the potentials (columns), and the part of each answer that
        is left when a path names an item once, which the rows include."""


class JacobianProducts(Protocol):
    """A Jacobian that is only ever multiplied with."""

    @property
    def left(self) -> dict[str, Floats]:
        """The part of each answer that is left when a path names an item once, which the products include."""

    def apply(self, direction: Floats) -> dict[str, Floats]:
        """Derivatives of the expected answers along a direction of the potentials."""

    def apply_transposed(self, values: Mapping[str, Floats]) -> Floats:
        """Derivatives of the sum of the expected answers times `values`."""


@runtime_checkable
class LargePredictor(Predictor, Protocol):
    """A model too large for its Jacobian."""

    def products(self, capacities: Mapping[str, int]) -> JacobianProducts:
        """Products with the Jacobian at these potentials."""

    def pools(self, name: str) -> NDArray[np.int64]:
        """Groups of similar answers to a question: a number from 0 for each item."""


Model = TypeVar("Model", bound=Predictor)


class Solver(ABC, Generic[Model]):
    """Answers in units of their standard errors, and the steps that a round makes."""

    def __init__(self, prior: Prior, observations: Sequence[Observation]) -> None:
        self.prior, self.observations = prior, observations
        values = [part for seen in observations for part in (seen.frequencies, *_optional(seen, 0))]
        variances = [part for seen in observations for part in (seen.variances, *_optional(seen, 1))]
        self.observed, self.errors = np.concatenate(values), np.sqrt(np.concatenate(variances))
        self.capacities = {seen.name: seen.most for seen in observations}
        # Part of each expected answer that is left when a path names an item once; held while steps are made.
        self.left: dict[str, Floats] = {}

    @abstractmethod
    def linearise(self, here: Model) -> None:
        """Take the derivatives at these potentials."""

    @abstractmethod
    def likely(self, here: Model, logs: Floats) -> Floats:
        """Logarithms of the components' variances under which the answers are more probable."""

    @abstractmethod
    def descend(self, here: Model, logs: Floats, longest: float) -> tuple[Model, float]:
        """Steps uphill in probability, and by how much the first one wanted to change the expected answers."""

    @abstractmethod
    def freedom(self, logs: Floats) -> float:
        """The effective number of parameters at these potentials: tr (K^-1 + J^T J)^-1 J^T J."""

    def expected(self, at: Model) -> dict[str, Floats]:
        """Expected answers, repeats taken away."""
        return {name: answer * self.left[name] for name, answer in at.answers(self.capacities).items()}

    def misfit(self, at: Model) -> Floats:
        """Observed less expected answers, in standard errors."""
        return (self.observed - self.stacked(self.expected(at))) / self.errors

    def stacked(self, by_question: Mapping[str, Floats]) -> Floats:
        """Answers or their derivatives in one column, totals after the items of each question."""
        rows = []
        for seen in self.observations:
            block = by_question[seen.name]
            rows.append(block)
            if seen.total is not None:
                rows.append(block.sum(axis=0, keepdims=True))
        return np.concatenate(rows)


class DenseSolver(Solver[Model]):
    """With the Jacobian as a matrix and Cholesky factors: exact, for up to a few thousand potentials."""

    def linearise(self, here: Model) -> None:
        assert isinstance(here, SmallPredictor)
        rows, self.left = here.jacobian(self.capacities)
        self.jacobian = self.stacked(rows) / self.errors[:, None]

    def likely(self, here: Model, logs: Floats) -> Floats:
        target = self.misfit(here) + self.jacobian @ here.potentials
        return likely_variances(self.prior, logs, *condensed(self.jacobian, target))

    def descend(self, here: Model, logs: Floats, longest: float) -> tuple[Model, float]:
        jacobian, precision = self.jacobian, self.prior.precision(np.exp(logs))
        solved = solver_of(precision + jacobian.T @ jacobian)
        gap, pull = self.misfit(here), precision @ here.potentials
        cost = float(gap @ gap + here.potentials @ pull)
        first = math.inf
        for number in range(CHORDS):
            step = solved(jacobian.T @ gap - pull)
            change = float(np.abs(jacobian @ step).max())
            first = change if number == 0 else first
            # No potential moves far at once; where that turns the step uphill, the step is shortened as a whole.
            bounded = np.clip(step, -LONGEST_STEP, LONGEST_STEP)
            shortened = step / max(1, np.abs(step).max() / LONGEST_STEP)
            better = self._better(here, bounded, precision, cost, longest) or self._better(
                here, shortened, precision, cost, longest
            )
            if better is None:
                break
            share, here, gap, pull, cost = better
            if share < longest or change < SMALL:
                break
        return here, first

    def _better(
        self, here: Model, step: Floats, precision: Floats, cost: float, longest: float
    ) -> tuple[float, Model, Floats, Floats, float] | None:
        """A step, halved until it costs less: the share of it that does, the model, misfit, pull and cost there."""
        share = longest
        while share > SHORTEST_SHARE:
            there = here.moved(share * step)
            gap, pull = self.misfit(there), precision @ there.potentials
            new = float(gap @ gap + there.potentials @ pull)
            if new < cost:
                return share, there, gap, pull, new
            share /= 2
        return None

    def freedom(self, logs: Floats) -> float:
        square = self.jacobian.T @ self.jacobian
        return float(np.trace(solver_of(self.prior.precision(np.exp(logs)) + square)(square)))


def _optional(seen: Observation, which: int) -> list[Floats]:
    return [] if seen.total is None else [np.array([seen.total[which]])]
