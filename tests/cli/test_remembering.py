from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ldptrace as lt
from cli_kit import PLAN, error_of, run
from conftest import random_paths
from ldptrace.curator import Estimates
from ldptrace.simulation import collect


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
