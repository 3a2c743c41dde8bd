"""The true epsilon of each randomizer, as the logarithm of a fraction, from the code that devices run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations

from ldptrace.audit.enumeration import distribution
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import OUE, PrivSet, Randomizer
from ldptrace.protocol.round import Round

# Sizes for which every input and output can be listed.
SMALL_DOMAIN, SMALL_CAPACITY, SMALL_SIZE = 4, 2, 2


@dataclass(frozen=True)
class ExactFinding:
    """What enumeration says of one question of one round. `ratio` None stands for infinity."""

    round: int
    question: str
    kind: str
    inputs: int
    outputs: int
    ratio: Fraction | None
    claimed: Fraction
    formulas_hold: bool

    @property
    def stands(self) -> bool:
        return self.ratio is not None and self.ratio <= self.claimed and self.formulas_hold

    @property
    def epsilon(self) -> float:
        return math.inf if self.ratio is None else math.log(self.ratio)


def exact_findings(plan: Plan) -> list[ExactFinding]:
    """Every randomizer of the plan, made small and listed in full, with the plan's own integers."""
    known: dict[Randomizer, tuple[int, int, Fraction | None, bool]] = {}
    found = []
    for number, round_ in enumerate(plan.rounds):
        for ask in round_.asks:
            small = shrunk(ask.randomizer)
            if small not in known:
                known[small] = _enumerated(small)
            inputs, outputs, ratio, same = known[small]
            channel = ask.randomizer
            holds = same and _full_size_agrees(channel)
            found.append(
                ExactFinding(
                    number, ask.question.name, channel.kind, inputs, outputs, ratio, channel.ratio, holds
                )
            )
    return found


def round_epsilon(round_: Round, found: list[ExactFinding]) -> float:
    """How the exact values of a round's questions add up for one user."""
    values = [finding.epsilon * ask.question.slots for finding, ask in zip(found, round_.asks, strict=True)]
    return max(values) if round_.assignment == "partition" else sum(values)


def shrunk(channel: Randomizer) -> Randomizer:
    """The same randomizer on a domain small enough to list, with the same integers for its ratio."""
    domain = min(channel.domain, SMALL_DOMAIN)
    sizes = {"domain": domain, "capacity": min(channel.capacity, SMALL_CAPACITY, domain)}
    if isinstance(channel, PrivSet):
        sizes["size"] = min(channel.size, SMALL_SIZE, domain)
    return channel.changed(**sizes)


def inputs_of(channel: Randomizer) -> Iterator[tuple[int, ...]]:
    """Every set that a user can have."""
    for size in range(channel.capacity + 1):
        yield from combinations(range(channel.domain), size)


def _enumerated(channel: Randomizer) -> tuple[int, int, Fraction | None, bool]:
    """Number of inputs and outputs, the largest ratio, and whether the formulas are what the code does."""
    laws = {items: distribution(partial(channel.perturb, items)) for items in inputs_of(channel)}
    outputs = set().union(*laws.values())
    worst: Fraction | None = Fraction(1)
    for named in outputs:
        chances = [law.get(named, Fraction(0)) for law in laws.values()]
        if min(chances) == 0:
            worst = None
            break
        assert worst is not None
        worst = max(worst, max(chances) / min(chances))
    same = all(
        law == {named: channel.probability(named, items) for named in channel.all_reports()}
        for items, law in laws.items()
    )
    return len(laws), len(outputs), worst, same


def _full_size_agrees(channel: Randomizer) -> bool:
    """The probabilities that the curator de-biases with keep the claim at the real size too."""
    p, q = channel.probabilities
    if isinstance(channel, OUE):
        return p * (1 - q) / ((1 - p) * q) == channel.ratio
    # Reports of the others name a fixed number of items: the probabilities of all items add up to it.
    named = channel.size if isinstance(channel, PrivSet) else 1
    return channel.capacity * p + (channel.outputs - channel.capacity) * q == named and p / q <= channel.ratio
