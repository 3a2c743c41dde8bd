from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from audit_kit import GRID, ONE_GRR, ONE_OUE, SINGLE, LastBitKept, TrueBitNeverCleared, seeded, with_channel
from ldptrace.audit import Audit, audit
from ldptrace.audit.client import structural_findings
from ldptrace.audit.exact import exact_findings
from ldptrace.device import Reporter
from ldptrace.device import reporter as reporter_module
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import OUE
from ldptrace.protocol.trips import Occasion

TRIALS = 200


@pytest.fixture(scope="module")
def honest() -> Audit:
    return audit(SINGLE, trials=TRIALS)


@pytest.fixture(scope="module")
def short() -> Audit:
    """Of a single randomizer, where the verdict is what matters."""
    return audit(ONE_GRR, trials=TRIALS)


@pytest.mark.slow
def test_a_private_plan_stands(honest: Audit) -> None:
    assert honest.stands
    assert honest.exact_epsilon == pytest.approx(1.0, abs=1e-9)
    assert honest.exact_epsilon <= 1.0
    assert "The promise stood" in honest.summary()


@pytest.mark.slow
def test_the_document_is_plain_json(honest: Audit) -> None:
    document = json.loads(honest.to_json())
    assert document["format"] == "ldptrace-audit"
    assert document["stands"] is True
    assert document["exact"][0]["ratio"] == [
        str(n) for n in SINGLE.rounds[0].asks[0].randomizer.ratio.as_integer_ratio()
    ]


@pytest.mark.slow
def test_the_paper_padded_stands() -> None:
    plan = Plan.paper(GRID, 1.0).paper_second_round(3)
    assert all(finding.stands for finding in exact_findings(plan))
    assert all(finding.stands for finding in structural_findings(plan))


@pytest.mark.slow
def test_the_paper_unpadded_falls() -> None:
    found = audit(Plan.paper(GRID, 1.0, method="paper-unpadded").paper_second_round(3), trials=200)
    assert not found.stands
    assert any(not f.stands and f.checked == "number and size" for f in found.structure)
    assert any(not attack.stands for attack in found.attacks)
    assert "The promise FELL" in found.summary()


@pytest.mark.slow
@pytest.mark.parametrize("broken", [LastBitKept, TrueBitNeverCleared])
def test_broken_bits_fall(broken: type[OUE]) -> None:
    plan = with_channel(broken, ONE_OUE)
    exact = exact_findings(plan)
    assert not all(finding.stands for finding in exact)
    found = audit(plan, trials=300)
    assert not found.stands
    assert "exact enumeration" in found.summary()


@pytest.mark.slow
@pytest.mark.parametrize("leak", ["size", "padding"])
def test_bytes_that_tell_beside_the_payload_fall(leak: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device pads only some messages, or pads with something that depends on the path."""
    honest = Reporter.draw_about

    def leaky(self: Reporter, occasion: Occasion, *rest: Any, **options: Any) -> bytes:
        report, points = honest(self, occasion, *rest, **options), list(occasion.trip.points)
        if leak == "size":
            return report if points else report.rstrip(b"\0")
        return report[:-1] + bytes([len(points) % 2])

    monkeypatch.setattr(Reporter, "draw_about", leaky)
    # One such finding makes the whole audit fall, as the test below shows.
    assert not all(finding.stands for finding in structural_findings(SINGLE))


@pytest.mark.parametrize("part", ["exact", "marginals", "structure", "attacks", "source", "ledger"])
def test_one_finding_of_any_part_is_enough(part: str, short: Audit) -> None:
    """A verdict that forgot one kind of evidence would stand."""
    first, *rest = getattr(short, part)
    worse = {
        "exact": {"formulas_hold": False},
        "attacks": {"epsilon_at_least": first.claimed + 0.001} if part == "attacks" else {},
    }.get(part, {"stands": False})
    fallen = replace(short, **{part: [*rest, replace(first, **worse)]})
    assert short.stands
    assert not fallen.stands
    assert "The promise FELL" in fallen.summary()
    assert json.loads(fallen.to_json())["stands"] is False


def test_a_sum_above_epsilon_is_enough(short: Audit) -> None:
    """All randomizers are what they say, and say more than the plan."""
    generous = [replace(f, ratio=f.ratio * 2, claimed=f.claimed * 2) for f in short.exact if f.ratio]
    assert all(finding.stands for finding in generous)
    assert not replace(short, exact=generous).stands


def test_a_source_that_is_not_the_systems_fells_the_whole_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporter_module, "_ReadAhead", seeded)
    found = audit(ONE_GRR, trials=200)
    assert not found.stands
    assert "random source" in found.summary()
