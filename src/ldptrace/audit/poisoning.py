"""How far lying clients can push an estimate, and attacks that do so.

A liar either runs honest code on a false trip, or forges the bytes of a report. `docs/explanation/liars.md` compares
the two, and says which attacks nobody can notice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldptrace.core.arrays import Ints
from ldptrace.core.paths import CellPaths
from ldptrace.curator.tally import Tally
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import OUE, PrivSet, Randomizer
from ldptrace.simulation.answers import Rows, answers


@dataclass(frozen=True)
class Reach:
    """What one forged but valid report does to the estimated numbers of users.

    `up` is added to each of at most `items` items of the liar's choice, `down` is taken from all others. Somebody
    who lies about the trajectory but runs the honest code moves one item by one.
    """

    up: float
    items: int
    down: float


def reach(channel: Randomizer) -> Reach:
    """Return what an item adds: (1 - q) / (p - q) users if it is named, -q / (p - q) if not; see SECURITY.md.

    >>> from fractions import Fraction
    >>> from ldptrace.protocol.exact import ratio_at_most
    >>> lie = reach(OUE(36, 1, ratio_at_most(Fraction(1))))
    >>> round(lie.up, 2), lie.items, round(lie.down, 2)
    (3.16, 36, 1.16)
    """
    p, q = (float(value) for value in channel.probabilities)
    if isinstance(channel, OUE):
        items = channel.domain
    else:
        items = min(channel.size, channel.domain) if isinstance(channel, PrivSet) else 1
    return Reach((1 - q) / (p - q), items, q / (p - q))


def forged(plan: Plan, trips: CellPaths, rng: np.random.Generator, *, careful: bool) -> Tally:
    """Return the tally of forged reports that claim these false trips, one each.

    The liars divide themselves among the questions as the plan does. Without `careful`, each report names as many items
    of its false trip as it can, and others at random. With `careful`, it names one item of the trip and as many others
    at random as an honest report. This is what an honest device sends if more people make the trip: see
    `docs/explanation/liars.md`.
    """
    round_ = plan.rounds[0]
    if len(plan.rounds) != 1 or round_.assignment != "partition":
        raise InputError("forged reports are for plans with one report per user")
    shares = np.array([ask.share for ask in round_.asks], dtype=float)
    groups = rng.choice(len(shares), len(trips), p=shares / shares.sum())
    counts, users = [], []
    for number, ask in enumerate(round_.asks):
        liars = np.flatnonzero(groups == number)
        rows = answers(ask.question, trips, liars, rng)
        counts.append(_named(ask.randomizer, rows, rng, careful))
        users.append(len(liars))
    return Tally(plan.id, 0, tuple(counts), tuple(users), tuple(users))


def _named(channel: Randomizer, rows: Rows, rng: np.random.Generator, careful: bool) -> Ints:
    """Return how often forged reports that claim these answers name each item."""
    p, q = (float(value) for value in channel.probabilities)
    if isinstance(channel, OUE):
        size = round(p + q * (channel.domain - 1))
    else:
        size = channel.size if isinstance(channel, PrivSet) else 1
    counts = np.zeros(channel.outputs, dtype=np.int64)
    for row in rows:
        own = row[row >= 0]
        # An answer without items is claimed by the first null, which stands after the domain.
        own = own if len(own) else np.array([channel.outputs - 1])
        own = rng.permutation(own)[: 1 if careful else size]
        others = np.setdiff1d(np.arange(channel.outputs), own if careful else row)
        counts[own] += 1
        counts[rng.permutation(others)[: size - len(own)]] += 1
    return counts
