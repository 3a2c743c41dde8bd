"""The paper's error analyses and its guideline for the grid (sections 5.3, 5.4, 5.9 and the appendix)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ldptrace.errors import InputError


def oue_variance(n: float, epsilon: float) -> float:
    """Variance of an OUE count estimate from n reports (eq. 4).

    >>> round(oue_variance(1, 1.0), 3)
    3.683
    """
    return n * 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2


def ratio_mean(held_x: float, held_y: float) -> float:
    """First-order mean of the ratio of two unbiased estimates (theorem in the appendix)."""
    return held_x / held_y


def ratio_variance(
    held_x: float, held_y: float, variance_x: float, variance_y: float, covariance: float = 0.0
) -> float:
    """First-order variance of that ratio (theorem in the appendix), by the delta method."""
    relative = variance_x / held_x**2 - 2 * covariance / (held_x * held_y) + variance_y / held_y**2
    return (held_x / held_y) ** 2 * relative


def length_error(held: ArrayLike, epsilon: float, *, terms: int | None = None) -> float:
    """Error(L): expected squared error of the length distribution, summed over lengths (section 5.3).

    Each probability is a ratio whose denominator is the sum of all estimates, so its variance is the number
    of lengths times that of one estimate. The paper prints 8 in place of that number: `terms=8`.
    """
    counts = np.asarray(held, dtype=np.float64)
    users = counts.sum()
    variance = oue_variance(users, epsilon)
    in_sum = len(counts) if terms is None else terms
    return float(
        np.sum(
            variance / users**2 - 2 * counts * variance / users**3 + counts**2 * in_sum * variance / users**4
        )
    )


def transition_error(
    held: ArrayLike, sources: ArrayLike, users: int, epsilon2: float, quantile: int, k: float
) -> float:
    """Error(S, eps2, L_k): noise and truncation of the transition probabilities (section 5.4).

    `held` counts each transition, `sources` names the cell it leaves. Each of the L_k reports of a user has
    eps2 / L_k; the share 1 - k of what is cut is the bias.
    """
    counts, cell = np.asarray(held, dtype=np.float64), np.asarray(sources)
    row = np.bincount(cell, weights=counts)[cell]
    degree = np.bincount(cell)[cell]
    variance = oue_variance(users * quantile, epsilon2 / quantile)
    some = row > 0
    share = counts[some] / row[some]
    noise = variance / row[some] ** 2 * (1 - 2 * share + share**2 * degree[some])
    return float(np.sum(noise) + np.sum(((1 - k) * counts) ** 2))


def granularity(users: int, mean_points: float, interval: float, epsilon: float, lam: float = 2.5) -> int:
    """The guideline for N (eq. 16), from public facts: users, points per trajectory, seconds between points.

    The paper's "sampling ratio" is one over the interval; with that its own data sets get its own values.

    >>> granularity(500_000, 69.75, 15.6, 1.0), granularity(348_144, 125.02, 5, 1.0)
    (6, 8)
    """
    if not (users > 0 and mean_points > 0 and interval > 0 and epsilon > 0 and lam > 0):
        raise InputError(
            "the guideline needs positive numbers: users "
            f"{users}, points {mean_points}, interval {interval}, epsilon {epsilon}, lambda {lam}"
        )
    x = epsilon / (interval * mean_points)
    return max(2, round(lam * (users * mean_points * math.expm1(x) ** 2 / math.exp(x)) ** 0.25))
