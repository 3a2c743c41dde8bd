from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from audit_kit import GRID
from ldptrace.audit import audit
from ldptrace.audit.client import OwnDevice, central_findings, sealed_finding
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Start
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.round import Ask, Round
from ldptrace.protocol.shuffled import Shuffled
from shuffled_kit import shuffled, weekly

ONE = Plan(
    "one",
    GRID,
    Fraction(2),
    (Round((Ask(Start(GRID.n), GRR(GRID.cells, 1, ratio_at_most(Fraction(2)))),), "everyone"),),
)


@dataclass
class Naked:
    """A client that does not seal, or seals everything alike."""

    inner: OwnDevice
    spoil: Any
    name: str = "naked"

    def ask(self, line: dict[str, Any]) -> dict[str, Any]:
        return {"reports": self.spoil(self.inner.ask(line)["reports"])}

    def restart(self) -> None:
        """Forget nothing."""


def test_both_epsilons_of_a_standing_plan_are_computed() -> None:
    one, all_of_them = central_findings(weekly(ONE, answers=5))
    assert (one.checked, all_of_them.checked) == ("one answer", "all 5 answers")
    assert one.stands
    assert all_of_them.stands
    assert one.epsilon < all_of_them.epsilon < 5 * one.epsilon
    assert all_of_them.delta == pytest.approx(5e-8)
    assert central_findings(ONE) == []


def test_a_lifetime_that_is_stated_too_small_falls() -> None:
    """Devices do not check it, so the audit must."""
    plan = weekly(ONE, answers=5)
    assert plan.shuffled is not None
    wrong = plan.changed(shuffled=plan.shuffled.changed(lifetime=plan.shuffled.epsilon))
    assert [finding.stands for finding in central_findings(wrong)] == [True, False]


def test_seals_are_opened(tmp_path: Path) -> None:
    for plan in (shuffled(ONE), weekly(ONE)):
        found = sealed_finding(plan, OwnDevice(tmp_path))
        assert found.stands
        assert "20 seals" in found.detail


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda reports: [report[162:] for report in reports], "not sealed for this plan"),
        (lambda reports: [reports[0]] * len(reports), "the same key"),
    ],
)
def test_a_client_that_does_not_seal_is_found(spoil: Any, says: str, tmp_path: Path) -> None:
    found = sealed_finding(shuffled(ONE), Naked(OwnDevice(tmp_path), spoil))
    assert not found.stands
    assert says in found.detail


@pytest.mark.slow
def test_the_audit_of_a_shuffled_plan_is_about_both_promises() -> None:
    plan = shuffled(ONE)
    found = audit(plan, trials=200)
    assert found.stands, found.summary()
    assert found.plan == plan
    assert found.document()["central"][0]["stands"]
    assert "If shuffler and curator do not work together" in found.summary()
    assert found.exact_epsilon == pytest.approx(2, abs=1e-9)
    assert [finding.checked for finding in found.structure][-1] == "seal"
    assert isinstance(plan.shuffled, Shuffled)
