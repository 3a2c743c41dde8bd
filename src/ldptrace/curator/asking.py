"""Which questions a plan without a street map asks, and of which share of the users: those that teach a model most.

For each candidate (districts of `pairs`, shares of `pairs` and `bends`) the errors of trips, patterns and cells are
predicted from public facts alone, and the smallest sum of them, relative to those without both questions, wins if it is
at least a tenth less: smaller gains, which few answers promise, were not found in trips of real cities.

- A question about N items that occur with frequencies p has the noise variance v of its randomizer. A model that knows
  the size s of what is unknown of an item keeps the part v / (v + s) of it: `_unlearned`.
- What pairs and bends can teach at all is known from fits without noise (`docs/lab/path-model.md`, "What to ask").
- The other answers are noisier the fewer users are asked.

It is a yardstick to choose by, not a forecast.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.lattice import bend_count
from ldptrace.protocol.randomizers import PrivSet, unit_variance
from ldptrace.protocol.shares import DEFAULT_SHARES, MOST_BENDS

# Candidates: shares of both questions, and districts per side. A fit takes the longer the more states its paths have:
# at most so many cells times districts.
PAIRS, BENDS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5), (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
DISTRICTS = (2, 3, 4, 6)
MOST_STATES = 4_500
# Errors of a first-order chain without noise, and the parts that remain with second order, measured on Oldenburg.
TRIP, PATTERN, LEFT_OF_PATTERN = 0.0245, 0.25, 0.25
# Relative variance of pairs and of bends that no other question explains.
UNKNOWN_PAIRS, UNKNOWN_BENDS = 0.12, 1.0
# Noise of trips, patterns and cells with this information, and how it falls with more.
NOISE, AT, FALL = (0.0106, 0.083, 0.0047), 81_000, 0.5
# Pairs that are this far apart (in sides of the map) are e times as rare; how fast busy places become rarer.
APART, CENTRE = 0.25, 0.35
# The part of the errors that both questions must be predicted to remove.
LEAST_GAIN = 0.1
# An error of cells that nobody would notice.
SMALL = 0.006
# What one share of a question tells about ends, moves and cells beside one of the question about them.
ENDS = {"start": 1, "end": 1, "terminals": 1, "visits": 0.5, "pairs": 0.3}
MOVES = {"moves": 1, "links": 1, "visits": 0.3, "bends": 0.5}
CELLS = {"visits": 1, "moves": 0.2, "links": 0.2, "bends": 0.1}


@dataclass(frozen=True)
class Asked:
    """Shares of the users by question, districts per side of `pairs`, and the predicted errors."""

    shares: dict[str, float]
    districts: int
    trip: float
    pattern: float
    density: float


@lru_cache
def asked(users: int, epsilon: float | Fraction, n: int) -> Asked:
    """Return what a plan without a street map asks.

    >>> few, many = asked(2_000, 1.0, 6), asked(300_000, 4.0, 6)
    >>> "pairs" in few.shares, many.districts, many.trip < few.trip
    (False, 6, True)
    """
    ratio = ratio_at_most(Fraction(epsilon))
    before = _predicted(users, ratio, n, 0, 0.0, 0.0)
    candidates = [before]
    for districts in DISTRICTS:
        if districts > n or n * n * districts**2 > MOST_STATES:
            continue
        candidates += [_predicted(users, ratio, n, districts, a, b) for a in PAIRS[1:] for b in BENDS]
    candidates += [_predicted(users, ratio, n, 0, 0.0, b) for b in BENDS[1:]]
    best = min(candidates, key=lambda one: _cost(one, before))
    return best if _cost(best, before) <= (1 - LEAST_GAIN) * _cost(before, before) else before


def trip_noise(users: int, epsilon: float | Fraction, n: int) -> float:
    """Predict the part of the error of trips that is noise, with the shares without pairs and bends: it grows with the
    number of cells. Trips are compared on 6 x 6 cells.

    >>> round(trip_noise(30_000, 4.0, 6), 3), round(trip_noise(30_000, 4.0, 12), 3)
    (0.007, 0.029)
    """
    return NOISE[0] * (_information(users, ratio_at_most(Fraction(epsilon))) / AT) ** -FALL * (n / 6) ** 2


def _information(users: int, ratio: Fraction) -> float:
    """Count the users whose exact answers would tell as much as these noisy ones."""
    return users / (4 * float(ratio) / (float(ratio) - 1) ** 2 + 0.1)


def _cost(one: Asked, before: Asked) -> float:
    """Return the sum of the errors relative to those without both questions; trips count twice, small errors of cells
    little."""
    return (
        2 * one.trip / before.trip
        + one.pattern / before.pattern
        + (one.density + SMALL) / (before.density + SMALL)
    )


def shares_of(pairs: float, bends: float) -> dict[str, float]:
    """Return the shares of all questions: fewer about ends and moves, the more `pairs` and `bends` tell of them."""
    weights = DEFAULT_SHARES | {
        name: DEFAULT_SHARES[name] * max(1 - 1.5 * pairs, 0.3) for name in ("start", "end", "terminals")
    }
    weights |= {
        name: DEFAULT_SHARES[name] * max(1 - 2.5 * bends, 0.3) for name in ("moves", "links", "turns")
    }
    length = weights.pop("length")
    left = (1 - length - pairs - bends) / sum(weights.values())
    shares = {"length": length} | {name: weight * left for name, weight in weights.items()}
    return shares | {name: share for name, share in (("pairs", pairs), ("bends", bends)) if share > 0}


def _predicted(users: int, ratio: Fraction, n: int, districts: int, pairs: float, bends: float) -> Asked:
    shares = shares_of(pairs, bends)
    information = _information(users, ratio)
    ends, moves, cells = (_told(shares, weights) for weights in (ENDS, MOVES, CELLS))
    noise = [
        size * (information * told / AT) ** -FALL
        for size, told in zip(NOISE, (ends, moves, cells), strict=True)
    ]
    trip, pattern = TRIP, PATTERN
    if pairs:
        left = max(1 - (districts / min(n, 6)) ** 2, 0.0)
        trip *= left + (1 - left) * _unlearned(_pair_law(districts), 1, UNKNOWN_PAIRS, users * pairs, ratio)
    if bends:
        unlearned = _unlearned(_bend_law(n), MOST_BENDS, UNKNOWN_BENDS, users * bends, ratio)
        pattern *= LEFT_OF_PATTERN + (1 - LEFT_OF_PATTERN) * unlearned
    return Asked(shares, districts, trip + noise[0], pattern + noise[1], noise[2])


def _told(shares: dict[str, float], weights: dict[str, float]) -> float:
    """Return how much shares tell about something, beside the shares without pairs and bends."""
    told, usual = (
        sum(weight * each.get(name, 0) for name, weight in weights.items())
        for each in (shares, DEFAULT_SHARES)
    )
    return told / usual


def _unlearned(law: Floats, most: int, unknown: float, members: float, ratio: Fraction) -> float:
    """Return the part of what is unknown of items of these frequencies that remains after the answers of so many
    users."""
    size = PrivSet.best(len(law), most, ratio).size
    noise = (unit_variance(len(law), most, float(ratio), size) + law) / members
    return float(np.average(noise / (noise + unknown * law**2), weights=law))


@lru_cache
def _pair_law(districts: int) -> Floats:
    """Return how often each pair of districts occurs in a city with a busy middle and short trips."""
    i, j = (np.divmod(np.arange(districts**2), districts) + np.full((2, 1), 0.5)) / districts
    busy = np.exp(-np.hypot(i - 0.5, j - 0.5) / CENTRE)
    law: Floats = np.outer(busy, busy) * np.exp(
        -np.hypot(np.subtract.outer(i, i), np.subtract.outer(j, j)) / APART
    )
    return (law / law.sum()).ravel()


@lru_cache
def _bend_law(n: int) -> Floats:
    """Return how often each bend occurs, if a trip has two bends and few kinds of bends are common."""
    law: Floats = 1 / (np.arange(bend_count(n)) + 5.0)
    return 2 * law / law.sum()
