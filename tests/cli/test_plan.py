from __future__ import annotations

import json
from pathlib import Path

import pytest

import ldptrace as lt
from cli_kit import status
from ldptrace.curator.opening import CuratorKey

BOUNDS = "0,0,20000,20000"


def test_a_plan_for_public_facts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "plan.json"
    assert status("plan", "--users", 100000, "--epsilon", 1, "--bounds", BOUNDS, "-o", out) == 0
    text = capsys.readouterr().out
    rows = [line.split("│")[1:-1] for line in text.splitlines() if line.startswith("│")]
    [chosen] = [row for row in rows if row[-1].strip() == "chosen"]
    best = min(float(row[-2]) for row in rows)
    # A row that predicts less error is explained.
    assert float(chosen[-2]) <= 1.03 * best
    assert "m is the largest within 3% of the best" in " ".join(text.split())
    assert "1 message in all" in text
    assert lt.Plan.from_json(out.read_text()).is_private


def test_a_written_plan_needs_bounds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status("plan", "--users", 1000, "--epsilon", 1, "-o", tmp_path / "plan.json") == 2
    assert "needs the public bounds" in capsys.readouterr().err


def test_a_plan_for_a_week_around_a_public_centre(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "plan.json"
    facts = ("plan", "--users", 100000, "--epsilon", 1, "--bounds", BOUNDS, "--grid", 6, "-o", out)
    assert status(*facts, "--time", "--week", "--centre", "19000,1") == 0
    questions = {ask.question.name: ask.question for ask in lt.Plan.from_json(out.read_text()).rounds[0].asks}
    assert questions["departure"].domain == 168
    assert questions["tides"].parameters()["centre"] == 30
    assert status(*facts, "--week") == 2
    assert "none of these is asked" in capsys.readouterr().err
    assert status(*facts, "--time", "--method", "paper") == 2
    assert "asks nothing about time" in capsys.readouterr().err
    assert status(*facts, "--time", "--centre", "here") == 2
    assert "two numbers X,Y" in capsys.readouterr().err
    assert status(*facts, "--time", "--centre", "1,99999") == 2
    assert "within the bounds" in capsys.readouterr().err


def test_the_plan_for_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "plan.json"
    facts = ("--users", 100000, "--epsilon", 1, "--bounds", BOUNDS, "--grid", 5, "-o", out, "--json", "-")
    assert status("plan", *facts) == 0
    document = json.loads(capsys.readouterr().out)
    plan = lt.Plan.from_json(out.read_text())
    assert document["plan_id"] == plan.id
    assert document["plan"] == json.loads(out.read_text())
    assert document["outlook"]["n"] == plan.grid.n == 5
    assert document["mostly_noise"] is None


def test_few_users_are_warned_of_noise(capsys: pytest.CaptureFixture[str]) -> None:
    assert status("plan", "--users", 50, "--epsilon", 0.5, "--bounds", BOUNDS) == 0
    assert "Note: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong",
    [("--epsilon", 0), ("--epsilon", "nan"), ("--grid", "many"), ("--bounds", "1,2,3"), ("--users", 0)],
)
def test_facts_that_cannot_be_are_refused_and_nothing_is_written(
    wrong: tuple[str, object], tmp_path: Path
) -> None:
    facts: dict[str, object] = {"--users": 1000, "--epsilon": 1, "--bounds": BOUNDS}
    facts[wrong[0]] = wrong[1]
    assert (
        status("plan", *(part for pair in facts.items() for part in pair), "-o", tmp_path / "plan.json") == 2
    )
    assert list(tmp_path.iterdir()) == []


def test_a_shuffled_plan_and_its_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, told = tmp_path / "plan.json", tmp_path / "told.json"
    facts = ("plan", "--users", 10000, "--epsilon", 1, "--shuffled", "--bounds", BOUNDS, "-o", out)
    assert status(*facts, "--json", told) == 0
    said = capsys.readouterr()
    assert "with and without a shuffler" in said.out
    assert "If they do, or if somebody fills a batch with forged reports" in said.out
    plan = lt.Plan.from_json(out.read_text())
    assert plan.shuffled is not None
    secret = tmp_path / "plan.json.key"
    assert secret.stat().st_mode & 0o777 == 0o600
    assert CuratorKey.from_text(secret.read_text()).public == plan.shuffled.key
    assert "for trials" in said.err
    answer = json.loads(told.read_text())
    assert answer["direct"]["error"] > 2 * answer["outlook"]["error"]
    # A private key is never overwritten.
    before = secret.read_text(), out.read_text()
    assert status(*facts) == 2
    assert "may open the reports to another plan" in capsys.readouterr().err
    assert (secret.read_text(), out.read_text()) == before


def test_a_given_key_is_the_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key, out = CuratorKey.from_text("5").public, tmp_path / "plan.json"
    facts = ("plan", "--users", 10000, "--epsilon", 1, "--shuffled", "--bounds", BOUNDS)
    where = ("--key", key.hex(), "--shuffler", "https://club.example", "--operator", "A club")
    assert status(*facts, *where, "-o", out) == 0
    assert lt.Plan.from_json(out.read_text()).shuffled.key == key  # type: ignore[union-attr]
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]
    assert "trials" not in capsys.readouterr().err
    # A plan that is only shown needs no key; one on standard output has nowhere to put it.
    assert status(*facts) == 0
    assert status(*facts, "-o", "-") == 2
    assert "beside the plan" in capsys.readouterr().err


def test_the_paper_has_no_shuffled_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "plan.json"
    facts = ("plan", "--users", 10000, "--epsilon", 1, "--bounds", BOUNDS, "-o", out)
    assert status(*facts, "--shuffled", "--method", "paper") == 2
    assert "a shuffled plan has one round" in capsys.readouterr().err
    assert status(*facts, "--delta", "1e-8") == 2
    assert "belongs to a shuffled plan" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
