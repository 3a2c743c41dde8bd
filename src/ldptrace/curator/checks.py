"""Does a tally look as honest devices make it? What lying clients cannot hide.

Whatever the trajectories are, an honest report names an item with a probability between q and p, and groups
are drawn by the public shares. Counts outside these ranges, beyond what chance allows, come from clients that
do not follow the plan. Lies inside the ranges look like data; SECURITY.md says how far they can go.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ldptrace.curator.tally import Tally
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import OUE
from ldptrace.protocol.round import SHARES, Ask

# Chance that an honest collection has any finding at all.
ALPHA = 1e-6


@dataclass(frozen=True)
class Finding:
    """A count that honest devices do not produce."""

    question: str
    what: str
    observed: int
    low: int
    high: int

    def __str__(self) -> str:
        return (
            f"{self.question}: {self.what} {self.observed:,} times, "
            f"honest devices stay between {self.low:,} and {self.high:,}"
        )


def findings(plan: Plan, tally: Tally) -> list[Finding]:
    """Everything in the tally that honest devices do not produce; empty with probability 1 - ALPHA.

    >>> from ldptrace.protocol.grid import Grid
    >>> plan = Plan.single_report(Grid((0, 0, 6, 6), 6), 1.0)
    >>> findings(plan, Tally.zero(plan))
    []
    """
    round_ = plan.rounds[tally.round]
    tests = sum(len(counts) + 2 for counts in tally.counts)
    found = []
    for ask, counts, reports, users in zip(
        round_.asks, tally.counts, tally.reports, tally.users, strict=True
    ):
        ranges = list(_items(ask, counts.tolist(), reports))
        if round_.assignment == "partition":
            mean = sum(tally.users) * ask.share / SHARES
            ranges.append(("asked", users, mean, mean, mean))
        for what, observed, fewest, most, variance in ranges:
            # Bernstein's inequality for a sum of independent draws between 0 and 1.
            log = math.log(2 * tests / ALPHA)
            slack = math.sqrt(2 * variance * log) + log / 3
            if not fewest - slack <= observed <= most + slack:
                low, high = max(0, math.ceil(fewest - slack)), math.floor(most + slack)
                found.append(Finding(ask.question.name, what, observed, low, high))
    return found


def _items(ask: Ask, counts: list[int], reports: int) -> Iterator[tuple[str, int, float, float, float]]:
    """Each count: what it is, its value, the lowest and highest honest mean, a bound on its variance."""
    p, q = (float(value) for value in ask.randomizer.probabilities)
    spread = reports * max(p * (1 - p), q * (1 - q), 0.25 if q < 0.5 < p else 0.0)
    for item, count in enumerate(counts):
        yield f"item {item} was named", count, reports * q, reports * p, spread
    if isinstance(ask.randomizer, OUE):
        # The other randomizers name a fixed number of items; a report of OUE can be stuffed with ones.
        fewest = reports * len(counts) * q
        yield "items were named", sum(counts), fewest, fewest + reports * (p - q), fewest + spread
