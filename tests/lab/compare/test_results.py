from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ldptrace.errors import InputError
from ldptrace_lab.compare import Question, compare, contestant
from ldptrace_lab.compare.contestants import contestants


@pytest.mark.slow
@pytest.mark.counted
def test_means_and_spreads_over_seeds(question: Question, tmp_path: Path) -> None:
    seen = []
    found = compare(
        [question],
        contestants("paper,adatrace", has_map=False),
        (0.5, 2.0),
        3,
        tmp_path,
        listener=lambda *what: seen.append(what),
    )
    assert len(list((tmp_path / "runs").iterdir())) == 2 * 2 * 3 + 3
    assert seen[-1][1:] == (15, 15)
    rows = [row for row in found.rows if row.metric.name == "density_error"]
    assert [(row.contestant.name, row.epsilon) for row in rows] == [
        ("paper", 0.5),
        ("paper", 2.0),
        ("adatrace", 0.5),
        ("adatrace", 2.0),
        ("fresh-sample", None),
    ]
    assert all(row.seeds == 3 and row.std is not None for row in rows)
    again = compare([question], found.contestants, (0.5, 2.0), 3, tmp_path)
    assert again.rows == found.rows
    fewer = compare([question], found.contestants, (0.5,), 1, tmp_path)
    assert {row.std for row in fewer.rows} == {None}


@pytest.mark.slow
@pytest.mark.counted
def test_a_method_that_refuses_stops_no_other(
    question: Question, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ldptrace_lab.compare import runs

    real_run = runs.synthesize

    def refuse(*arguments: object, method: str, **options: object) -> object:
        if method == "adatrace":
            raise InputError("not today")
        return real_run(*arguments, method=method, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(runs, "synthesize", refuse)
    found = compare([question], contestants("adatrace,paper", has_map=False), (1.0,), 2, tmp_path)
    assert found.failures == ("adatrace on square: not today",)
    assert {row.contestant.name for row in found.rows} == {"paper", "fresh-sample"}


@pytest.mark.slow
def test_processes_find_the_same(question: Question, tmp_path: Path) -> None:
    who = [contestant("paper", has_map=False)]
    alone = compare([question], who, (1.0,), 2, tmp_path / "a")
    several = compare([question], who, (1.0,), 2, tmp_path / "b", jobs=2)
    assert [row.mean for row in several.rows] == [row.mean for row in alone.rows]
    assert np.isfinite([row.mean for row in several.rows]).all()
    assert replace(several, rows=(), seconds={}).failures == ()
