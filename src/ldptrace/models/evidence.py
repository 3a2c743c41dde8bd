"""How large each component of the prior is: the variances under which the noisy answers are most probable.

With A the Jacobian of the answers in units of their standard errors and z = y - y(x) + A x the linearised answers,
z ~ N(0, I + sum of v_g A B_g B_g^T A^T). Its log-probability is climbed over log v_g by average-information steps
(`docs/explanation/path-model.md`, "The prior, and how strong it is").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldptrace.models.linear import inverse_of
from ldptrace.models.prior import Prior

Floats = NDArray[np.float64]

CLIMBS = 4
# How far the variance of a component may be from its first guess: standard deviation of its logarithm.
_SPREAD = 4.0
# Directions of the potentials in which a step of one changes the answers by less than so much of their noise, squared,
# say nothing about variances.
_TOLD = 0.01
# Marginal likelihood uses at most so many answers; more say little more about twenty variances.
_ANSWERS = 600


def likely_variances(prior: Prior, logs: Floats, jacobian: Floats, target: Floats) -> Floats:
    """Logarithms of the variances v_g under which the target, jacobian @ potentials plus noise, is more likely."""
    views = [jacobian @ component.basis for component in prior.components]
    return climbed(prior, logs, np.array([view @ view.T for view in views]), target)


def climbed(prior: Prior, logs: Floats, shares: Floats, target: Floats) -> Floats:
    """As `likely_variances`, from what each component adds to the covariance of the target."""
    first = np.log([component.variance for component in prior.components])
    free = np.array([not component.fixed for component in prior.components])
    value, weighted, total = _evidence(shares, logs, target, first, free)
    for _ in range(CLIMBS):
        inverse, _ = inverse_of(total)
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
        value, weighted, total = new
        if gain < 0.1:
            break
    return logs


def _evidence(
    shares: Floats, logs: Floats, target: Floats, first: Floats, free: NDArray[np.bool_]
) -> tuple[float, Floats, Floats]:
    """Log-probability of the target up to a constant, what its covariance makes of it, and the covariance."""
    total = np.tensordot(np.exp(logs), shares, 1)
    total[np.diag_indices_from(total)] += 1
    root = np.linalg.cholesky(total)
    weighted: Floats = np.linalg.solve(total, target)
    far = ((logs - first)[free] / _SPREAD) ** 2
    value = -0.5 * target @ weighted - np.log(np.diag(root)).sum() - 0.5 * far.sum()
    return float(value), weighted, total


def condensed(jacobian: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Fewer rows that say as much, or, of very many, a fixed random choice."""
    if min(jacobian.shape) > _ANSWERS:
        chosen = np.random.default_rng(0).permutation(len(jacobian))[:_ANSWERS]
        jacobian, target = jacobian[chosen], target[chosen]
    if len(jacobian) > jacobian.shape[1]:
        sizes, directions = np.linalg.eigh(jacobian.T @ jacobian)
        told = sizes > max(_TOLD, 1e-9 * sizes[-1])
        rows = directions[:, told].T
        roots = np.sqrt(sizes[told])[:, None]
        jacobian, target = roots * rows, rows @ (jacobian.T @ target) / roots[:, 0]
    return jacobian, target
