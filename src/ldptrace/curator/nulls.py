"""How precisely the number of empty places is known: what a collection says of devices without an answer."""

from __future__ import annotations

import math

from ldptrace.protocol.randomizers import PrivSet, Randomizer


def nulls_error(channel: Randomizer, reports: float, users: float, nulls: float) -> float:
    """Standard error of the estimated number of empty places per user, `nulls`.

    A report names several outputs at once, so their noise is not independent. Users with an empty place are a sample:
    at worst, each has all places empty or none, and so it is assumed.
    """
    most = channel.capacity * reports / users
    empty = min(max(nulls / most, 0.0), 1.0)
    noise = empty * _variance(channel, channel.capacity) + (1 - empty) * _variance(channel, 0)
    sampled = empty * (1 - empty) * most**2
    return math.sqrt(noise * reports / users**2 + sampled / users)


def _variance(channel: Randomizer, empty: int) -> float:
    """Variance of one report's estimate of its empty places, given their number."""
    p, q = (float(value) for value in channel.probabilities)
    filled = channel.capacity - empty
    mean = empty * p + filled * q
    return (mean + 2 * _pairs(channel, empty, p) - mean**2) / (p - q) ** 2


def _pairs(channel: Randomizer, empty: int, p: float) -> float:
    """Expected pairs of nulls that a report names: a pair with a null of the user's own, and other pairs."""
    if not isinstance(channel, PrivSet) or channel.size < 2:
        return 0.0
    outputs, size, most = channel.outputs, channel.size, channel.capacity
    own = p * (size - 1) / (outputs - 1)
    ratio = float(channel.ratio)
    missed = math.comb(outputs - 2 - most, size - 2) / math.comb(outputs - 2, size - 2)
    other = own * (missed / ratio + 1 - missed)
    strangers = math.comb(most - empty, 2)
    return own * (math.comb(most, 2) - strangers) + other * strangers
