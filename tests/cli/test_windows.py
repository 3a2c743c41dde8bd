"""`ldptrace plan` for standing plans and named questions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ldptrace as lt
from cli_kit import PLAN, error_of, run, status
from conftest import random_paths
from ldptrace.curator import Estimates
from ldptrace.simulation import collect

FACTS = ("plan", "--users", 100000, "--epsilon", 1, "--bounds", "0,0,20000,20000", "--grid", 6)


def test_a_standing_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "plan.json"
    assert status(*FACTS, "-o", out, "--every", "7d", "--recent", "36h", "--lifetime", "4.5") == 0
    standing = lt.Plan.from_json(out.read_text()).standing
    assert standing is not None
    assert (standing.every, standing.recent, standing.start) == (604_800, 129_600, 345_600)
    text = capsys.readouterr().out
    assert "1 message every 7 days" in text
    assert "Any 7 days enter at most 2 answers: epsilon 2." in text
    assert "Any 132 hours enter at most one answer: epsilon 1." in text
    assert "at most 4, cost at most the lifetime of epsilon 4.5" in text
    assert "A habit, such as the route to work" in text


def test_where_windows_are_counted_from(tmp_path: Path) -> None:
    out = tmp_path / "plan.json"
    assert status(*FACTS, "-o", out, "--every", "90min", "--start", "2026-01-05T00:00+01:00") == 0
    standing = lt.Plan.from_json(out.read_text()).standing
    assert standing is not None
    assert (standing.every, standing.start, standing.grace) == (5400, 1_767_567_600, 5400)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--recent", "7d"), "give every"),
        (("--lifetime", "3"), "give every"),
        (("--every", "7"), "a number with a unit"),
        (("--every", "30s"), "every, in seconds, must be an integer from 60"),
        (("--every", "1d", "--recent", "2d"), "never more than every"),
        (("--every", "1d", "--lifetime", "0.5"), "at least one answer"),
        (("--every", "1d", "--start", "Monday"), "a moment with its zone"),
        (("--every", "1d", "--start", "5.5"), "a whole second"),
        (("--every", "1d", "--method", "paper"), "no windows"),
        (("--questions", "start,speed"), "questions are some of"),
        (("--questions", ","), "got none"),
        (("--questions", "start", "--method", "paper"), "its own questions"),
        (("--campaign", "Spring 2026"), "a campaign is named"),
    ],
)
def test_what_cannot_be(
    options: tuple[str, ...], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(*FACTS, "-o", tmp_path / "plan.json", *options) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "plan.json").exists()


def test_named_questions_and_campaigns(tmp_path: Path) -> None:
    ids = set()
    for _ in range(2):
        out = tmp_path / "plan.json"
        assert status(*FACTS, "-o", out, "--questions", "start, trips", "--campaign", "spring") == 0
        plan = lt.Plan.from_json(out.read_text())
        assert [ask.question.name for ask in plan.rounds[0].asks] == ["start", "trips"]
        assert plan.campaign is not None
        assert plan.campaign.name == "spring"
        ids.add(plan.id)
    assert len(ids) == 2


def test_tallies_with_times_are_remembered(tmp_path: Path, rng: np.random.Generator) -> None:
    (tmp_path / "plan.json").write_text(PLAN.to_json())
    names: list[str] = []
    for number in range(3):
        names.append(str(tmp_path / f"{number}.json"))
        Path(names[-1]).write_text(collect(PLAN, random_paths(300, PLAN.grid, rng), rng).to_json())
    common = ("estimate", *names, "--plan", str(tmp_path / "plan.json"))
    times = ("--at", "1970-01-01", "--at", "3600", "--at", "1970-01-01T02:00")
    result = run(*common, *times, "--remember", "1h", "-o", str(tmp_path / "e.json"))
    assert result.exception is None, result.output
    assert "remembered 1h" in result.output
    found = Estimates.from_json((tmp_path / "e.json").read_text())
    assert 300 < sum(estimate.users for estimate in found.values()) < 900
    assert "give --at TIME for each" in error_of(*common, "--remember", "1h")
    assert "nobody was asked the question trips" in error_of(*common, "--population", "1000")
    assert "3 tallies and 1 times" in error_of(*common, "--at", "1")
    assert "--at is a moment, such as 2026-11-16T08:00Z" in error_of(
        *common, "--at", "a", "--at", "2", "--at", "3"
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_model_is_fitted_to_tallies_with_their_plan(tmp_path: Path, rng: np.random.Generator) -> None:
    (tmp_path / "plan.json").write_text(PLAN.to_json())
    tally, model = tmp_path / "tally.json", tmp_path / "model.npz"
    tally.write_text(collect(PLAN, random_paths(300, PLAN.grid, rng), rng).to_json())
    common = ("fit", str(tally), str(tally), "-o", str(model))
    result = run(
        *common, "--plan", str(tmp_path / "plan.json"), "--at", "0", "--at", "60", "--remember", "auto"
    )
    assert result.exception is None, result.output
    assert lt.load_model(model).plan == PLAN
    assert "give their plan with --plan" in error_of(*common)
