from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ldptrace.cli import application
from ldptrace.server import campaigns, tokens
from ldptrace.server.storage import open_database
from server_kit import SINGLE, of


def run(*arguments: str) -> Result:
    return CliRunner().invoke(application("campaign"), ["campaign", "token", *arguments])


def test_tokens_are_made_listed_and_revoked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    database = open_database("ldptrace-data")
    campaigns.create(database, "town", of(SINGLE, "town"), actor="test")
    text = run("town", "--scope", "read", "--label", "press").stdout.strip()
    with database.reading() as session:
        held = tokens.holder(session, text)
    assert (held.scope, held.label) == ("read", "press")
    assert f"{held.id}  read    town" in run("--list").stdout
    assert run("--revoke", held.id).exit_code == 0
    assert "revoked" in run("--list").stdout
    codes = run("town", "--admission", "3").stdout.split()
    assert len(set(codes)) == 3
    database.close_all()
