from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace_lab.compare.runs import Question, Run, bench, compare, contestant, contestants, outcome
from road_kit import lattice_roads


def made(question: Question, name: str, epsilon: float | None = None, seed: int = 1) -> dict[str, float]:
    run = Run(question, contestant(name, has_map=question.roads is not None), epsilon, seed)
    return bench(question).run(run)


@pytest.mark.slow
def test_a_kept_run_is_not_repeated(
    question: Question, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = Run(question, contestant("paper", has_map=False), 1.0, 1)
    first = outcome(paper, tmp_path / "runs")
    assert isinstance(first, dict)
    assert 0 <= first["density_error"] <= math.log(2)
    monkeypatch.setattr("ldptrace_lab.compare.runs.bench", lambda _: pytest.fail("it was kept"))
    again = outcome(paper, tmp_path / "runs")
    assert isinstance(again, dict)
    known = {name: value for name, value in first.items() if not math.isnan(value)}
    assert {name: again[name] for name in known} == known
    assert again["seconds"] == first["seconds"]


def test_other_runs_have_other_names(question: Question, trips: Trajectories, tmp_path: Path) -> None:
    moved = Question.of(replace(trips, x=trips.x[::-1].copy()), "square", tmp_path, question.bounds, grid=4)
    paper = Run(question, contestant("paper", has_map=False), 1.0, 1)
    other = [replace(paper, seed=2), replace(paper, epsilon=2.0), replace(paper, question=moved)]
    finer = replace(paper, question=replace(question, grid=5))
    assert len({run.name for run in (paper, finer, *other)}) == 5
    assert replace(paper, question=replace(question, title="another name of the same")).name == paper.name


@pytest.mark.slow
def test_a_fresh_sample_is_better_than_a_method(question: Question) -> None:
    fresh = made(question, "fresh-sample")
    again = made(question, "fresh-sample", seed=2)
    assert again["trip_error"] != fresh["trip_error"]
    assert "fine_density_error_24" not in again
    noisy = made(question, "paper", 1.0)
    assert fresh["density_error"] < noisy["density_error"]
    assert fresh["fine_density_error_24"] < noisy["fine_density_error_24"]


@pytest.mark.slow
def test_streams_are_compared_where_there_is_a_tick(question: Question) -> None:
    timed = replace(question, tick=10.0)
    peer, ours = (made(timed, name, 1.0) for name in ("retrasyn", "standing"))
    fresh = made(timed, "fresh-sample")
    stream = [name for name in peer if name.startswith("stream_")]
    assert all(name in ours for name in stream)
    assert stream
    assert all(name in fresh for name in stream)
    assert not any(name.startswith("stream_") for name in made(timed, "paper", 1.0))


@pytest.mark.slow
def test_the_map_stands_beside_what_uses_it(
    trips: Trajectories, tmp_path: Path, rng: np.random.Generator
) -> None:
    from ldptrace.roads.writer import write_roads

    roads = lattice_roads(8)
    write_roads(roads, tmp_path / "streets")
    x0, y0, x1, y1 = roads.x.min(), roads.y.min(), roads.x.max(), roads.y.max()
    inside = Trajectories(x0 + trips.x / 4 * (x1 - x0), y0 + trips.y / 4 * (y1 - y0), trips.offsets)
    box = (float(x0), float(y0), float(x1), float(y1))
    question = Question.of(inside, "town", tmp_path, box, grid=4, roads=tmp_path / "streets")
    for name, epsilon in (("map-alone", None), ("plain-routing", None), ("single-report+map", 1.0)):
        values = made(question, name, epsilon)
        assert values["street_share"] > 0.9, name


@pytest.mark.slow
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
