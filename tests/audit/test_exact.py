from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import pytest

from audit_kit import GRID, ONE_GRR, ONE_OUE, SINGLE, LastBitKept, with_channel
from ldptrace.audit import Audit
from ldptrace.audit.exact import distribution, exact_findings, round_epsilon
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Start, Steps
from ldptrace.protocol.randomizers import GRR, OUE, PrivSet
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.round import SHARES, Ask, Round


def test_enumeration_finds_every_range_of_a_draw() -> None:
    bound = (1 << 42) + 12345
    edges = [1, 1000, 1 << 41, (1 << 41) + 1, bound - 1]
    law = distribution(lambda source: sum(edge <= source.below(bound) for edge in edges[:1]))
    assert law == {0: Fraction(1, bound), 1: Fraction(bound - 1, bound)}

    def place(source: Source) -> int:
        drawn = source.below(bound)
        return sum(edge <= drawn for edge in edges)

    borders = [0, *edges, bound]
    assert distribution(place) == {
        k: Fraction(borders[k + 1] - borders[k], bound) for k in range(len(edges) + 1)
    }


def test_a_coin_thrown_until_it_shows_heads_is_cut_off_by_its_own_rule() -> None:
    def throws(source: Source) -> int:
        for number in range(3):
            if source.below(2):
                return number
        return 3

    law = distribution(throws)
    assert law == {0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 8), 3: Fraction(1, 8)}


def test_draws_one_after_another_are_independent() -> None:
    law = distribution(lambda source: (source.below(2), source.below(3)))
    assert law == {(a, b): Fraction(1, 6) for a in range(2) for b in range(3)}


class NeverMisses(PrivSet):
    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        own = source.subset(self.filled(items), 1)
        rest = source.subset([i for i in range(self.outputs) if i not in own], self.size - 1)
        return tuple(sorted(own + rest))


def test_a_bit_that_is_never_randomised_is_infinitely_bad() -> None:
    (finding,) = exact_findings(with_channel(LastBitKept, ONE_OUE))
    assert finding.ratio is None
    assert math.isinf(finding.epsilon)


def test_reports_that_never_miss_fall() -> None:
    plan = with_channel(NeverMisses, SINGLE)
    assert any(finding.ratio is None for finding in exact_findings(plan))


def test_the_exact_part_uses_the_integers_of_the_plan() -> None:
    for finding, ask in zip(exact_findings(SINGLE), SINGLE.rounds[0].asks, strict=True):
        assert finding.ratio == ask.randomizer.ratio


class Squared(GRR):
    """Tells the truth with the square of the odds it claims, and its formulas say so."""

    @property
    def _weights(self) -> tuple[int, int, int]:
        true, other = self.ratio.numerator**2, self.ratio.denominator**2
        return true, other, true + self.domain * other


class WrongFormula(GRR):
    """Randomises as it should; what the curator would de-bias with is wrong."""

    @property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        p, q = super().probabilities
        return p + Fraction(1, 100), q - Fraction(1, 100) / self.domain


class WrongChance(GRR):
    """Randomises as it should; the chance it states of a report is another."""

    def probability(self, named: Sequence[int], items: Sequence[int]) -> Fraction:
        return Fraction(1, self.outputs)


class WrongBits(OUE):
    @property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        return Fraction(1, 2), super().probabilities[1] * Fraction(99, 100)


class WrongSubset(PrivSet):
    @cached_property
    def probabilities(self) -> tuple[Fraction, Fraction]:
        p, q = super().probabilities
        return p, q * Fraction(99, 100)


ONE_PRIVSET = ONE_GRR.changed(rounds=(Round((Ask(Start(3), PrivSet(9, 1, Fraction(5, 2), 3)),), "everyone"),))


def test_the_exact_ratio_is_the_true_one() -> None:
    (honest,) = exact_findings(ONE_GRR)
    assert (honest.ratio, honest.claimed, honest.stands) == (Fraction(5, 2), Fraction(5, 2), True)
    # A ratio above the claim is enough, also where every formula is right.
    assert honest.formulas_hold
    assert not replace(honest, claimed=Fraction(5, 2) - Fraction(1, 1 << 40)).stands
    (squared,) = exact_findings(with_channel(Squared, ONE_GRR))
    assert squared.ratio == Fraction(25, 4)
    assert not squared.stands
    assert squared.epsilon == pytest.approx(2 * math.log(2.5))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("channel", "plan"),
    [
        (WrongFormula, ONE_GRR),
        (WrongChance, ONE_GRR),
        (WrongBits, ONE_OUE),
        (WrongSubset, ONE_PRIVSET),
    ],
)
def test_wrong_formulas_are_found_though_the_randomizer_is_right(channel: Any, plan: Plan) -> None:
    (honest,) = exact_findings(plan)
    assert honest.stands
    (wrong,) = exact_findings(with_channel(channel, plan))
    assert wrong.ratio == wrong.claimed
    assert not wrong.formulas_hold
    assert not wrong.stands


def test_ratios_add_up_as_the_protocol_says() -> None:
    """Slots multiply; in a round for everyone questions add up; in a partition the largest counts; rounds add up."""
    ratio = Fraction(5, 4)
    asks = (
        Ask(Steps(3, 2), OUE(40, 1, ratio)),
        Ask(Start(3), GRR(9, 1, Fraction(2))),
    )
    halves = tuple(ask.changed(share=SHARES // 2) for ask in asks)
    both, either = Round(asks, "everyone"), Round(halves, "partition")
    plan = Plan("audit", GRID, Fraction(3), (both, either, both))
    findings = exact_findings(plan)
    small, large = 2 * math.log(ratio), math.log(2)
    found = Audit(plan, findings, [], [], [], [], [], "", [])
    assert round_epsilon(both, findings[:2]) == pytest.approx(small + large)
    assert round_epsilon(either, findings[2:4]) == pytest.approx(max(small, large))
    assert found.exact_epsilon == pytest.approx(2 * (small + large) + max(small, large))
