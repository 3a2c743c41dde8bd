from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from ldptrace.cli.audit import METHODS, plan_of
from ldptrace.cli.audit import register as register_audit
from ldptrace.cli.collect import register
from ldptrace.errors import LdptraceError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan

PLAN = Plan.single_report(Grid((0.0, 0.0, 6.0, 6.0), 6), 1.0)


app = typer.Typer(pretty_exceptions_enable=False)
register(app)
register_audit(app)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LDPTRACE_LEDGER", str(tmp_path / "ledger.json"))
    Path("plan.json").write_text(PLAN.to_json())
    Path("trip.csv").write_text("id,x,y\n1,0.5,0.5\n1,3.0,4.0\n")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def error_of(*arguments: str) -> str:
    result = run(*arguments)
    assert isinstance(result.exception, LdptraceError), result.output
    return str(result.exception)


@pytest.mark.usefixtures("folder")
def test_audit_of_a_plan_and_of_a_method() -> None:
    result = run("audit", "plan.json", "--trials", "100", "--json", "audit.json")
    assert result.exit_code == 0, result.output
    assert "The promise stood" in result.stdout
    assert json.loads(Path("audit.json").read_text())["stands"] is True
    assert "The promise stood" in run("decode", "audit.json").stdout
    result = run("audit", "paper-unpadded", "--grid", "3", "--trials", "200")
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
