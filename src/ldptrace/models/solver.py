"""One round of a fit: the answers made linear at the current potentials, and steps towards the most probable ones.

Two solvers do it, one with the Jacobian as a matrix (`DenseSolver`), one with products only
(`ldptrace.models.iterative`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Generic, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.evidence import Spread, allowed_variances, climbed, condensed
from ldptrace.models.linear import Root
from ldptrace.models.observation import Observation
from ldptrace.models.prior import Prior, PriorRoot

# Steps of the potentials with the same derivatives; they go on until no answer moves by more standard errors than this.
CHORDS, SMALL = 3, 0.1
# Steps of single potentials, and how far a step is shortened that leads to worse.
LONGEST_STEP, SHORTEST_SHARE = 1.0, 0.03
# The part of an answer that no model of cells can express.
INEXACT = 0.03
# Answers that the potentials move by less than this part of their noise, squared, say nothing.
FAINT = 1e-3
# Draws of potentials for each draw of the prior's variances: the latter take the time.
TOGETHER = 2


class Predictor(Protocol):
    """A model at given potentials x: what it expects users to answer, and how that changes with x."""

    @property
    def potentials(self) -> Floats: ...

    def moved(self, step: Floats) -> Self:
        """Return the model with the potentials x + step."""

    def answers(self, capacities: Mapping[str, int]) -> dict[str, Floats]:
        """Return expected items per user for each question (name -> most items named)."""


@runtime_checkable
class SmallPredictor(Predictor, Protocol):
    """A model small enough for its Jacobian."""

    def jacobian(self, capacities: Mapping[str, int]) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return the derivatives of the expected answers (rows) by the potentials (columns), and the part of each
        answer that is left when a path names an item once, which the rows include."""


class JacobianProducts(Protocol):
    """A Jacobian that is only ever multiplied with."""

    @property
    def left(self) -> dict[str, Floats]:
        """The share of each answer that remains because a path names an item only once. The products include it."""

    def apply(self, direction: Floats) -> dict[str, Floats]:
        """Return derivatives of the expected answers along a direction of the potentials."""

    def apply_transposed(self, values: Mapping[str, Floats]) -> Floats:
        """Return derivatives of the sum of the expected answers times `values`."""


@runtime_checkable
class LargePredictor(Predictor, Protocol):
    """A model too large for its Jacobian."""

    def products(self, capacities: Mapping[str, int]) -> JacobianProducts:
        """Return products with the Jacobian at these potentials."""

    def pools(self, name: str) -> Ints:
        """Return groups of similar answers to a question: a number from 0 for each item."""


Model = TypeVar("Model", bound=Predictor)


class Solver(ABC, Generic[Model]):
    """Answers in units of their standard errors, and the steps that a round makes."""

    # The round from which on a fit that begins at zero potentials learns variances.
    first_learning = 1

    def __init__(self, prior: Prior, observations: Sequence[Observation], with_trip: float = 1.0) -> None:
        self.prior, self.observations = prior, observations
        # The share of devices with a trip: models say what these answer.
        self.with_trip = with_trip
        values = [part for seen in observations for part in (seen.frequencies, *_optional(seen, 0))]
        variances = [part for seen in observations for part in (seen.fitted, *_optional(seen, 1))]
        self.observed, self.errors = np.concatenate(values), np.sqrt(np.concatenate(variances))
        self.capacities = {seen.name: seen.most for seen in observations}
        # Part of each expected answer that is left when a path names an item once; held while steps are made.
        self.left: dict[str, Floats] = {}

    @abstractmethod
    def linearise(self, here: Model) -> None:
        """Take the derivatives at these potentials."""

    @abstractmethod
    def likely(self, here: Model, logs: Floats) -> Floats:
        """Return logarithms of the components' variances under which the answers are more probable."""

    @abstractmethod
    def descend(self, here: Model, logs: Floats, longest: float) -> tuple[Model, float]:
        """Take steps uphill in probability. Returns by how much the first one wanted to change the expected answers."""

    @abstractmethod
    def freedom(self, logs: Floats) -> float:
        """Return the effective number of parameters at these potentials: tr (K^-1 + J^T J)^-1 J^T J."""

    @abstractmethod
    def target(self, here: Model) -> Floats:
        """Return the linearised answers, which are J times the potentials plus noise."""

    @abstractmethod
    def telling(self, here: Model) -> tuple[Floats, Floats]:
        """Return rows of the Jacobian and linearised answers that say what variances are likely."""

    @abstractmethod
    def draws(self, logs: Floats, count: int, rng: np.random.Generator, target: Floats) -> Floats:
        """Draw potentials, given that J times them is the target plus noise: one in each row. Their covariance is
        (K^-1 + J^T J)^-1."""

    def changes(self, here: Model, logs: Floats, count: int, rng: np.random.Generator) -> Floats:
        """Draw by what potentials that the answers allow as well differ from these: one in each row."""
        allowed = allowed_variances(self.prior, logs, *self.telling(here), count // TOGETHER, rng)
        target = self.target(here)
        drawn = [self.draws(each, TOGETHER, rng, target) for each in allowed]
        return np.concatenate(drawn) - here.potentials

    @abstractmethod
    def beyond(self, change: Floats, logs: Floats) -> tuple[Floats, float]:
        """Return the potentials that come nearest to a change c of the answers, and how much of it none come to,
        squared:
        (K^-1 + J^T J)^-1 J^T c and c^T (1 - J (K^-1 + J^T J)^-1 J^T) c."""

    def growth(self, at: Model) -> Floats:
        """Return how the answers, in standard errors, change with the logarithm of a factor of all of them."""
        return self.stacked(self.expected(at)) / self.errors

    def weighted(self) -> list[Observation]:
        """Return the observations with the variances that the steps use."""
        observations, at = [], 0
        for seen in self.observations:
            variances = self.errors[at : at + len(seen.frequencies)] ** 2
            at += len(variances)
            total = seen.total
            if total is not None:
                total = (total[0], float(self.errors[at]) ** 2)
                at += 1
            observations.append(replace(seen, variances=variances, total=total))
        return observations

    def expected(self, at: Model) -> dict[str, Floats]:
        """Return expected answers, repeats taken away."""
        answers = at.answers(self.capacities)
        return {name: self.with_trip * answer * self.left[name] for name, answer in answers.items()}

    def misfit(self, at: Model) -> Floats:
        """Return observed less expected answers, in standard errors."""
        return (self.observed - self.stacked(self.expected(at))) / self.errors

    def by_item(self, values: Floats) -> Floats:
        """Return the factor of each item in sums of answers and totals times `values`: a row for each sum."""
        factors, at = [], 0
        for seen in self.observations:
            items = values[:, at : at + len(seen.frequencies)]
            at += items.shape[1]
            if seen.total is not None:
                items = items + values[:, at : at + 1]
                at += 1
            factors.append(items)
        return np.concatenate(factors, axis=1)

    def stacked(self, by_question: Mapping[str, Floats]) -> Floats:
        """Put answers or their derivatives into one column, totals after the items of each question."""
        rows = []
        for seen in self.observations:
            block = by_question[seen.name]
            rows.append(block)
            if seen.total is not None:
                rows.append(block.sum(axis=0, keepdims=True))
        return np.concatenate(rows)


class DenseSolver(Solver[Model]):
    """With the Jacobian J as a matrix and Cholesky factors: exact, for up to a few thousand potentials.

    With K the prior's covariance, the equations of a step are (K^-1 + J^T J) step = J^T misfit - K^-1 x. Answers that
    say next to nothing of the potentials, such as those about pairs of districts between which hardly any way leads,
    are left out of J^T J: the fit is the same, and steps to it take less time.
    """

    # The answers that J^T J is made of, chosen once; None: all so far.
    _rows: Ints | None = None

    def linearise(self, here: Model) -> None:
        assert isinstance(here, SmallPredictor)
        rows, self.left = here.jacobian(self.capacities)
        self.jacobian = self.stacked(rows)
        self.jacobian *= (self.with_trip / self.errors)[:, None]
        answers, potentials = self.jacobian.shape
        self._square = self.jacobian.T @ self.jacobian if potentials <= answers else None
        self._kept: tuple[Floats, tuple[PriorRoot, Callable[[Floats], Floats]]] | None = None

    def likely(self, here: Model, logs: Floats) -> Floats:
        jacobian, target = self.telling(here)
        return climbed(self.prior, logs, Spread.of(self.prior.views(jacobian)), target)

    def target(self, here: Model) -> Floats:
        return self.misfit(here) + self.jacobian @ here.potentials

    def telling(self, here: Model) -> tuple[Floats, Floats]:
        return condensed(self.jacobian, self.target(here), self._square)

    def descend(self, here: Model, logs: Floats, longest: float) -> tuple[Model, float]:
        root, solved = self._at(logs)
        gap, pull = self.misfit(here), root.pull(here.potentials)
        cost = float(gap @ gap + pull @ here.potentials)
        first = math.inf
        for number in range(CHORDS):
            step = solved(gap @ self.jacobian - pull)
            change = float(np.abs(self.jacobian @ step).max())
            first = change if number == 0 else first
            # No potential moves far at once; where that turns the step uphill, the whole step is shortened.
            bounded = np.clip(step, -LONGEST_STEP, LONGEST_STEP)
            shortened = step / max(1, np.abs(step).max() / LONGEST_STEP)
            better = self._better(here, bounded, root, cost, longest) or self._better(
                here, shortened, root, cost, longest
            )
            if better is None:
                break
            share, here, gap, pull, cost = better
            if share < longest or change < SMALL:
                break
        return here, first

    def _better(
        self, here: Model, step: Floats, root: PriorRoot, cost: float, longest: float
    ) -> tuple[float, Model, Floats, Floats, float] | None:
        """Halve a step until it costs less. Returns the share of it that does, the model, its misfit, pull and cost."""
        share = longest
        while share > SHORTEST_SHARE:
            there = here.moved(share * step)
            gap, pull = self.misfit(there), root.pull(there.potentials)
            new = float(gap @ gap + pull @ there.potentials)
            if new < cost:
                return share, there, gap, pull, new
            share /= 2
        return None

    def freedom(self, logs: Floats) -> float:
        root = self.prior.root(np.exp(logs))
        if self._square is not None:
            return float(np.vdot(Root(root.precision() + self._square).inverse(), self._square))
        # The trace of W^T W (1 + W^T W)^-1, W = J L, is that of W W^T (1 + W W^T)^-1.
        inverted = self._seen_covariance(root)[0].inverted
        return len(inverted) - float(np.vdot(inverted, inverted))

    def beyond(self, change: Floats, logs: Floats) -> tuple[Floats, float]:
        nearest = self._at(logs)[1](change @ self.jacobian)
        return nearest, float(change @ (change - self.jacobian @ nearest))

    def draws(self, logs: Floats, count: int, rng: np.random.Generator, target: Floats) -> Floats:
        root = self.prior.root(np.exp(logs), self.prior.widths(rng))
        chances = rng.standard_normal((self.jacobian.shape[1], count))
        if self._square is not None:
            known = Root(root.precision() + self._square)
            return (known.inverted.T @ chances).T + known.solve(target @ self.jacobian)
        # Potentials of the prior, moved to agree with answers that it draws for them, as far as noise allows.
        solved = self._solver(root)
        before = root.drawn(chances)
        noise = rng.standard_normal((len(self.jacobian), count))
        gap = target[:, None] + noise - self.jacobian @ before
        moved = [solved(self.jacobian.T @ gap[:, number]) for number in range(count)]
        return before.T + np.array(moved)

    def _solver(self, root: PriorRoot) -> Callable[[Floats], Floats]:
        """Solve the equations of a step: those of the potentials, or, where they are fewer, of the answers."""
        if self._square is not None:
            return Root(root.precision() + self._square).solve
        seen, jacobian = self._seen_covariance(root)
        return lambda right: root.spread(right - seen.solve(jacobian @ root.spread(right)) @ jacobian)

    def _at(self, logs: Floats) -> tuple[PriorRoot, Callable[[Floats], Floats]]:
        """Return the root of the prior with these variances, and what solves the equations; the last ones are kept."""
        if self._kept is None or not np.array_equal(self._kept[0], logs):
            root = self.prior.root(np.exp(logs))
            self._kept = logs.copy(), (root, self._solver(root))
        return self._kept[1]

    def _seen_covariance(self, root: PriorRoot) -> tuple[Root, Floats]:
        """Return the covariance of the answers that say something, with noise of variance one, 1 + J K J^T, and J."""
        told = self.jacobian if self._rows is None else self.jacobian[self._rows]
        view = root.seen_by(told)
        if self._rows is None:
            self._rows = np.flatnonzero((view**2).sum(axis=1) > FAINT)
            view, told = view[self._rows], told[self._rows]
        covariance = view @ view.T
        covariance[np.diag_indices_from(covariance)] += 1
        return Root(covariance), told


def _optional(seen: Observation, which: int) -> list[Floats]:
    return [] if seen.total is None else [np.array([seen.total[which]])]
