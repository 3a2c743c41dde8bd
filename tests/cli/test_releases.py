from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ldptrace.cli import application
from ldptrace.errors import InputError
from ldptrace.protocol.standing import Standing
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.problems import Refused
from ldptrace.server.standing import close_windows
from ldptrace.server.storage import open_database
from server_kit import SINGLE, TELLING, answered, opened, telling_report

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


def test_every_window_of_a_standing_campaign_has_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    database = open_database("ldptrace-data")
    week = 7 * 86_400
    plan = opened(database, "weekly", TELLING.changed(standing=Standing.of(week, epsilon=1, start=0)))
    assert "has published no window yet" in str(run("export", "weekly", "-o", "out").exception)
    for window in (3, 4):
        Counter(database, lambda at=(window + 1.0) * week: at).count(  # type: ignore[misc]
            "weekly", [Submission(telling_report(1, plan, window))]
        )
    with database.writing() as session:
        for number in (0, 1):
            session.run("INSERT INTO releases VALUES ('weekly', ?, 'a', 'done', '', 100, '', 0, 0)", number)
            session.run(
                "INSERT INTO files VALUES ('weekly', ?, 0, ?)", f"{number}/synthetic.csv", b"%d" % number
            )
    assert run("export", "weekly", "-o", "out").exit_code == 0
    assert Path("out/1970-01-22-1/synthetic.csv").read_bytes() == b"0"
    assert Path("out/1970-01-29-2/synthetic.csv").read_bytes() == b"1"
    assert run("export", "weekly", "-o", "newest.csv").exit_code == 0
    assert Path("newest.csv").read_bytes() == b"1"
    lines = run("show", "weekly").stdout.splitlines()
    assert "window    from 1970-01-29 00:00 UTC: 1 reports, open, release done" in lines
    close_windows(database, "weekly", 90.0 * week)
    lines = run("show", "weekly").stdout.splitlines()
    assert "window    from 1970-01-29 00:00 UTC: 1 reports, closed, too few for a release" in lines
    database.close_all()
