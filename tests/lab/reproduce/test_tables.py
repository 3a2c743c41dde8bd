from __future__ import annotations

import io
import math
from dataclasses import replace

import pytest
from rich.console import Console

from ldptrace.methods import Method, Synthesis
from ldptrace_lab.reproduce.bench import PUBLISHED, Row
from ldptrace_lab.reproduce.experiments import EXPERIMENTS
from ldptrace_lab.reproduce.tables import LOOKS, colour, side_by_side
from ldptrace_lab.tables import Entry, terminal

UTILITY = EXPERIMENTS["utility"]


def row(method: str, values: list[float], metric: str = "trip_error", x: float = 1.0) -> Row:
    return Row.measured("Porto", method, x, metric, values)


def test_the_best_private_method_is_marked_and_yardsticks_are_not() -> None:
    rows = [row("single-report", [0.2]), row("paper", [0.3]), row("real data", [0.0])]
    rows.append(Row(PUBLISHED, "Porto", "LDPTrace", 1.0, "trip_error", 0.1))
    table = side_by_side(UTILITY, rows)
    assert table.columns == ("one report", "LDPTrace, padded", "real data", "LDPTrace, published")
    assert [entry.best for entry in table.lines[0].entries] == [True, False, False, False]


def test_larger_is_better_where_the_metric_says_so() -> None:
    table = side_by_side(UTILITY, [row("paper", [0.2], "kendall_tau"), row("ngram", [0.3], "kendall_tau")])
    assert [entry.best for entry in table.lines[0].entries] == [False, True]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([0.5], "0.5000"),
        ([0.4, 0.6], "0.5000 ±0.1"),
        ([0.1, 0.1, 0.1], "0.1000 ±0"),
        ([20.0, 60.0], "40.0000 ±28"),
        ([0.00012], "1.2e-04"),
        ([12_345.6], "12,346"),
        ([math.nan], "undefined"),
    ],
)
def test_values_as_text(values: list[float], text: str) -> None:
    assert side_by_side(UTILITY, [row("paper", values)]).lines[0].entries == (Entry(text),)


def test_lines_are_in_the_order_of_the_experiment_and_gaps_are_empty() -> None:
    rows = [
        row("paper", [0.1], "pattern_f1"),
        row("paper", [0.2], x=2.0),
        row("paper", [0.1]),
        row("ngram", [0.1], "pattern_f1"),
    ]
    table = side_by_side(UTILITY, rows)
    assert [(metric, place) for (_, place, metric), _, _ in table.lines] == [
        ("Trip error ↓", "1"),
        ("Trip error ↓", "2"),
        ("Pattern F1 ↑", "1"),
    ]
    assert table.lines[0].entries[1].text == ""


def test_three_equal_lines_of_neighbouring_places_are_one() -> None:
    rows = [
        row("paper", [value], x=x)
        for x, value in ((2.0, 1.0), (3.0, 1.0), (4.0, 1.0), (5.0, 0.5), (6.0, 0.5))
    ]
    assert [line.labels[1] for line in side_by_side(UTILITY, rows).lines] == ["2 to 4", "5", "6"]


def test_the_axis_is_a_column_only_where_there_is_one() -> None:
    rows = [row("single-report", [0.2]), row("paper", [0.3])]
    console = Console(width=120, file=io.StringIO())
    for experiment in (UTILITY, replace(UTILITY, axis="")):
        console.print(terminal(side_by_side(experiment, rows)))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert printed.count("epsilon") == 1
    assert printed.count("0.2000*") == 2


def test_methods_of_other_packages_have_their_own_colours() -> None:
    assert colour("somebody's") == colour("somebody's") not in {own for _, own in LOOKS.values()}


@pytest.mark.parametrize(("leaks", "best"), [(None, True), ("needs a trusted curator", False)])
def test_a_method_of_another_package_competes_if_it_is_local(
    leaks: str | None, best: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = Method("theirs", "somebody's", lambda job: Synthesis(), leaks=leaks)
    monkeypatch.setattr("ldptrace_lab.reproduce.tables.method_of", lambda name: theirs)
    rows = [row("single-report", [0.2]), row("paper", [0.3]), row("theirs", [0.1])]
    assert [entry.best for entry in side_by_side(UTILITY, rows).lines[0].entries] == [not best, False, best]
