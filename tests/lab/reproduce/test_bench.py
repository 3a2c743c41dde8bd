from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from evaluation_data import drifting_walks
from ldptrace.core.paths import CellPaths
from ldptrace.errors import InputError
from ldptrace.evaluation.attacks import KAPPAS
from ldptrace.evaluation.evaluator import FRACTIONS
from ldptrace.evaluation.metrics import METRICS
from ldptrace.evaluation.texts import plain
from ldptrace.methods import METHODS
from ldptrace.simulation.answers import answers
from ldptrace_lab.reproduce.bench import (
    CENTRAL,
    CENTRAL_LAPLACE,
    FLOOR,
    PUBLISHED,
    WALKS,
    Bench,
    Point,
    Row,
    noisy_statistics,
)
from ldptrace_lab.reproduce.data import own

DATA = own(drifting_walks(200, 1), Path("walks.csv"), bounds=(0, 0, 10, 10))
POINT = Point(DATA, "paper", "metrics", {}, 4)


def measured(**changes: object) -> dict[str, float]:
    return Bench().measure(replace(POINT, **changes))  # type: ignore[arg-type]


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


def test_a_point_gives_the_same_values_in_every_bench() -> None:
    assert measured() == measured()
    assert measured(repeat=1) != measured()
    assert measured(seed=2) != measured()


@pytest.mark.slow
def test_what_is_kept_does_not_change_what_is_measured() -> None:
    bench = Bench()
    # More yardsticks than are kept at once, and the last repeat first, as when a run goes on where it stopped.
    points = [replace(POINT, grid=grid, repeat=repeat) for repeat in (1, 0) for grid in range(2, 10)]
    found = [bench.measure(point) for point in points]
    assert found[-1] == measured(grid=9)
    assert len(bench._kept) <= 12


@pytest.mark.parametrize("name", ["density_error", "trip_error", "pattern_error"])
def test_the_yardsticks_are_at_the_two_ends(name: str) -> None:
    floor, walks = (measured(method=method)[name] for method in (FLOOR, WALKS))
    assert floor < walks


def test_central_noise_is_a_method_of_the_bench_alone() -> None:
    assert measured(method=CENTRAL, epsilon=10.0)["density_error"] < measured(method=WALKS)["density_error"]


def test_places_are_needed_where_they_are() -> None:
    with pytest.raises(InputError, match="has no table of places"):
        measured(method="ngram-full")


def test_noise_is_as_large_as_it_says(paths: CellPaths, rng: np.random.Generator) -> None:
    """Squares of Laplace scores have mean 1 and variance 5; six standard errors are a false alarm below 1e-6."""
    scores = []
    for _ in range(20):
        estimates = noisy_statistics(paths, 1.0, rng)
        for estimate in estimates.values():
            if estimate.question.capacity == 1 and estimate.question.name != "turns":
                rows = answers(estimate.question, paths, np.arange(len(paths)), rng)
                truth = np.bincount(rows[rows >= 0], minlength=estimate.question.domain) / len(paths)
                scores.append((estimate.frequencies - truth) / estimate.std_errors)
    squares = np.concatenate(scores) ** 2
    assert abs(squares.mean() - 1) < 6 * math.sqrt(5 / len(squares))


def test_budgets_add_up(paths: CellPaths, rng: np.random.Generator) -> None:
    """A standard error of sqrt(2) * sensitivity / budget / users tells the budget of each question."""
    estimates = noisy_statistics(paths, 0.7, rng)
    budgets = [
        math.sqrt(2) * 2 * estimate.question.capacity / (estimate.std_errors[0] * len(paths))
        for estimate in estimates.values()
    ]
    assert sum(budgets) == pytest.approx(0.7)


def test_it_is_marked_and_kept_apart() -> None:
    assert "central" in str(CENTRAL_LAPLACE.leaks)
    assert CENTRAL_LAPLACE.name not in METHODS


@pytest.mark.parametrize(
    "change",
    [
        {"data": replace(DATA, key="x")},
        {"method": "x"},
        {"epsilon": 2.0},
        {"grid": 7},
        {"measure": "x"},
        {"repeat": 1},
        {"seed": 2},
        {"options": {"quantile": 0.5}},
        {"users": 9},
    ],
)
def test_every_setting_is_in_the_key(change: dict[str, object]) -> None:
    assert replace(POINT, **change).key != POINT.key  # type: ignore[arg-type]


def test_plain_rows_have_null_for_what_is_undefined() -> None:
    rows = [Row(PUBLISHED, "a", "LDPTrace", 1.0, "x", 2.0), Row.measured("a", "paper", 2.0, "x", [math.nan])]
    known, undefined = json.loads(json.dumps(plain([asdict(row) for row in rows]), allow_nan=False))
    assert Row(**known) == rows[0]
    assert undefined["mean"] is None
