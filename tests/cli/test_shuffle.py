"""The commands of a shuffler's operator."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli_kit import error_of, run
from ldptrace.shuffler.store import Sealed, Store
from server_kit import TELLING
from shuffler_kit import NOW, sealed, standing, telling

CAMPAIGN = "https://curator.example/v1/campaigns/trips"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text("ldpt_secret\n")
    for name, plan in (("once", telling()), ("weekly", standing()), ("direct", TELLING)):
        (tmp_path / f"{name}.json").write_text(plan.to_json())
    return tmp_path


def add(folder: Path, name: str, *options: str) -> tuple[str, ...]:
    plan, token = str(folder / f"{name}.json"), str(folder / "token")
    return (
        "shuffle",
        "add",
        CAMPAIGN,
        "--plan",
        plan,
        "--token",
        token,
        "--data",
        str(folder / "data"),
        *options,
    )


def test_a_plan_is_added_and_shown(folder: Path) -> None:
    said = run(*add(folder, "once", "--id", telling().id))
    assert said.exit_code == 0
    assert telling().id in said.output
    assert "A club" in said.output
    assert "admit people by codes" in said.output
    assert "admit people" not in run(*add(folder, "weekly", "--codes")).output
    shown = json.loads(run("shuffle", "show", "--json", "--data", str(folder / "data")).output)
    assert shown["batches"] == []
    assert {"id": telling().id, "campaign": CAMPAIGN, "admission": False} in shown["plans"]
    assert "ldpt_secret" not in run("shuffle", "show", "--data", str(folder / "data")).output


def test_what_is_not_the_plan_is_refused(folder: Path) -> None:
    assert "has the id" in error_of(*add(folder, "once", "--id", "0" * 64))
    assert "not shuffled" in error_of(*add(folder, "direct"))
    (folder / "token").write_text("")
    assert "holds no token" in error_of(*add(folder, "once"))
    assert "such as https://" in error_of(
        "shuffle", "add", "curator.example", "--token", str(folder / "token")
    )
    assert "there is no shuffler" in error_of("shuffle", "show", "--data", str(folder / "nowhere"))
    assert "after the command" in error_of("shuffle", "--data", str(folder), "show")


def test_codes_are_lines_of_one_code_for_each_window(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(*add(folder, "weekly"))
    data, schedule = ("--data", str(folder / "data")), standing().standing
    assert schedule is not None
    for windows, words in ((-1, "are made$"), (3, "; devices answer window 3 now$")):
        now = schedule.start + windows * schedule.every
        monkeypatch.setattr("ldptrace.cli.serve.time", SimpleNamespace(time=lambda now=now: now))
        said = error_of("shuffle", "codes", standing().id, "--people", "2", *data)
        assert re.search(f"--first .*{words}", said), said
    made = run(
        "shuffle", "codes", standing().id[:9], "--people", "2", "--first", "0", "--windows", "3", *data
    )
    lines = [line.split() for line in made.stdout.splitlines()]
    assert [[code[:2] for code in line] for line in lines] == [["0-", "1-", "2-"]] * 2
    assert {len(code) for line in lines for code in line} == {34}
    store = Store(folder / "data", lambda: NOW)
    for window, code in enumerate(lines[0]):
        one = sealed(standing(), 1, window)
        assert store.take(standing().id, [Sealed(one.body, window, code)]) == [0]
    assert "0 plans" in error_of("shuffle", "codes", "zzz", "--people", "2", *data)
    store.close()


def test_a_backup_is_a_file_of_its_own(folder: Path) -> None:
    run(*add(folder, "once"))
    data = ("--data", str(folder / "data"))
    assert run("shuffle", "backup", "-o", str(folder / "kept"), *data).exit_code == 0
    assert (folder / "kept").exists()
    assert "exists already" in error_of("shuffle", "backup", "-o", str(folder / "kept"), *data)
