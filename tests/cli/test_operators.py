from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ldptrace.cli import application
from ldptrace.cli.operators import actor, campaign_names
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.server import campaigns, registry, tokens
from ldptrace.server.storage import open_database
from server_kit import SINGLE, of


def test_names_are_completed_from_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LDPTRACE_DATABASE", raising=False)
    monkeypatch.setenv("LDPTRACE_DATA", str(tmp_path / "data"))
    assert campaign_names("") == []
    assert not (tmp_path / "data").exists()
    database = open_database(tmp_path / "data")
    for name in ("town", "tower", "city"):
        campaigns.create(database, name, Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 2), 1.0), actor="test")
    assert campaign_names("to") == ["tower", "town"]
    database.close_all()


def test_somebody_is_named_in_the_audit_log(monkeypatch: pytest.MonkeyPatch) -> None:
    assert actor().startswith("command line")

    def nobody() -> str:
        raise KeyError

    monkeypatch.setattr("getpass.getuser", nobody)
    assert actor() == "command line"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(application("campaign"), ["campaign", *arguments])


def test_a_campaign_as_a_file_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = open_database("first")
    campaigns.create(first, "town", Plan.single_report(Grid((0.0, 0.0, 1.0, 1.0), 2), 1.0), actor="test")
    assert run("backup", "town", "-o", "town.backup", "--data", "first").exit_code == 0
    restored = run("restore", "town.backup", "--data", "second")
    assert restored.exit_code == 0, restored.output
    with open_database("second").reading() as session:
        assert registry.find(session, "town").state == "draft"
    assert run("restore", "town.backup", "--data", "second").exit_code != 0
    first.close_all()


def run_token(*arguments: str) -> Result:
    return CliRunner().invoke(application("campaign"), ["campaign", "token", *arguments])


def test_tokens_are_made_listed_and_revoked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    database = open_database("ldptrace-data")
    campaigns.create(database, "town", of(SINGLE, "town"), actor="test")
    text = run_token("town", "--scope", "read", "--label", "press").stdout.strip()
    with database.reading() as session:
        held = tokens.holder(session, text)
    assert (held.scope, held.label) == ("read", "press")
    assert f"{held.id}  read    town" in run_token("--list").stdout
    assert run_token("--revoke", held.id).exit_code == 0
    assert "revoked" in run_token("--list").stdout
    codes = run_token("town", "--admission", "3").stdout.split()
    assert len(set(codes)) == 3
    database.close_all()
