"""At full size, where nothing can be enumerated: is every single item named as often as it should be?

Random sets go through the code that devices run, bytes included. For each item it is counted how often it was
named when it was in the set and when it was not, and compared with the plan's p and q. A randomizer that treats
one item of hundreds wrongly shows here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import Randomizer
from ldptrace.protocol.randomness import Source

# Chance that the items of a correct plan raise an alarm.
ALPHA = 1e-6
# Outputs that are looked at, over all draws of one randomizer.
WORK = 2_000_000


@dataclass(frozen=True)
class MarginalFinding:
    """The item whose frequency is hardest to believe."""

    round: int
    question: str
    items: int
    draws: int
    item: int
    held: bool
    observed: float
    expected: float
    stands: bool


def marginal_findings(plan: Plan, trials: int) -> list[MarginalFinding]:
    """One finding for each question of each round, with at most `trials` draws each."""
    asks = [(number, ask) for number, round_ in enumerate(plan.rounds) for ask in round_.asks]
    tests = sum(2 * ask.randomizer.outputs for _, ask in asks)
    found = []
    for number, ask in asks:
        channel = ask.randomizer
        draws = max(200, min(trials, WORK // channel.outputs))
        held, named = _counts(channel, draws)
        p, q = (float(value) for value in channel.probabilities)
        chances = np.array([[q], [p]])
        # The smaller tail of each count, doubled.
        tails = np.minimum(stats.binom.cdf(named, held, chances), stats.binom.sf(named - 1, held, chances))
        worst = int(np.argmin(tails))
        kind, item = divmod(worst, channel.outputs)
        stands = bool(2 * tails.flat[worst] > ALPHA / tests)
        seen = float(named[kind, item] / max(held[kind, item], 1))
        found.append(
            MarginalFinding(
                number,
                ask.question.name,
                channel.outputs,
                draws,
                item,
                bool(kind),
                seen,
                (q, p)[kind],
                stands,
            )
        )
    return found


def _counts(channel: Randomizer, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """For each output, how often it was not held and held, and how often it was named then."""
    source = Source()
    held, named = (np.zeros((2, channel.outputs), dtype=np.int64) for _ in range(2))
    for draw in range(draws):
        # Every size of a set in turn, the empty one included, most often the full one.
        size = channel.capacity if draw % 4 else (draw // 4) % (channel.capacity + 1)
        items = source.subset(range(channel.domain), size)
        report = channel.decode(channel.encode(channel.perturb(items, source)))
        own = np.zeros(channel.outputs, dtype=np.int64)
        own[channel.filled(items)] = 1
        told = np.zeros(channel.outputs, dtype=np.int64)
        told[list(report)] = 1
        held += (1 - own, own)
        named += (told * (1 - own), told * own)
    return held, named
