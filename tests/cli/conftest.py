from __future__ import annotations

from pathlib import Path

import pytest

from cli_kit import PLAN


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plan, a trip and a ledger of its own, in the folder where commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LDPTRACE_LEDGER", str(tmp_path / "ledger.json"))
    Path("plan.json").write_text(PLAN.to_json())
    Path("trip.csv").write_text("id,x,y\n1,0.5,0.5\n1,3.0,4.0\n")
    return tmp_path
