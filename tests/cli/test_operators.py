from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.cli.operators import actor, campaign_names
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.server import campaigns
from ldptrace.server.storage import open_database


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
