"""Fit the potentials to all noisy answers at once, each weighted by its known variance.

The answers are the expected answers of the model plus noise of known variance; the potentials have the Gaussian
prior of `ldptrace.models.path.priors`. The potentials are the most probable ones (Gauss-Newton steps); the variances
of the prior's parts are those under which the noisy answers are most probable (marginal likelihood of the
linearised model, climbed by average-information steps). Nothing is clipped, and nothing is tuned by hand to a
data set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from threadpoolctl import threadpool_limits

from ldptrace.models.path.network import Network
from ldptrace.models.path.priors import Belief, Part, inverse_of, parts
from ldptrace.models.path.statistics import Expectation, Layout

Floats = NDArray[np.float64]

ROUNDS = 10
# Rounds in which the variances of the prior's parts are learned, and how often they are improved in each.
LEARNING, CLIMBS = 4, 4
# Steps of the potentials with the same derivatives.
CHORDS = 3
# The fit has settled when new derivatives move no expected answer by more than this many standard errors; steps
# with the same derivatives go on a little longer.
TOLERANCE, _SMALL = 0.5, 0.1
# How far the variance of a part may be from its first guess: standard deviation of its logarithm.
_SPREAD = 4.0
# Marginal likelihood uses at most so many answers; more say little more about twenty variances.
_ANSWERS = 600
# Steps of single potentials, and how far a step is shortened that leads to worse.
_LONGEST_STEP, _SHORTEST_SHARE = 1.0, 0.03
# Later steps fall short on purpose: full ones swing around the fit.
_RELAXED = 0.6
# Variance of potentials that are held at zero.
_HELD = 1e-6
# Potentials from which matrix products are worth several threads.
_LARGE = 1000


@dataclass(frozen=True, eq=False)
class Observation:
    """One question's answers, per user asked: unbiased frequencies with their variances.

    `total` is the mean number of items named, where the empty places were counted too.
    """

    name: str
    most: int
    users: int
    frequencies: Floats
    variances: Floats
    total: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Fit:
    """The fitted model, its expected answers per question, and the variances of the prior's parts."""

    model: Expectation
    expected: dict[str, Floats]
    variances: dict[str, float]
    rounds: int
    converged: bool


def calibrate(network: Network, lengths: int, observations: Sequence[Observation]) -> Fit:
    """The most probable potentials given the answers."""
    layout = Layout(network.cells, network.moves, lengths)
    # Threads inside small matrix products cost ten times what they save, beside the threads of `map_chunks`.
    with threadpool_limits(1 if layout.size < _LARGE else None, "blas"):
        return _calibrated(network, lengths, observations, layout)


def _calibrated(network: Network, lengths: int, observations: Sequence[Observation], layout: Layout) -> Fit:
    belief = Belief(_asked_about(parts(network, layout), observations))
    logs = np.log([part.variance for part in belief.parts])
    here = Expectation.at(network, lengths, np.zeros(layout.size))
    if not observations:
        return Fit(here, {}, {part.name: part.variance for part in belief.parts}, 0, True)
    for number in range(1, ROUNDS + 1):
        tangent = _Tangent.at(here, observations)
        if number <= LEARNING:
            target = tangent.misfit(here) + tangent.slope @ here.potentials
            learned = _likely_variances(belief, logs, tangent.slope, target)
            # Half a step, later on: what is most likely near one fit is not quite so near the next.
            logs = learned if number <= 2 else (logs + learned) / 2
        precision = belief.precision(np.exp(logs))
        here, change = _descend(here, tangent, precision, 1.0 if number <= 2 else _RELAXED)
        if number >= LEARNING and change < TOLERANCE:
            break
    variances = {part.name: float(np.exp(log)) for part, log in zip(belief.parts, logs, strict=True)}
    return Fit(here, tangent.expected(here), variances, number, change < TOLERANCE)


def _asked_about(prior: tuple[Part, ...], observations: Sequence[Observation]) -> tuple[Part, ...]:
    """Turns held at zero where nobody was asked about them: other answers would bend them to their own ends."""
    if any(seen.name == "turns" for seen in observations):
        return prior
    return tuple(replace(part, variance=_HELD) if part.name == "turn" else part for part in prior)


@dataclass(frozen=True, eq=False)
class _Tangent:
    """The answers as a nearly linear function of the potentials, in units of their standard errors."""

    observations: Sequence[Observation]
    observed: Floats
    errors: Floats
    slope: Floats
    # Part of each expected answer that is left when a path names an item once; held while steps are made.
    left: dict[str, Floats]

    @staticmethod
    def at(here: Expectation, observations: Sequence[Observation]) -> _Tangent:
        observed, errors = _stacked(observations)
        slopes, left = here.derivatives({seen.name: seen.most for seen in observations})
        return _Tangent(observations, observed, errors, _rows(observations, slopes) / errors[:, None], left)

    def expected(self, at: Expectation) -> dict[str, Floats]:
        answers = at.answers({seen.name: seen.most for seen in self.observations})
        return {name: answer * self.left[name] for name, answer in answers.items()}

    def misfit(self, at: Expectation) -> Floats:
        return (self.observed - _rows(self.observations, self.expected(at))) / self.errors


def _descend(
    here: Expectation, tangent: _Tangent, precision: Floats, longest: float
) -> tuple[Expectation, float]:
    """A few steps uphill in probability with the same derivatives; and by how much the first one wanted to change
    the expected answers."""
    slope = tangent.slope
    curvature = cho_factor(precision + slope.T @ slope, overwrite_a=True)
    gap, pull = tangent.misfit(here), precision @ here.potentials
    cost = gap @ gap + here.potentials @ pull
    first = math.inf
    for number in range(CHORDS):
        step = cho_solve(curvature, slope.T @ gap - pull)
        change = float(np.abs(slope @ step).max())
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


def _likely_variances(belief: Belief, logs: Floats, slope: Floats, target: Floats) -> Floats:
    """Logarithms of the parts' variances under which the target, slope @ potentials plus noise, is more likely."""
    slope, target = _condensed(slope, target)
    views = [slope @ part.basis for part in belief.parts]
    shares = np.array([view @ view.T for view in views])
    first = np.log([part.variance for part in belief.parts])
    free = np.array([not part.fixed for part in belief.parts])
    value, inverse, weighted = _evidence(shares, logs, target, first, free)
    for _ in range(CLIMBS):
        pushes = shares @ weighted
        traces = np.array([np.vdot(share, inverse) for share in shares])
        uphill = 0.5 * np.exp(logs) * (pushes @ weighted - traces)
        uphill -= np.where(free, (logs - first) / _SPREAD**2, 0)
        pushes *= np.exp(logs)[:, None]
        information = 0.5 * pushes @ inverse @ pushes.T
        information[np.diag_indices_from(information)] += 1 / _SPREAD**2 + 0.5 * np.abs(uphill)
        step = np.zeros(len(logs))
        step[free] = np.linalg.solve(information[np.ix_(free, free)], uphill[free])
        step = np.clip(step, -2, 2)
        share = 1.0
        while True:
            new = _evidence(shares, logs + share * step, target, first, free)
            if new[0] >= value or share < 0.1:
                break
            share *= 0.4
        gain = new[0] - value
        if gain < 0:
            break
        logs = logs + share * step
        value, inverse, weighted = new
        if gain < 0.1:
            break
    return logs


def _evidence(
    shares: Floats, logs: Floats, target: Floats, first: Floats, free: NDArray[np.bool_]
) -> tuple[float, Floats, Floats]:
    """Log-probability of the target up to a constant, the inverse of its covariance, and that times the target."""
    total = np.tensordot(np.exp(logs), shares, 1)
    total[np.diag_indices_from(total)] += 1
    inverse, root = inverse_of(total)
    weighted = inverse @ target
    far = ((logs - first)[free] / _SPREAD) ** 2
    value = -0.5 * target @ weighted - np.log(np.diag(root)).sum() - 0.5 * far.sum()
    return float(value), inverse, weighted


def _condensed(slope: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Fewer rows that say the same, or, of very many, a fixed random choice."""
    if min(slope.shape) > _ANSWERS:
        chosen = np.random.default_rng(0).permutation(len(slope))[:_ANSWERS]
        slope, target = slope[chosen], target[chosen]
    if len(slope) > slope.shape[1]:
        square = slope.T @ slope
        square[np.diag_indices_from(square)] += 1e-9 * square.trace() / len(square)
        root: Floats = cholesky(square, lower=True)
        slope, target = root.T, solve_triangular(root, slope.T @ target, lower=True)
    return slope, target


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
