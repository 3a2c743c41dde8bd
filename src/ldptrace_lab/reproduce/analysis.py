"""The paper's guideline for the grid (section 5.9)."""

from __future__ import annotations

import math

from ldptrace.errors import InputError


def granularity(users: int, mean_points: float, interval: float, epsilon: float, lam: float = 2.5) -> int:
    """Return the guideline for N (eq. 16), from public facts: users, points per trajectory, seconds between points.

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
