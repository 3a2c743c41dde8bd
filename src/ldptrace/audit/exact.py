"""The true epsilon of each randomizer, as the logarithm of a fraction, from the code that devices run.

The distribution comes from running it: every draw is tried, none is trusted. A draw below a small bound is tried value
by value. A draw below a large one (the integers of a plan have forty bits and more) has few outcomes, each for a range
of values; the ends of the ranges are found by bisection, and random values inside every range confirm it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, pairwise
from typing import TypeVar

from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import OUE, PrivSet, Randomizer
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.round import Round

T = TypeVar("T", bound=Hashable)

# Bounds up to this are tried value by value.
SMALL = 64
# Random values that are tried inside a range that looks constant.
PROBES = 8


def distribution(run: Callable[[Source], T]) -> dict[T, Fraction]:
    """Return the probability of each result of `run`, exactly.

    >>> distribution(lambda source: source.below(3) + source.below(2))[1]
    Fraction(1, 3)
    """
    return _explore(run, [])


class _Undecided(Exception):
    def __init__(self, bound: int) -> None:
        self.bound = bound


class _Scripted(Source):
    """Draws given values. After them it stops (`then` None) or draws the lowest or the highest values."""

    def __init__(self, values: list[int], then: str | None = None) -> None:
        super().__init__(self._no_bytes)
        self.values = iter(values)
        self.then = then
        self.bounds: list[int] = []

    def below(self, bound: int) -> int:
        """Return the next value of the script; where it ends, the bound is raised as undecided, or noted."""
        value = next(self.values, None)
        if value is None:
            if self.then is None:
                raise _Undecided(bound)
            self.bounds.append(bound)
            return 0 if self.then == "lowest" else bound - 1
        return value

    def flags(self, limit: int, bound: int, count: int) -> bytes:
        return bytes(self.below(bound) < limit for _ in range(count))

    def _no_bytes(self, count: int) -> bytes:
        raise TypeError(f"a randomizer must draw integers, it asked for {count} bytes")


def _explore(run: Callable[[Source], T], drawn: list[int]) -> dict[T, Fraction]:
    try:
        return {run(_Scripted(drawn)): Fraction(1)}
    except _Undecided as undecided:
        bound = undecided.bound
    total: dict[T, Fraction] = {}
    for value, width in _ranges(run, drawn, bound):
        for result, probability in _explore(run, [*drawn, value]).items():
            total[result] = total.get(result, Fraction(0)) + probability * Fraction(width, bound)
    return total


def _ranges(run: Callable[[Source], T], drawn: list[int], bound: int) -> list[tuple[int, int]]:
    """Return the first value and width of every range of values that the computation treats alike."""
    if bound <= SMALL:
        return [(value, 1) for value in range(bound)]
    lottery = random.Random(bound)

    def behaviour(value: int) -> tuple[object, ...]:
        seen: list[object] = []
        for then in ("lowest", "highest"):
            source = _Scripted([*drawn, value], then)
            seen += [run(source), tuple(source.bounds)]
        return tuple(seen)

    def split(low: int, at_low: tuple[object, ...], high: int, at_high: tuple[object, ...]) -> list[int]:
        """Return values in low+1..high at which the behaviour changes."""
        if at_low == at_high:
            inside = [lottery.randrange(low, high + 1) for _ in range(PROBES)]
            odd = next((value for value in inside if behaviour(value) != at_low), None)
            if odd is None:
                return []
            middle = odd
        elif high == low + 1:
            return [high]
        else:
            middle = (low + high) // 2
        at_middle = behaviour(middle)
        return split(low, at_low, middle, at_middle) + split(middle, at_middle, high, at_high)

    starts = [0, *split(0, behaviour(0), bound - 1, behaviour(bound - 1)), bound]
    return [(first, after - first) for first, after in pairwise(starts)]


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
    """Check every randomizer of the plan, made small and listed in full, with the plan's own integers."""
    findings, enumerated = [], cache(_enumerated)
    for number, round_ in enumerate(plan.rounds):
        for ask in round_.asks:
            channel = ask.randomizer
            inputs, outputs, ratio, same = enumerated(shrunk(channel))
            holds = same and _full_size_agrees(channel)
            findings.append(
                ExactFinding(
                    number, ask.question.name, channel.kind, inputs, outputs, ratio, channel.ratio, holds
                )
            )
    return findings


def round_epsilon(round_: Round, findings: list[ExactFinding]) -> float:
    """Add up the exact values of a round's questions for one user."""
    values = [
        finding.epsilon * ask.question.slots for finding, ask in zip(findings, round_.asks, strict=True)
    ]
    return max(values) if round_.assignment == "partition" else sum(values)


def shrunk(channel: Randomizer) -> Randomizer:
    """Return the same randomizer on a domain small enough to list, with the same integers for its ratio."""
    domain = min(channel.domain, SMALL_DOMAIN)
    sizes = {"domain": domain, "capacity": min(channel.capacity, SMALL_CAPACITY, domain)}
    if isinstance(channel, PrivSet):
        sizes["size"] = min(channel.size, SMALL_SIZE, domain)
    return channel.changed(**sizes)


def inputs_of(channel: Randomizer) -> Iterator[tuple[int, ...]]:
    """Return every set that a user can have."""
    for size in range(channel.capacity + 1):
        yield from combinations(range(channel.domain), size)


def _enumerated(channel: Randomizer) -> tuple[int, int, Fraction | None, bool]:
    """Return the number of inputs and of outputs, the largest ratio, and whether the formulas agree with the code."""
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
    """Check that the probabilities with which the curator de-biases keep the claim at the real size too."""
    p, q = channel.probabilities
    if isinstance(channel, OUE):
        return p * (1 - q) / ((1 - p) * q) == channel.ratio
    # Reports of the others name a fixed number of items: the probabilities of all items add up to it.
    named = channel.size if isinstance(channel, PrivSet) else 1
    return channel.capacity * p + (channel.outputs - channel.capacity) * q == named and p / q <= channel.ratio
