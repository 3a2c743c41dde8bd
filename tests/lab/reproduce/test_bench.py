from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evaluation_data import drifting_walks
from ldptrace.errors import InputError
from ldptrace.evaluation.attacks import KAPPAS
from ldptrace.evaluation.evaluator import FRACTIONS
from ldptrace.evaluation.metrics import METRICS
from ldptrace_lab.reproduce.bench import FLOOR, WALKS, Bench
from ldptrace_lab.reproduce.data import own
from ldptrace_lab.reproduce.results import Cell

DATA = own(drifting_walks(200, 1), Path("walks.csv"), bounds=(0, 0, 10, 10))
CELL = Cell(DATA.key, "paper", 1.0, 4, "metrics", 0, 1)


def measured(**changes: object) -> dict[str, float]:
    return Bench({DATA.key: DATA}).measure(replace(CELL, **changes))  # type: ignore[arg-type]


@pytest.mark.slow
def test_every_measure_has_its_names() -> None:
    assert set(measured()) == set(METRICS)
    assert list(measured(measure="queries")) == [f"{fraction:.4f}" for fraction in FRACTIONS]
    assert set(measured(measure="attacks")) == {
        f"{attack}@{kappa}" for attack in ("reidentification", "outlier") for kappa in KAPPAS
    }
    seconds = measured(measure="seconds", users=50)
    assert seconds["trajectories"] == 50
    assert seconds["total"] >= sum(
        value for name, value in seconds.items() if name not in {"total", "trajectories"}
    )


def test_a_cell_gives_the_same_values_in_every_bench() -> None:
    assert measured() == measured()
    assert measured(repeat=1) != measured()
    assert measured(seed=2) != measured()


@pytest.mark.slow
@pytest.mark.counted
def test_what_is_kept_does_not_change_what_is_measured() -> None:
    bench = Bench({DATA.key: DATA})
    # More yardsticks than are kept at once, and the last repeat first, as when a run goes on where it stopped.
    cells = [replace(CELL, grid=grid, repeat=repeat) for repeat in (1, 0) for grid in range(2, 10)]
    found = [bench.measure(cell) for cell in cells]
    assert found[-1] == measured(grid=9)
    assert len(bench._kept) <= 12


@pytest.mark.parametrize("name", ["density_error", "trip_error", "pattern_error"])
def test_the_yardsticks_are_at_the_two_ends(name: str) -> None:
    floor, walks = (measured(method=method)[name] for method in (FLOOR, WALKS))
    assert floor < walks


def test_central_noise_is_a_method_of_the_bench_alone() -> None:
    from ldptrace_lab.reproduce.central import NAME

    assert measured(method=NAME, epsilon=10.0)["density_error"] < measured(method=WALKS)["density_error"]


def test_places_are_needed_where_they_are() -> None:
    with pytest.raises(InputError, match="has no table of places"):
        measured(method="ngram-full")
