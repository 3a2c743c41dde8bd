"""The central epsilon of many shuffled answers of one device: the windows of a standing plan, composed.

A device charges the plain sum of its answers. The sum is far too large: the answers to a hundred windows reveal
about ten times as much as the answer to one. The privacy-loss distribution of the clones' pair (see
`protocol/shuffling.py`), composed with itself, tells how much; the package dp-accounting composes.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from ldptrace.core.extras import needed
from ldptrace.errors import InputError
from ldptrace.protocol.shuffling import STATED, central_epsilon, clones

# Losses are rounded up to multiples of this part of the central epsilon of one answer.
FINENESS = 2000
# Standard deviations of the first number that are looked at; the rest counts as delta.
WIDTH = 12.0
# More answers than this are not composed: their plain sum holds.
MOST_COMPOSED = 10_000


def composed_epsilon(n: int, local: float, delta: float, answers: int) -> float:
    """Return the central epsilon of this many answers, each shuffled among n, for this delta of all together.

    The estimate is pessimistic, and never above the plain sum. A plan states a per cent more (`stated_lifetime`).

    >>> 0.42 < composed_epsilon(300_000, 3, 1e-6, 52) < 0.44
    True
    """
    if answers < 1:
        raise InputError(f"the number of answers must be at least 1, got {answers}")
    one = central_epsilon(n, local, delta / answers)
    if answers == 1 or answers > MOST_COMPOSED or one >= local:
        return one * answers
    composing = needed("dp_accounting.pld.privacy_loss_distribution", "accounting")
    step = one / FINENESS
    masses, rest = _losses(n, local, step)
    single = composing.PrivacyLossDistribution.create_from_rounded_probability(
        masses, rest, step, pessimistic_estimate=True
    )
    return min(float(single.self_compose(answers).get_epsilon_for_delta(delta)), one * answers)


def stated_lifetime(n: int, local: float, delta: float, answers: int) -> float:
    """Return the central epsilon that a standing plan states for all answers, whose deltas (`delta` each) add up.

    >>> 0.4 < stated_lifetime(300_000, 3, 1e-6 / 52, 52) <= 0.45
    True
    """
    value = composed_epsilon(n, local, delta * answers, answers) * STATED
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return min(round(math.ceil(value / unit) * unit, 9), float(local) * answers)


def _losses(n: int, local: float, step: float) -> tuple[dict[int, float], float]:
    """Return the privacy-loss distribution of the clones' pair: probabilities by multiples of the step, rounded up,
    and the probability of a loss without bound."""
    more = math.exp(local) / (math.exp(local) + 1)
    losses: dict[int, float] = {}
    seen = 0.0
    blocks, omitted = clones(n, local)
    for count, share in blocks:
        total = count + 1
        reach = WIDTH * math.sqrt(total) / 2 + 1
        k = np.arange(max(math.floor(total / 2 - reach), 0), min(math.ceil(total / 2 + reach), total) + 1)
        here, there = more * k + (1 - more) * (total - k), (1 - more) * k + more * (total - k)
        mass = share * stats.binom.pmf(k, total, 0.5) * 2 * here / total
        places = np.ceil(np.log(here / there) / step + 1e-9).astype(np.int64)
        low = int(places.min())
        sums = np.bincount(places - low, weights=mass)
        for place in np.flatnonzero(sums):
            losses[low + int(place)] = losses.get(low + int(place), 0.0) + float(sums[place])
        seen += float(mass.sum())
    # What was not looked at, and a rounding error of the sums.
    return losses, max(1 - seen, 0.0) + omitted + 1e-14
