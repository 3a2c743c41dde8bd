from __future__ import annotations

import resource
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ldptrace.cli import application
from ldptrace.cli.operators import actor, campaign_names
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.standing import Standing
from ldptrace.server import campaigns, registry, tokens
from ldptrace.server.campaigns import close_windows
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.storage import open_database
from ldptrace.web.problems import Refused
from server_kit import SINGLE, TELLING, answered, of, opened, telling_report


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


pytestmark = pytest.mark.slow


def run_campaign(*arguments: str) -> Result:
    return CliRunner().invoke(application("campaign"), ["campaign", *arguments])


def test_a_release_is_made_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    database = open_database("ldptrace-data")
    opened(database, "trips", SINGLE, min_reports=20)
    assert isinstance(run_campaign("publish", "trips").exception, Refused)
    assert isinstance(run_campaign("export", "trips", "-o", "trips.csv").exception, InputError)
    answered(database, "trips", 30)
    before = run_campaign("export", "trips", "-o", "early")
    assert before.exit_code == 0
    assert {path.name for path in Path("early").iterdir()} == {"plan-1.json", "tally-1.json"}
    assert run_campaign("publish", "trips", "--count", "10").exit_code == 0
    assert run_campaign("export", "trips", "-o", "trips.csv").exit_code == 0
    assert run_campaign("export", "trips", "-o", "release").exit_code == 0
    written = {path.name: path.stat().st_size for path in Path("release").iterdir()}
    assert {"model.npz", "synthetic.parquet"} <= written.keys()
    database.close_all()
    # On a disk that is full in the middle, nothing is left.
    system = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max(written.values()) - 1, system[1]))
    try:
        failed = run_campaign("export", "trips", "-o", "full/release")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, system)
    assert isinstance(failed.exception, OSError)
    assert not Path("full").exists()


def test_a_file_that_is_no_backup_is_named(tmp_path: Path) -> None:
    other = tmp_path / "trips.gpx"
    other.write_text("<gpx></gpx>")
    said = str(run_campaign("restore", str(other), "--data", str(tmp_path / "data")).exception)
    assert said == f"{other} is no backup of a campaign: file is not a database"
    assert not (tmp_path / "data").exists()


def test_every_window_of_a_standing_campaign_has_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    database = open_database("ldptrace-data")
    week = 7 * 86_400
    plan = opened(database, "weekly", TELLING.changed(standing=Standing.of(week, epsilon=1, start=0)))
    assert "has published no window yet" in str(run_campaign("export", "weekly", "-o", "out").exception)
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
    assert run_campaign("export", "weekly", "-o", "out").exit_code == 0
    assert Path("out/1970-01-22-1/synthetic.csv").read_bytes() == b"0"
    assert Path("out/1970-01-29-2/synthetic.csv").read_bytes() == b"1"
    assert run_campaign("export", "weekly", "-o", "newest.csv").exit_code == 0
    assert Path("newest.csv").read_bytes() == b"1"
    lines = run_campaign("show", "weekly").stdout.splitlines()
    assert "window    from 1970-01-29 00:00 UTC: 1 report, open, release done" in lines
    close_windows(database, "weekly", 90.0 * week)
    lines = run_campaign("show", "weekly").stdout.splitlines()
    assert "window    from 1970-01-29 00:00 UTC: 1 report, closed, too few for a release" in lines
    next_plan = plan.changed(standing=Standing.of(week, epsilon=1, start=0, lifetime=3))
    Path("next.json").write_text(next_plan.to_json())
    assert run_campaign("change", "weekly", "--plan", "next.json").exit_code == 0
    at = 9_000
    Counter(database, lambda: (at + 1.0) * week).count(
        "weekly", [Submission(telling_report(1, next_plan, at))]
    )
    windows = run_campaign("show", "weekly").stdout
    assert f"window    from 1970-01-22 00:00 UTC by plan {plan.id[:12]}: 1 report" in windows
    assert f"UTC by plan {next_plan.id[:12]}: 1 report, open" in windows
    database.close_all()


def test_a_restored_standing_campaign_has_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    database = open_database("ldptrace-data")
    opened(database, "weekly", TELLING.changed(standing=Standing.of(7 * 86_400, epsilon=1)))
    assert run_campaign("backup", "weekly", "-o", "weekly.backup").exit_code == 0
    restored = run_campaign("restore", "weekly.backup", "--data", "second")
    assert "campaign weekly is back: open, 0 windows" in restored.output
    database.close_all()
