"""The audit: private plans stand; leaks and broken randomizers fall."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import pytest

from ldptrace.audit import Audit, amplified, audit
from ldptrace.audit.black_box import black_box, worst_inputs
from ldptrace.audit.exact import exact_findings
from ldptrace.audit.marginals import marginal_findings
from ldptrace.audit.structure import structural_findings
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import OUE, PrivSet
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.round import Ask, Round

GRID = Grid((0.0, 0.0, 3.0, 3.0), 3)
TRIALS = 600


def with_channel(channel: type[OUE] | type[PrivSet], plan: Plan) -> Plan:
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
    wrong = marginal_findings(with_channel(OneItemKept, plan), 2000)
    assert {finding.item for finding in wrong if not finding.stands} == {17}
    assert all(finding.stands for finding in marginal_findings(plan, 2000))


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
    from ldptrace.device import Reporter

    honest = Reporter.draw

    def leaky(self: Reporter, points: list[tuple[float, float]], number: int, source: Source) -> bytes:
        report = honest(self, points, number, source)
        if leak == "size":
            return report if points else report.rstrip(b"\0")
        return report[:-1] + bytes([len(points) % 2])

    monkeypatch.setattr(Reporter, "draw", leaky)
    found = audit(SINGLE, trials=200)
    assert not found.stands
    assert any(not finding.stands for finding in found.structure)
