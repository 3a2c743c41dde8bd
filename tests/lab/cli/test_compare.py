from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from cli_kit import error_of, run
from ldptrace.core.trajectories import Trajectories
from ldptrace_lab.compare.runs import Question


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "trips.csv"
    lines = [f"{k},{k % 7}.5,{k % 5}.5\n{k},{k % 6}.5,{k % 4}.5" for k in range(40)]
    path.write_text("traj_id,x,y\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.slow
def test_tables_and_files(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    words = ["compare", str(file), "--methods", "paper,adatrace", "--epsilons", "1", "--seeds", "1"]
    result = run(
        *words, "--out", str(out), "--jobs", "1", "--grid", "3", "--users", "30", "--bounds", "0,0,7,7"
    )
    assert result.exit_code == 0, result.output
    assert "the paper's nine metrics" in result.stdout
    # Tables are shared: the real trips are not among them, nor anywhere else afterwards.
    assert {path.name for path in out.iterdir()} == {
        "index.html",
        "results.csv",
        "results.md",
        "results.tex",
        "runs",
    }
    assert not list(scratch.glob("ldptrace-compare-*/data-*"))
    assert len(list((out / "runs").iterdir())) == 3
    again = run(*words, "--out", str(out), "--jobs", "1", "--grid", "3", "--users", "30")
    assert "bounds of trips.csv are those of the data" in again.stderr


@pytest.mark.slow
def test_trips_outside_the_bounds_are_not_compared(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []

    def kept(trips: Trajectories, *rest: Any, **shared: Any) -> Question:
        compared.append(len(trips))
        return of(trips, *rest, **shared)

    of = Question.of
    monkeypatch.setattr(Question, "of", staticmethod(kept))
    with file.open("a") as lines:
        lines.write("99,70.5,70.5\n99,71.5,71.5\n")
    words = ["--methods", "paper", "--epsilons", "1", "--seeds", "1", "--grid", "3", "--bounds", "0,0,7,7"]
    result = run("compare", str(file), *words, "--jobs", "1", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    assert compared == [40]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--epsilons", "1,x"], "--epsilons takes positive numbers"),
        (["--epsilons", "0"], "--epsilons takes positive numbers"),
        (["--methods", "nobody"], "there is no method 'nobody'"),
        (["--methods", "retrasyn"], "need --tick"),
        (["--grid", "many"], "a whole number or auto"),
    ],
)
def test_mistakes_get_one_clear_sentence(file: Path, tmp_path: Path, words: list[str], message: str) -> None:
    given = {"--methods": "paper", "--out": str(tmp_path / "out")} | dict([tuple(words)])
    result = run("compare", str(file), *(word for pair in given.items() for word in pair))
    assert message in str(result.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_shuffled_reports_beside_a_trusted_curator(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ["compare", str(file), "--methods", "single-report,adatrace", "--epsilons", "1", "--seeds", "1"]
    rest = ["--jobs", "1", "--grid", "3", "--bounds", "0,0,7,7", "--out", str(out)]
    result = run(*words, *rest, "--shuffled")
    assert result.exit_code == 0, result.output
    told = (out / "results.md").read_text()
    assert "single-report+shuffled †" in told
    assert told.count("for the replacement of one trip by another") == 2
    assert "give --shuffled" in error_of(*words, *rest, "--delta", "1e-8")
