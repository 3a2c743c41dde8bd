from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace_lab.compare import Question, RunKey, contestant
from ldptrace_lab.compare.runs import bench, run
from road_kit import lattice_roads

PAPER = RunKey(contestant("paper", has_map=False), 1.0, 1)


@pytest.mark.slow
@pytest.mark.counted
def test_a_kept_run_is_not_repeated(
    question: Question, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(question, PAPER, tmp_path / "runs")
    assert 0 <= first.values["density_error"] <= math.log(2)
    monkeypatch.setattr("ldptrace_lab.compare.runs.bench", lambda _: pytest.fail("it was kept"))
    again = run(question, PAPER, tmp_path / "runs")
    known = {name: value for name, value in first.values.items() if not math.isnan(value)}
    assert {name: again.values[name] for name in known} == known
    assert again.seconds == first.seconds


def test_other_runs_have_other_names(question: Question, trips: Trajectories, tmp_path: Path) -> None:
    moved = Question.of(replace(trips, x=trips.x[::-1].copy()), "square", tmp_path, question.bounds, grid=4)
    names = {
        PAPER.name(question),
        replace(PAPER, seed=2).name(question),
        replace(PAPER, epsilon=2.0).name(question),
        PAPER.name(replace(question, grid=5)),
        PAPER.name(moved),
    }
    assert len(names) == 5
    assert PAPER.name(replace(question, title="another name of the same")) == PAPER.name(question)


@pytest.mark.slow
@pytest.mark.counted
def test_a_fresh_sample_is_better_than_a_method(question: Question) -> None:
    fresh = bench(question).run(RunKey(contestant("fresh-sample", has_map=False), None, 1))
    again = bench(question).run(RunKey(contestant("fresh-sample", has_map=False), None, 2))
    assert again.values["trip_error"] != fresh.values["trip_error"]
    assert "fine_density_error_24" not in again.values
    noisy = bench(question).run(PAPER)
    assert fresh.values["density_error"] < noisy.values["density_error"]
    assert fresh.values["fine_density_error_24"] < noisy.values["fine_density_error_24"]


@pytest.mark.slow
@pytest.mark.counted
def test_streams_are_compared_where_there_is_a_tick(question: Question) -> None:
    timed = bench(replace(question, tick=10.0))
    made = timed.run(RunKey(contestant("retrasyn", has_map=False), 1.0, 1)).values
    fresh = timed.run(RunKey(contestant("fresh-sample", has_map=False), None, 1)).values
    ours = timed.run(RunKey(contestant("standing", has_map=False), 1.0, 1)).values
    stream = [name for name in made if name.startswith("stream_")]
    assert all(name in ours for name in stream)
    assert stream
    assert all(name in fresh for name in stream)
    assert not any(name.startswith("stream_") for name in timed.run(PAPER).values)


@pytest.mark.slow
@pytest.mark.counted
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
        values = bench(question).run(RunKey(contestant(name, has_map=True), epsilon, 1)).values
        assert values["street_share"] > 0.9, name
