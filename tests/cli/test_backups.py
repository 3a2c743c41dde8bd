from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ldptrace.cli import application
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.server import campaigns, registry
from ldptrace.server.storage import open_database


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
