"""Every input and output of small randomizers, from the code itself, in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

import pytest

from ldptrace.audit.exact import distribution
from ldptrace.protocol.exact import log, ratio_at_most
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet, Randomizer
from ldptrace.protocol.randomness import Source

E = ratio_at_most(Fraction(1))
RATIOS = [Fraction(3), Fraction(5, 2), E]
CHANNELS: list[Randomizer] = [
    *(OUE(domain, 1, ratio) for ratio in RATIOS for domain in (1, 2, 4)),
    *(GRR(domain, 1, ratio) for ratio in RATIOS for domain in (1, 2, 5)),
    *(
        PrivSet(domain, capacity, ratio, size)
        for ratio in RATIOS
        for domain, capacity, size in ((1, 1, 1), (4, 1, 2), (3, 2, 1), (3, 2, 3), (4, 3, 2), (3, 3, 3))
    ),
]

# Fractions as long as those of real plans take the longest.
CASES = [pytest.param(one, marks=pytest.mark.slow) if one.ratio == E else one for one in CHANNELS]

Law = dict[tuple[int, ...], Fraction]


def inputs(channel: Randomizer) -> list[tuple[int, ...]]:
    sizes = range(channel.capacity + 1)
    return [items for size in sizes for items in combinations(range(channel.domain), size)]


@cache
def laws(channel: Randomizer) -> dict[tuple[int, ...], Law]:
    return {
        items: distribution(lambda source, items=items: channel.perturb(items, source))
        for items in inputs(channel)
    }


def largest_ratio(found: dict[tuple[int, ...], Law]) -> Fraction | None:
    """None stands for infinity."""
    worst = Fraction(1)
    for named in set().union(*found.values()):
        chances = [law.get(named, Fraction(0)) for law in found.values()]
        if min(chances) == 0:
            return None
        worst = max(worst, max(chances) / min(chances))
    return worst


@pytest.mark.parametrize("channel", CASES, ids=repr)
def test_the_ratio_is_exactly_the_claimed_one(channel: Randomizer) -> None:
    found = laws(channel)
    expected = channel.ratio
    if isinstance(channel, OUE) and channel.domain == 1:
        # One item against none: only one bit differs.
        expected = (channel.ratio + 1) / 2
    assert largest_ratio(found) == expected


@pytest.mark.parametrize("channel", CASES, ids=repr)
def test_the_formulas_are_what_the_code_does(channel: Randomizer) -> None:
    p, q = channel.probabilities
    for items, law in laws(channel).items():
        assert sum(law.values()) == 1
        assert law == {named: channel.probability(named, items) for named in channel.all_reports()}
        for output in range(channel.outputs):
            marginal = sum(chance for named, chance in law.items() if output in named)
            assert marginal == (p if output in channel.filled(items) else q)


@pytest.mark.parametrize("channel", CHANNELS, ids=repr)
def test_bytes_come_back(channel: Randomizer) -> None:
    for named in channel.all_reports():
        assert len(channel.encode(named)) == channel.payload_bytes
        assert channel.decode(channel.encode(named)) == named


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1", "2.5", "20"])
def test_the_budget_is_never_exceeded(epsilon: str) -> None:
    budget = Fraction(epsilon)
    ratio = ratio_at_most(budget)
    assert Fraction(log(ratio)) <= budget
    assert Fraction(log(ratio + Fraction(1, 1 << 40))) > budget


class LastBitKept(OUE):
    """The bug that a well-known library had for twenty months: the last bit is sent as it is."""

    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        named = super().perturb(items, source)
        return tuple(item for item in named if item < self.domain - 1) + tuple(
            item for item in items if item == self.domain - 1
        )


class TrueBitNeverCleared(OUE):
    """The bug of the published code: the true bit is set with probability 1/2 and otherwise left as drawn."""

    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        named = set(super().perturb((), source))
        if items and source.below(2):
            named.add(items[0])
        return tuple(sorted(named))


class AlwaysOneOfTheOwn(PrivSet):
    """A report that misses the user's set is drawn again."""

    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        own = source.subset(self.filled(items), 1)
        rest = source.subset([item for item in range(self.outputs) if item not in own], self.size - 1)
        return tuple(sorted(own + rest))


def test_enumeration_sees_a_bit_that_is_never_randomised() -> None:
    assert largest_ratio(laws(LastBitKept(3, 1, E))) is None


def test_enumeration_sees_a_bit_that_is_never_cleared() -> None:
    found = largest_ratio(laws(TrueBitNeverCleared(3, 1, E)))
    assert found is not None
    assert found > E


def test_enumeration_sees_reports_that_never_miss() -> None:
    assert largest_ratio(laws(AlwaysOneOfTheOwn(3, 2, E, 2))) is None
