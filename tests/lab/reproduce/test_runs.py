from __future__ import annotations

import csv
import json
import pydoc
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.metrics import METRICS
from ldptrace.methods import Job, Method, Synthesis
from ldptrace_lab.reproduce.bench import MEASURED, PUBLISHED
from ldptrace_lab.reproduce.data import own
from ldptrace_lab.reproduce.experiments import EXPERIMENTS, Setup
from ldptrace_lab.reproduce.figures import legend
from ldptrace_lab.reproduce.runs import reproduce, write_page


@pytest.fixture(scope="module")
def small(setup: Setup) -> Setup:
    """One set, where one is enough."""
    return replace(setup, sets=setup.sets[:1])


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_writes_its_files(name: str, setup: Setup, small: Setup, folder: Path) -> None:
    """Two sets and two repeats where another test reads them again, otherwise one."""
    chosen = setup if name in ("query-size", "unmodified-ngram") else replace(small, repeats=1)
    report = reproduce(name, chosen, folder)
    with (folder / f"{name}.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    document = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    assert len(table) == len(document["rows"]) == len(report.rows) > 0
    assert {row["source"] for row in table} == {MEASURED, PUBLISHED}
    assert {row.metric for row in report.rows} == set(report.experiment.metrics)
    assert all(row.repeats == chosen.repeats for row in report.rows if row.source == MEASURED)
    ET.parse(folder / f"{name}.svg")


@pytest.mark.slow
def test_nothing_is_measured_twice(small: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = reproduce("lambda", small, tmp_path)

    def never(*_: object) -> None:
        raise AssertionError("measured again")

    monkeypatch.setattr("ldptrace_lab.reproduce.bench.Bench.measure", never)
    assert reproduce("lambda", small, tmp_path).rows == first.rows


@pytest.mark.slow
def test_a_run_that_stops_goes_on_where_it_stopped(
    small: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ldptrace_lab.reproduce.bench import Bench

    measured: list[str] = []
    original = Bench.measure

    def counted(bench: Bench, cell: object) -> dict[str, float]:
        if len(measured) == 5:
            raise KeyboardInterrupt
        measured.append(cell.key)  # type: ignore[attr-defined]
        return original(bench, cell)  # type: ignore[arg-type]

    monkeypatch.setattr(Bench, "measure", counted)
    with pytest.raises(KeyboardInterrupt):
        reproduce("attacks", small, tmp_path)
    monkeypatch.setattr(Bench, "measure", original)
    seen: list[tuple[int, int]] = []
    reproduce("attacks", small, tmp_path, lambda _, done, total: seen.append((done, total)))
    assert seen[0] == (5, 10)
    assert seen[-1] == (10, 10)


@pytest.mark.slow
def test_same_seed_same_values(small: Setup, folder: Path, tmp_path: Path) -> None:
    once = replace(small, repeats=1)
    values = [[row.mean for row in reproduce("query-size", once, place).rows] for place in (folder, tmp_path)]
    np.testing.assert_array_equal(values[0], values[1])


@pytest.mark.slow
def test_real_data_are_hard_to_beat(setup: Setup, folder: Path) -> None:
    rows = reproduce("unmodified-ngram", setup, folder).rows
    floor = {row.metric: row.mean for row in rows if row.method == "real data"}
    ngram = {row.metric: row.mean for row in rows if row.method == "ngram" and row.source == MEASURED}
    assert sum(METRICS[name].better(floor[name], ngram[name]) for name in METRICS) >= 8


@pytest.mark.slow
def test_own_data_with_bounds(setup: Setup, tmp_path: Path, rng: np.random.Generator) -> None:
    walks = rng.random((80, 6, 2)).cumsum(axis=1)
    real = Trajectories.from_lists([[(float(x), float(y)) for x, y in walk] for walk in walks])
    mine = own(real, Path("mine.csv"), bounds=(0, 0, 6, 6), grid=3)
    report = reproduce("query-size", Setup((mine,), setup.scale, 1, 1), tmp_path)
    assert {row.source for row in report.rows} == {MEASURED}
    assert own(real, Path("my_porto_trips.parquet")).beside == "porto"
    assert own(real, Path("my_porto_trips.parquet"), beside="none").beside is None
    assert own(real, Path("mine.csv"), bounds=(0, 0, 7, 7), grid=3).key != mine.key


@pytest.fixture
def theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method `theirs` that another package gives; it refuses 2 x 2 cells."""

    def run(job: Job) -> Synthesis:
        if job.grid.n == 2:
            raise InputError("theirs needs more than 2 cells")
        return Synthesis(trajectories=job.real)

    recipe = Method("theirs", "somebody's", run, leaks="it publishes everything", has_model=False)
    for module in ("bench.method", "tables.method_of"):
        place = f"ldptrace_lab.reproduce.{module}"
        known = pydoc.locate(place)
        monkeypatch.setattr(place, lambda name, known=known: recipe if name == "theirs" else known(name))
    monkeypatch.setattr("ldptrace_lab.kept.method", lambda name: recipe)


@pytest.mark.slow
def test_a_method_of_another_package_stands_beside_ours(small: Setup, tmp_path: Path, theirs: None) -> None:
    setup = replace(small, others=("theirs",), repeats=1)
    report = reproduce("granularity", setup, tmp_path)
    places = [row.x for row in report.rows if row.method == "theirs"]
    assert places == [4.0]
    assert report.remarks[-2:] == [
        "theirs is a method of another package: somebody's. It is not eps-LDP: it publishes everything.",
        f"theirs is missing on {small.sets[0].title}: theirs needs more than 2 cells",
    ]
    assert "theirs" in (tmp_path / "granularity.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["utility", "efficiency", "query-size", "runtime", "scalability", "attacks"])
def test_methods_of_other_packages_are_wherever_methods_are_compared(name: str, small: Setup) -> None:
    points = EXPERIMENTS[name].points(replace(small, others=("theirs",)))
    assert any(point.method == "theirs" for point in points)


def test_unknown_experiment_is_refused(setup: Setup, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="utility"):
        reproduce("table 3", setup, tmp_path)


@pytest.mark.slow
def test_page_is_complete_in_itself(setup: Setup, folder: Path, tmp_path: Path) -> None:
    reports = [reproduce(name, setup, folder) for name in ("lambda", "attacks")]
    write_page(reports, tmp_path / "index.html")
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'id="lambda"' in text
    assert text.count("<svg") == 2
    for outside in ("<script", '<link rel="stylesheet', "src=", "url(http", "@import"):
        assert outside not in text


@pytest.mark.slow
def test_the_page_of_one_experiment_is_named_after_it(setup: Setup, folder: Path, tmp_path: Path) -> None:
    report = reproduce("lambda", setup, folder)
    write_page([report], tmp_path / "lambda.html")
    text = (tmp_path / "lambda.html").read_text(encoding="utf-8")
    assert f"<h1>{report.experiment.title}, measured again</h1>" in text.replace("&#39;", "'")
    assert "<nav>" not in text
    assert text.count('<ul class="legend">') == 1
    for entry in legend(report.rows):
        assert entry["label"] in text
