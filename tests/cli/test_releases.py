from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ldptrace.cli import application
from ldptrace.errors import InputError
from ldptrace.server.problems import Refused
from ldptrace.server.storage import open_database
from server_kit import SINGLE, answered, opened

pytestmark = pytest.mark.slow


def run(*arguments: str) -> Result:
    return CliRunner().invoke(application("campaign"), ["campaign", *arguments])


def test_a_release_is_made_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    database = open_database("ldptrace-data")
    opened(database, "trips", SINGLE, min_reports=20)
    assert isinstance(run("publish", "trips").exception, Refused)
    assert isinstance(run("export", "trips", "-o", "trips.csv").exception, InputError)
    answered(database, "trips", 30)
    before = run("export", "trips", "-o", "early")
    assert before.exit_code == 0
    assert {path.name for path in Path("early").iterdir()} == {"plan-1.json", "tally-1.json"}
    assert run("publish", "trips", "--count", "10").exit_code == 0
    assert run("export", "trips", "-o", "trips.csv").exit_code == 0
    assert run("export", "trips", "-o", "release").exit_code == 0
    assert {"model.npz", "synthetic.parquet"} <= {path.name for path in Path("release").iterdir()}
    database.close_all()
