"""The audit: private plans stand; leaks and broken randomizers fall."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import pytest

from ldptrace.audit import Audit, amplified, audit
from ldptrace.audit.black_box import _log_ratio, black_box, worst_inputs
from ldptrace.audit.exact import exact_findings, round_epsilon
from ldptrace.audit.marginals import marginal_findings
from ldptrace.audit.source import source_findings
from ldptrace.audit.structure import structural_findings
from ldptrace.audit.system import system_source
from ldptrace.audit.trajectories import Points
from ldptrace.device import Reporter
from ldptrace.device import reporter as reporter_module
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Start, Steps
from ldptrace.protocol.randomizers import GRR, OUE, RANDOMIZERS, PrivSet, Randomizer
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.reports import HEADER_BYTES
from ldptrace.protocol.round import SHARES, Ask, Round

GRID = Grid((0.0, 0.0, 3.0, 3.0), 3)
TRIALS = 600


def with_channel(channel: type[Randomizer], plan: Plan) -> Plan:
    """The plan with one of its randomizers replaced by a broken one of the same parameters."""

    def swapped(ask: Ask) -> Ask:
        old = ask.randomizer
        if not isinstance(old, channel.__bases__[0]):
            return ask
        return ask.changed(randomizer=channel(*(getattr(old, name) for name in old.fields)))

    rounds = tuple(Round(tuple(map(swapped, r.asks)), r.assignment, r.padded) for r in plan.rounds)
    return plan.changed(rounds=rounds, extends=None)


class LastBitKept(OUE):
    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        named = super().perturb(items, source)
        last = self.domain - 1
        return tuple(item for item in named if item != last) + tuple(item for item in items if item == last)


class TrueBitNeverCleared(OUE):
    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        named = set(super().perturb((), source))
        return tuple(sorted(named | set(items if source.below(2) else ())))


class NeverMisses(PrivSet):
    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        own = source.subset(self.filled(items), 1)
        rest = source.subset([i for i in range(self.outputs) if i not in own], self.size - 1)
        return tuple(sorted(own + rest))


ONE_OUE = Plan.paper(GRID, 5.0)
SINGLE = Plan.single_report(GRID, 1.0)


@pytest.fixture(scope="module")
def honest() -> Audit:
    return audit(SINGLE, trials=TRIALS)


def test_a_private_plan_stands(honest: Audit) -> None:
    assert honest.stands
    assert honest.exact_epsilon == pytest.approx(1.0, abs=1e-9)
    assert honest.exact_epsilon <= 1.0
    assert "The promise stood" in honest.summary()


def test_the_attacks_find_something_and_not_too_much() -> None:
    """Where there is much to find, a few hundred messages prove a good part of it, and never more than is there."""
    attacks = black_box(Plan.single_report(GRID, 4.0), 400)
    assert 1.0 < max(attack.epsilon_at_least for attack in attacks) <= 4.0


def test_the_document_is_plain_json(honest: Audit) -> None:
    document = json.loads(honest.to_json())
    assert document["format"] == "ldptrace-audit"
    assert document["stands"] is True
    assert document["exact"][0]["ratio"] == [
        str(n) for n in SINGLE.rounds[0].asks[0].randomizer.ratio.as_integer_ratio()
    ]


def test_the_paper_padded_stands() -> None:
    plan = Plan.paper(GRID, 1.0).paper_second_round(3)
    assert all(finding.stands for finding in exact_findings(plan))
    assert all(finding.stands for finding in structural_findings(plan))


def test_the_paper_unpadded_falls() -> None:
    found = audit(Plan.paper(GRID, 1.0, method="paper-unpadded").paper_second_round(3), trials=200)
    assert not found.stands
    assert any(not f.stands and f.checked == "number and size" for f in found.structure)
    assert any(not attack.stands for attack in found.attacks)
    assert "The promise FELL" in found.summary()


@pytest.mark.parametrize("broken", [LastBitKept, TrueBitNeverCleared])
def test_broken_bits_fall(broken: type[OUE]) -> None:
    plan = with_channel(broken, ONE_OUE)
    exact = exact_findings(plan)
    assert not all(finding.stands for finding in exact)
    found = audit(plan, trials=300)
    assert not found.stands
    assert "exact enumeration" in found.summary()


def test_a_bit_that_is_never_randomised_is_infinitely_bad() -> None:
    (finding,) = exact_findings(with_channel(LastBitKept, ONE_OUE))
    assert finding.ratio is None
    assert math.isinf(finding.epsilon)


def test_attackers_see_it_too() -> None:
    """Without looking at the randomizer at all."""
    tiny = Plan.paper(GRID, "0.5")
    attacks = black_box(with_channel(TrueBitNeverCleared, tiny), 1500)
    assert any(not attack.stands for attack in attacks)
    assert all(attack.stands for attack in black_box(tiny, 1500))


def test_reports_that_never_miss_fall() -> None:
    plan = with_channel(NeverMisses, SINGLE)
    assert any(finding.ratio is None for finding in exact_findings(plan))


def test_a_header_that_depends_on_the_trajectory_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    from ldptrace.device import reporter
    from ldptrace.protocol.trips import Trip

    seen: list[Trip] = []
    real = reporter.trip_of
    monkeypatch.setattr(reporter, "trip_of", lambda points, grid: seen.append(real(points, grid)) or seen[-1])
    monkeypatch.setattr(reporter, "_group", lambda round_, source: 0 if seen[-1].path else 1)
    found = structural_findings(SINGLE)
    assert "header" in [finding.checked for finding in found if not finding.stands]


class OneItemKept(PrivSet):
    """Only one item in the middle of a large domain is wrong: it is named whenever the user has it."""

    def perturb(self, items: Sequence[int], source: Source) -> tuple[int, ...]:
        named = super().perturb(items, source)
        if 17 in items and 17 not in named:
            named = tuple(sorted((*named[1:], 17)))
        return named


def test_one_wrong_item_among_many_is_found() -> None:
    plan = Plan.single_report(Grid((0.0, 0.0, 6.0, 6.0), 6), 1.0)
    wrong = marginal_findings(with_channel(OneItemKept, plan), 800)
    assert {finding.item for finding in wrong if not finding.stands} == {17}
    assert all(finding.stands for finding in marginal_findings(plan, 800))


def test_worst_inputs_differ_and_cover_the_ends_of_the_domain() -> None:
    for group, ask in enumerate(SINGLE.rounds[0].asks):
        inputs = worst_inputs(SINGLE, 0, group)
        answers = [answer for _, _, answer in inputs]
        assert len(set(answers)) == len(answers) >= 2
        if ask.question.name in ("start", "end"):
            named = {item for answer in answers for slot in answer for item in slot}
            assert {0, ask.question.domain - 1} <= named


def test_the_exact_part_uses_the_integers_of_the_plan() -> None:
    for finding, ask in zip(exact_findings(SINGLE), SINGLE.rounds[0].asks, strict=True):
        assert finding.ratio == ask.randomizer.ratio


@pytest.mark.parametrize(
    ("epsilon", "n", "central"),
    [
        (1, 100_000, 0.073),
        (3, 100_000, 0.34),
        (5, 100_000, 0.79),
        (1, 500_000, 0.033),
        (5, 500_000, 0.43),
        (6, 500_000, 0.64),
        (4, 1_000_000, 0.20),
    ],
)
def test_amplification_by_shuffling(epsilon: float, n: int, central: float) -> None:
    found = amplified(epsilon, n, 1e-6)
    assert found is not None
    assert found == pytest.approx(central, rel=0.03)


def test_amplification_says_when_it_does_not_hold() -> None:
    assert amplified(8, 1000, 1e-6) is None
    assert amplified(1, 100, 1e-6) is None
    with pytest.raises(ValueError, match="delta"):
        amplified(1, 1000, 0)


@pytest.mark.parametrize("leak", ["size", "padding"])
def test_bytes_that_tell_beside_the_payload_fall(leak: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device pads only some messages, or pads with something that depends on the path."""
    honest = Reporter.draw

    def leaky(self: Reporter, points: Points, number: int, source: Source | None = None) -> bytes:
        report = honest(self, points, number, source)
        if leak == "size":
            return report if points else report.rstrip(b"\0")
        return report[:-1] + bytes([len(points) % 2])

    monkeypatch.setattr(Reporter, "draw", leaky)
    found = audit(SINGLE, trials=200)
    assert not found.stands
    assert any(not finding.stands for finding in found.structure)


def header_that_tells(at: int, value: Callable[[Points], int]) -> Callable[..., bytes]:
    """A device whose header has, in one byte, something of the trajectory."""
    honest = Reporter.draw

    def leaky(self: Reporter, points: Points, number: int, source: Source | None = None) -> bytes:
        report = honest(self, points, number, source)
        return report[:at] + bytes([report[at] ^ value(points)]) + report[at + 1 :]

    return leaky


@pytest.mark.parametrize("at", [0, 1, 16, 17, 18, 19, HEADER_BYTES - 1])
def test_every_byte_of_the_header_is_compared(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Version, plan, round, group, id, first byte and last: one bit that depends on the trajectory is found."""
    for value in (lambda points: len(points) > 4, lambda points: len(points) > 1000):
        with monkeypatch.context() as patch:
            patch.setattr(Reporter, "draw", header_that_tells(at, value))
            found = structural_findings(SINGLE)
        assert "header" in [finding.checked for finding in found if not finding.stands]
        assert "number and size" not in [finding.checked for finding in found if not finding.stands]
    assert all(finding.stands for finding in structural_findings(SINGLE))


def test_messages_that_no_receiver_counts_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for everybody, so that only the form is wrong."""
    monkeypatch.setattr(Reporter, "draw", header_that_tells(0, lambda _: 1))
    wrong = [finding.checked for finding in structural_findings(SINGLE) if not finding.stands]
    assert wrong == ["form"]


def test_black_box_sees_a_leak_in_any_bit_of_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the named items do not show it: the last bit of the padding."""
    honest = Reporter.draw

    def leaky(self: Reporter, points: Points, number: int, source: Source | None = None) -> bytes:
        report = honest(self, points, number, source)
        return report[:-1] + bytes([report[-1] | 128 * (len(points) > 1)])

    monkeypatch.setattr(Reporter, "draw", leaky)
    attacks = black_box(Plan.single_report(GRID, "0.5"), 400)
    assert any(not attack.stands for attack in attacks if attack.looked_at == "the bytes")


# -- the audit audited: each of its parts is shown what it must find, and what it must not mind ----------------


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


ONE_GRR = Plan("audit", GRID, Fraction(1), (Round((Ask(Start(3), GRR(9, 1, Fraction(5, 2))),), "everyone"),))
ONE_PRIVSET = ONE_GRR.changed(rounds=(Round((Ask(Start(3), PrivSet(9, 1, Fraction(5, 2), 3)),), "everyone"),))


def test_the_exact_ratio_is_the_true_one() -> None:
    (honest,) = exact_findings(ONE_GRR)
    assert (honest.ratio, honest.claimed, honest.stands) == (Fraction(5, 2), Fraction(5, 2), True)
    (squared,) = exact_findings(with_channel(Squared, ONE_GRR))
    assert squared.ratio == Fraction(25, 4)
    assert not squared.stands
    assert squared.epsilon == pytest.approx(2 * math.log(2.5))


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
    found = Audit(plan, findings, [], [], [], [])
    assert round_epsilon(both, findings[:2]) == pytest.approx(small + large)
    assert round_epsilon(either, findings[2:4]) == pytest.approx(max(small, large))
    assert found.exact_epsilon == pytest.approx(2 * (small + large) + max(small, large))


@pytest.mark.parametrize("part", ["exact", "marginals", "structure", "attacks", "source"])
def test_one_finding_of_any_part_is_enough(part: str, honest: Audit) -> None:
    """A verdict that forgot one kind of evidence would stand."""
    first, *rest = getattr(honest, part)
    worse = {
        "exact": {"formulas_hold": False},
        "attacks": {"epsilon_at_least": first.claimed + 0.001} if part == "attacks" else {},
    }.get(part, {"stands": False})
    fallen = replace(honest, **{part: [*rest, replace(first, **worse)]})
    assert honest.stands
    assert not fallen.stands
    assert "The promise FELL" in fallen.summary()
    assert json.loads(fallen.to_json())["stands"] is False


def test_a_sum_above_epsilon_is_enough(honest: Audit) -> None:
    """All randomizers are what they say, and say more than the plan."""
    generous = [replace(f, ratio=f.ratio * 2, claimed=f.claimed * 2) for f in honest.exact if f.ratio]
    assert all(finding.stands for finding in generous)
    assert not replace(honest, exact=generous).stands


def test_bounds_hold_and_are_not_empty() -> None:
    """Clopper-Pearson: below the truth in all but a fraction of cases, and not far below."""
    hits, false, trials = 7311, 2689, 10_000
    bound = _log_ratio(hits, false, trials, 1e-6)
    assert 0.85 < bound < math.log(hits / false)
    assert _log_ratio(0, false, trials, 1e-6) == 0.0
    assert _log_ratio(trials, trials, trials, 1e-6) <= 0.0
    # Smaller error rates give smaller bounds.
    assert _log_ratio(hits, false, trials, 1e-12) < bound < _log_ratio(hits, false, trials, 1e-2)


# -- the random source ------------------------------------------------------------------------------------------


def seeded() -> Callable[[int], bytes]:
    return random.Random(7).randbytes


def repeated_block() -> Callable[[int], bytes]:
    block, at = os.urandom(64), [0]

    def take(count: int) -> bytes:
        piece = bytes(block[(at[0] + k) % 64] for k in range(count))
        at[0] += count
        return piece

    return take


def zeros_after_a_while() -> Callable[[int], bytes]:
    left = [64]

    def take(count: int) -> bytes:
        good = min(count, left[0])
        left[0] -= good
        return os.urandom(good) + bytes(count - good)

    return take


KEPT = [b""]


def kept_between_reports() -> Callable[[int], bytes]:
    """A read-ahead for all reports of the process, which a fork shares with its parent."""

    def take(count: int) -> bytes:
        if len(KEPT[0]) < count:
            KEPT[0] += os.urandom(count + 4096)
        piece, KEPT[0] = KEPT[0][:count], KEPT[0][count:]
        return piece

    return take


def the_wrong_way_round() -> Callable[[int], bytes]:
    return lambda count: os.urandom(count)[::-1]


def stretched() -> Callable[[int], bytes]:
    """Every byte of the system is used twice."""
    return lambda count: bytes(byte for byte in os.urandom((count + 1) // 2) for _ in range(2))[:count]


@pytest.mark.parametrize(
    "source",
    [seeded, repeated_block, zeros_after_a_while, kept_between_reports, the_wrong_way_round, stretched],
)
@pytest.mark.parametrize("plan", [SINGLE, ONE_OUE, ONE_GRR], ids=["privset", "oue", "grr"])
def test_a_bad_random_source_falls(
    source: Callable[[], Callable[[int], bytes]], plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporter_module, "_ReadAhead", source)
    found = source_findings(plan)
    assert not all(finding.stands for finding in found)
    # Each randomizer's probe needs thousands of bytes, so it sees what comes after the first ones.
    probes = [finding.stands for finding in found if finding.target.startswith("probe")]
    assert not any(probes)


def test_a_source_that_is_not_the_systems_fells_the_whole_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporter_module, "_ReadAhead", seeded)
    found = audit(ONE_GRR, trials=200)
    assert not found.stands
    assert "random source" in found.summary()


def test_every_randomizer_has_a_probe() -> None:
    found = source_findings(ONE_GRR)
    assert all(finding.stands for finding in found)
    assert [finding.target for finding in found] == ["round 0", *(f"probe of {kind}" for kind in RANDOMIZERS)]
    assert all(finding.bytes > 1000 * finding.reports for finding in found[1:])


def test_the_system_gets_its_source_back() -> None:
    real = os.urandom
    with system_source(bytes):
        assert os.urandom(3) == b"\0\0\0"
    assert os.urandom is real
    with pytest.raises(ValueError, match="negative"), system_source(bytes):
        os.urandom(-1)
    assert os.urandom is real
