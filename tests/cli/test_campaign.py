"""Campaigns from the command line; with a server and devices they are in `tests/server/test_fleet.py`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ldptrace.cli import application
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.server import registry
from ldptrace.server.counting import Label, count_batch
from ldptrace.server.storage import open_database
from shuffler_kit import HOUR, KEY, NOW, batch_of, keyless, standing, telling

PLAN = Plan.single_report(Grid((0.0, 0.0, 6.0, 6.0), 4), 1.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LDPTRACE_DATA", str(tmp_path / "data"))
    Path("plan.json").write_text(PLAN.to_json())
    return tmp_path


def run(*arguments: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(application("campaign"), ["campaign", *arguments], input=answer)


def shown(name: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(run("show", name, "--json").stdout)
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_a_campaign_is_made_of_a_plan_and_opened_and_closed() -> None:
    made = run("create", "town", "--plan", "plan.json", "--title", "A town", "--min-reports", "7")
    assert made.exit_code == 0, made.output
    # A plan of its own: its id is not that of the same settings elsewhere.
    assert shown("town")["state"] == "draft"
    assert shown("town")["plan"] != PLAN.id
    assert run("open", "town").exit_code == 0
    assert shown("town")["state"] == "open"
    facts, _, table = run("show", "town").stdout.partition("Predicted standard error of a share")
    assert "reports   0 counted, 7 needed" in facts.splitlines()
    # From as many reports as a release needs.
    assert min(int(text) for text in re.findall(r"([\d,]+) reports", table)) >= 7
    # A row for each question, and no more than a terminal is wide.
    assert {"length", "visits", "moves"} <= {line.split()[1] for line in table.splitlines() if "│" in line}
    assert max(map(len, table.splitlines())) <= 100
    assert run("close", "town").exit_code == 0
    assert isinstance(run("open", "town").exception, Exception)
    actions = [entry["action"] for entry in json.loads(run("audit", "--json").stdout)]
    assert actions == ["create", "open", "close"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "needs --plan FILE, or --users"),
        (["--users", "9", "--epsilon", "1"], "needs --plan FILE, or --users"),
        (["--plan", "plan.json", "--epsilon", "1"], "not both"),
        (["--plan", "plan.json", "--time"], "--time is what the plan says"),
        (["--plan", "plan.json", "--method", "paper"], "--method is what the plan says"),
        (["--users", "9", "--epsilon", "1", "--bounds", "0,0,1,1", "--week"], "questions about time"),
        (["--users", "9", "--epsilon", "1", "--bounds", "0,0,1,1", "--time", "--centre", "3,3"], "centre"),
        (
            ["--users", "9", "--epsilon", "1", "--bounds", "0,0,1,1", "--time", "--method", "paper"],
            "about time",
        ),
        (["--users", "9", "--epsilon", "1", "--bounds", "0,0,1"], "bounds"),
        (
            [
                "--users",
                "9000",
                "--epsilon",
                "1",
                "--bounds",
                "0,0,1,1",
                "--shuffled",
                "--key",
                KEY.public.hex(),
            ],
            "a campaign makes its own pair of keys, so that its server can open reports: omit key",
        ),
        (["--users", "9", "--epsilon", "0", "--bounds", "0,0,1,1"], "epsilon"),
        (
            ["--users", "9", "--epsilon", "1", "--bounds", "0,0,1,1", "--grid", "many"],
            "grid must be a whole number or auto",
        ),
    ],
)
@pytest.mark.usefixtures("folder")
def test_facts_that_do_not_make_a_plan(options: list[str], words: str) -> None:
    refused = run("create", "town", *options)
    assert isinstance(refused.exception, InputError), refused.output
    assert words in str(refused.exception)
    assert json.loads(run("list", "--json").stdout) == []


@pytest.mark.usefixtures("folder")
def test_a_campaign_from_facts_asks_about_time() -> None:
    facts = ["--users", "900", "--epsilon", "1", "--bounds", "13,52,14,53", "--crs", "EPSG:4326"]
    asked = ["--time", "--week", "--centre", "13.4,52.5", "--grid", "4"]
    assert run("create", "town", *facts, *asked).exit_code == 0
    planned = CliRunner().invoke(application("plan"), ["plan", *facts, *asked, "--json", "-"])
    with open_database("data").reading() as session:
        made = registry.find(session, "town").plan
    assert made.changed(campaign=None).id == json.loads(planned.stdout)["plan_id"]


@pytest.mark.usefixtures("folder")
def test_trips_are_there_when_it_is_published() -> None:
    run("create", "town", "--plan", "plan.json")
    early = run("export", "town", "-o", "trips.csv")
    assert "synthetic trips are there when it is published" in str(early.exception)
    assert not Path("trips.csv").exists()


@pytest.mark.usefixtures("folder")
def test_deleting_asks_first() -> None:
    run("create", "town", "--plan", "plan.json")
    assert run("delete", "town", answer="n\n").exit_code == 1
    assert shown("town")["state"] == "draft"
    assert run("delete", "town", answer="y\n").exit_code == 0
    assert json.loads(run("list", "--json").stdout) == []


@pytest.mark.usefixtures("folder")
def test_tokens_are_shown_once_and_can_be_revoked() -> None:
    run("create", "town", "--plan", "plan.json")
    made = run("token", "town", "--scope", "read", "--label", "me")
    secret = made.stdout.split()[0]
    number = secret.split("_")[1]
    listed = run("token", "--list").stdout
    assert f"{number}  read" in listed
    assert secret not in listed
    assert run("token", "--revoke", number).exit_code == 0
    assert "revoked" in run("token", "--list").stdout
    codes = run("token", "town", "--admission", "3").stdout.split()
    assert len(set(codes)) == 3


def test_nothing_is_made_by_looking_nor_by_a_campaign_that_cannot_be(folder: Path) -> None:
    for command in (["show", "town"], ["open", "town"], ["close", "town"], ["publish", "town"], ["audit"]):
        assert "there are no campaigns in" in str(run(*command).exception), command
    assert json.loads(run("list", "--json").stdout) == []
    refused = run("create", "Bad Name", "--plan", "plan.json")
    assert "small letters, digits and hyphens" in str(refused.exception)
    assert not (folder / "data").exists()
    assert run("token", "*").exit_code == 0
    assert (folder / "data").is_dir()


@pytest.mark.usefixtures("folder")
def test_a_standing_campaign_goes_on_with_another_plan(tmp_path: Path) -> None:
    facts = ["--users", "900", "--epsilon", "1", "--bounds", "0,0,6,6", "--grid", "4"]
    refused = run("create", "town", *facts, "--recent", "2d")
    assert "recent belongs to a standing plan" in str(refused.exception)
    made = run(
        "create", "town", *facts, "--every", "7d", "--recent", "2d", "--lifetime", "6", "--grace", "12h"
    )
    assert made.exit_code == 0, made.output
    assert shown("town")["standing"] == {
        "every": 604_800,
        "recent": 172_800,
        "start": 345_600,
        "lifetime": "6",
        "grace": 43_200,
    }
    assert "campaign town is open, and its windows open and close by themselves" in run("open", "town").output
    assert "every 7 days, lifetime 6" in run("show", "town").stdout
    with open_database("data").reading() as session:
        plan = registry.find(session, "town").plan
    assert "trips" in [ask.question.name for ask in plan.rounds[0].asks]
    assert plan.standing is not None
    Path("next.json").write_text(
        plan.changed(campaign=None, standing=plan.standing.changed(grace=60)).to_json()
    )
    assert run("change", "town", "--plan", "next.json").exit_code == 0
    assert shown("town")["standing"]["grace"] == 60  # type: ignore[index]
    assert run("close", "town").exit_code == 0
    assert shown("town")["until"] is not None


def test_a_shuffled_campaign_shows_its_batches_and_both_promises(tmp_path: Path) -> None:
    plan = telling().changed(campaign=None)
    (tmp_path / "plan.json").write_text(plan.to_json())
    data = ("--data", str(tmp_path / "data"))
    create = ("create", "trips", "--plan", str(tmp_path / "plan.json"), "--min-reports", "1", *data)
    for secret in (None, "no key", "0" * 64):
        if secret is not None:
            (tmp_path / "plan.json.key").write_text(secret)
        assert "private key" in str(run(*create).exception)
        assert not (tmp_path / "data").exists()
    (tmp_path / "plan.json.key").write_text(f"{KEY.text}\n")
    made = run(*create)
    assert "delete that file" in made.output
    assert "campaign token trips --scope shuffle" in made.output
    assert "epsilon 1 (1 if curator and shuffler work together); open it" in " ".join(made.output.split())
    run("open", "trips", *data)
    assert run("token", "trips", "--scope", "shuffle", *data).stdout.startswith("ldpt_")
    store = open_database(tmp_path / "data")
    with store.reading() as session:
        plan = registry.find(session, "trips").plan
    assert plan.id in made.output
    count_batch(store, Label("trips", plan.id, None), batch_of(plan, range(4)), NOW + HOUR)
    shown = " ".join(run("show", "trips", *data).output.split())
    assert "shuffler A club, https://club.example, batches of 3 or more" in shown
    assert "promise epsilon 1, delta 1e-08 for an answer; 1 if curator and shuffler work together" in shown
    assert "batch 4 reports, 4 counted, 4 taken to be honest: central epsilon 1" in shown
    assert "until 2027-01-15 09:00 UTC" in shown


def test_a_standing_shuffled_campaign_shows_both_lifetimes(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(keyless(standing()).to_json())
    data = ("--data", str(tmp_path / "data"))
    run("create", "trips", "--plan", str(tmp_path / "plan.json"), *data)
    shown = " ".join(run("show", "trips", *data).output.split())
    assert "epsilon 20 for all answers; 20 if curator and shuffler work together" in shown
