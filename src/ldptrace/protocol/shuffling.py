"""The accountant: what a report that is mixed with others reveals of one person.

n devices send reports of one eps0-LDP randomizer through a shuffler. Whoever sees the mixed reports, and knows the
trips of all others, sees less than eps0 of the remaining person: the reports of the others look like hers. "Hiding
among the clones" (Feldman, McMillan, Talwar, FOCS 2021) bounds what is seen by two distributions of a pair of numbers:

    C ~ Bin(n - 1, e^-eps0), A ~ Bin(C, 1/2), D ~ Bernoulli(e^eps0 / (e^eps0 + 1))
    (A + D, C - A + 1 - D)   and   (A + 1 - D, C - A + D)

The batch is (eps, delta)-differentially private, for the replacement of one person's data, if delta is at least the
hockey-stick divergence of the two. `divergence` computes it, and rounds every step towards a larger delta. Devices of
all languages run the same steps (section 4 of `protocol/v2.md`): + - * / sqrt exp log on doubles, and nothing else.
The proof is in `docs/explanation/proofs/shuffled.md`.
"""

from __future__ import annotations

import math
from functools import lru_cache

from ldptrace.errors import InputError
from ldptrace.protocol.limits import MAX_BATCH, MAX_EPSILON, MIN_CENTRAL, MIN_LOCAL

# Numbers of clones that are less likely than the likeliest by this factor count as delta.
RARE = 2.0**-80
# Numbers of clones from c up to c (1 + 1/BLOCK) count as c.
BLOCK = 256
# Terms of a tail that are this small beside their sum are omitted.
SMALL = 2.0**-40
# Rounding errors of doubles: of a difference, and of everything else.
SLACK = 1 + 2.0**-30
MARGIN = 1 + 2.0**-20
# A plan states this much more than the steps give, so that rounding never decides.
STATED = 1.01


@lru_cache(maxsize=8)
def clones(n: int, local: float) -> tuple[tuple[tuple[int, float], ...], float]:
    """Return how many of n - 1 reports of devices with this eps0 are clones: blocks (number, probability), and the
    probability of all other numbers. A block counts as its smallest number, because fewer clones hide less.

    >>> rows, omitted = clones(5, 1.0)
    >>> [count for count, _ in rows], round(sum(share for _, share in rows), 9), omitted
    ([0, 1, 2, 3, 4], 1.0, 0.0)
    """
    others, odds = n - 1, 1 / (math.exp(local) - 1)
    mode = min(int(n * math.exp(-local)), others)
    below, low, weight = [], mode, 1.0
    while low > 0:
        weight = weight * (low / ((others - low + 1) * odds))
        if weight < RARE:
            break
        low -= 1
        below.append(weight)
    omitted = 0.0 if low == 0 else _rest(weight, (low - 1) / ((others - low + 2) * odds))
    weights, high, weight = [*reversed(below), 1.0], mode, 1.0
    while high < others:
        weight = weight * ((others - high) * odds / (high + 1))
        if weight < RARE:
            break
        high += 1
        weights.append(weight)
    if high < others:
        omitted += _rest(weight, (others - high - 1) * odds / (high + 2))
    whole, blocks, first = math.fsum(weights), list[tuple[int, float]](), low
    while first <= high:
        end = min(first + max(first // BLOCK, 1), high + 1)
        blocks.append((first, math.fsum(weights[first - low : end - low]) / whole))
        first = end
    return tuple(blocks), omitted / whole


def divergence(n: int, local: float, central: float) -> float:
    """Return a delta for which n shuffled reports of eps0-LDP devices are (central, delta)-differentially private.

    >>> 8e-9 < divergence(10_000, 4, 0.76) < 1.2e-8, divergence(10_000, 4, 4)
    (True, 0.0)
    """
    _check(n, local)
    if not central >= MIN_CENTRAL:
        raise InputError(f"a central epsilon must be at least {MIN_CENTRAL}, got {central!r}")
    if central >= local:
        return 0.0
    blocks, omitted = clones(n, local)
    e0, e = math.exp(local), math.exp(central)
    alpha, theta = (e0 - e) / (e0 + 1), (e * e0 - 1) / ((e0 - 1) * (e + 1))
    whole = 0.0
    for count, share in blocks:
        whole += share * _given(count, alpha, theta, e)
    return whole * MARGIN + omitted


def central_epsilon(n: int, local: float, delta: float) -> float:
    """Return the central epsilon of n shuffled reports of eps0-LDP devices: at least the exact value of the clones'
    pair, and at most `local`.

    >>> round(central_epsilon(10_000, 4, 1e-8), 3)
    0.755
    """
    _check(n, local)
    _check_delta(delta)
    low, high = 0.0, float(local)
    while high - low > 1e-4 * high and high > MIN_CENTRAL:
        middle = max((low + high) / 2, MIN_CENTRAL)
        low, high = (low, middle) if divergence(n, local, middle) <= delta else (middle, high)
    return high


def stated_epsilon(n: int, local: float, delta: float) -> float:
    """Return the central epsilon that a plan states: a per cent more than `central_epsilon`, rounded up to four
    digits, and at most eps0.

    >>> stated_epsilon(10_000, 4, 1e-8)
    0.7622
    """
    value = central_epsilon(n, local, delta) * STATED
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return min(round(math.ceil(value / unit) * unit, 9), float(local))


def local_epsilon(n: int, central: float, delta: float, most: float = MAX_EPSILON) -> float:
    """Return the largest eps0, of at most three digits after the point and at most `most`, whose plan states at most
    this central epsilon.

    >>> local_epsilon(9_000, 1, 1e-8), local_epsilon(9_000, 1, 1e-8, most=3), local_epsilon(2, 0.5, 1e-8)
    (4.32, 3.0, 0.5)
    """
    _check(n, most)
    _check_delta(delta)
    if central < MIN_CENTRAL * STATED:
        raise InputError(f"a central epsilon must be at least {MIN_CENTRAL * STATED:g}, got {central:g}")
    # eps0 itself is a central epsilon, without any delta.
    least = round(MIN_LOCAL * 1000)
    good, bad = max(int(min(central, most) * 1000), least - 1), int(most * 1000) + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        fits = divergence(n, middle / 1000, central / STATED) <= delta
        good, bad = (middle, bad) if fits else (good, middle)
    if good < least:
        raise InputError(
            f"{n:,} honest devices hide a report of epsilon {MIN_LOCAL} less well than a central epsilon of "
            f"{central:g} allows: give more users, or a larger epsilon"
        )
    return min(good / 1000, most)


def _given(count: int, alpha: float, theta: float, e: float) -> float:
    """Return the divergence if the number of clones is known to be `count`.

    The first number exceeds e^central times its probability under the other distribution from `first` on. With
    b(k) the probability of k among `count` fair coins, the divergence is alpha b(first - 1) - (e - 1) sum b(first ..).
    """
    total = count + 1
    first = min(int(theta * total) + 1, total)
    tail, term, k = 0.0, 1.0, first - 1
    while k < count:
        term = term * ((count - k) / (k + 1))
        tail += term
        if term < SMALL * tail:
            break
        k += 1
    rest = alpha * SLACK - (e - 1) * tail
    return _coins(count, first - 1) * rest if rest > 0 else 0.0


def _coins(count: int, heads: int) -> float:
    """Return an upper bound on the probability of `heads` among `count` fair coins, by Robbins' factorials."""
    tails = count - heads
    if tails == 0:
        return math.exp(-count * math.log(2))
    exponent = (
        1 / (12 * count)
        - 1 / (12 * heads + 1)
        - 1 / (12 * tails + 1)
        - heads * math.log(2 * heads / count)
        - tails * math.log(2 * tails / count)
    )
    return math.sqrt(count / (2 * math.pi * heads * tails)) * math.exp(exponent)


def _rest(weight: float, ratio: float) -> float:
    """Return an upper bound on the sum of this weight and all later ones, which shrink at least by the ratio."""
    return weight / (1 - ratio)


def _check(n: int, local: float) -> None:
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= MAX_BATCH:
        raise InputError(f"the number of shuffled reports must be from 1 to {MAX_BATCH:,}, got {n!r}")
    if not MIN_LOCAL <= local <= MAX_EPSILON:
        raise InputError(
            f"epsilon of a shuffled report must be from {MIN_LOCAL} to {MAX_EPSILON}, got {local!r}"
        )


def _check_delta(delta: float) -> None:
    if not 1e-15 <= delta < 1:
        raise InputError(f"delta must be at least 1e-15 and below 1, got {delta!r}")
