from __future__ import annotations

import json
from pathlib import Path

import pytest

from audit_kit import ONE_GRR
from cli_kit import PLAN, error_of, run
from ldptrace.cli.audit import METHODS, plan_of


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_audit_of_a_plan_and_of_a_method() -> None:
    Path("plan.json").write_text(ONE_GRR.to_json())
    result = run("audit", "plan.json", "--trials", "100", "--json", "audit.json")
    assert result.exit_code == 0, result.output
    assert "The promise stood" in result.stdout
    assert json.loads(Path("audit.json").read_text())["stands"] is True
    assert "The promise stood" in run("decode", "audit.json").stdout
    result = run("audit", "paper-unpadded", "--grid", "3", "--trials", "100")
    assert result.exit_code == 1
    assert "The promise FELL" in result.stdout


@pytest.mark.usefixtures("folder")
def test_audit_of_what_is_not_there() -> None:
    assert "neither a plan document nor one of the methods" in error_of("audit", "nothing.json")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_plan_to_audit(name: str) -> None:
    plan = plan_of(name, 1.0, 3)
    assert (plan.method, plan.grid.n) == (name, 3)
    assert plan.is_private == (name != "paper-unpadded")
    assert len(plan.rounds) == (1 if name == "single-report" else 2)


@pytest.mark.usefixtures("folder")
def test_a_plan_is_audited_as_it_is_in_its_file() -> None:
    assert plan_of("plan.json", 9.0, 9).id == PLAN.id
