from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from ldptrace_lab.reproduce.bench import PUBLISHED, Row
from ldptrace_lab.reproduce.experiments import EXPERIMENTS
from ldptrace_lab.reproduce.figures import draw, legend
from ldptrace_lab.reproduce.tables import colour


@pytest.mark.slow
def test_a_logarithmic_axis_has_marks_and_no_bars() -> None:
    rows = [
        Row.measured("Porto", method, 0.0, "total", [value])
        for method, value in (("single-report", 0.01), ("ngram", 20.0))
    ]
    experiment = EXPERIMENTS["efficiency"]
    assert experiment.log
    # A bar is a shape of its own; a mark is defined once and used.
    marks = draw(experiment, rows)
    assert "<use" in marks.split('id="axes_1"')[1].split("legend")[0]
    bars = draw(replace(experiment, log=False), rows)
    assert bars.count('id="patch_') > marks.count('id="patch_')
    assert [entry["label"] for entry in legend(rows)] == ["one report", "NGRAM"]


def lines(*methods: str) -> list[Row]:
    return [
        Row.measured("Porto", method, x, "query_error", [0.1, 0.2]) for method in methods for x in (4.0, 6.0)
    ]


@pytest.mark.slow
def test_every_series_has_a_line_with_its_colour() -> None:
    rows = [*lines("paper", "ngram"), Row(PUBLISHED, "Porto", "LDPTrace", 6.0, "query_error", 0.1)]
    text = draw(EXPERIMENTS["granularity"], rows)
    root = ET.fromstring(text)
    axes = next(item for item in root.iter() if item.get("id") == "axes_1")
    for name in ("paper", "ngram"):
        assert colour(name) in ET.tostring(axes, encoding="unicode")
    assert [(entry["label"], entry["printed"]) for entry in legend(rows)] == [
        ("LDPTrace, padded", False),
        ("LDPTrace, published", True),
        ("NGRAM", False),
    ]


@pytest.mark.slow
def test_a_set_without_a_title_has_lines_too() -> None:
    named = lines("paper")
    text = draw(EXPERIMENTS["granularity"], [replace(row, data="") for row in named])
    assert text.count('id="text_') == draw(EXPERIMENTS["granularity"], named).count('id="text_')


@pytest.mark.slow
def test_the_same_rows_give_the_same_picture() -> None:
    experiment = EXPERIMENTS["granularity"]
    assert draw(experiment, lines("paper")) == draw(experiment, lines("paper"))


@pytest.mark.slow
def test_a_panel_for_each_set_and_metric() -> None:
    rows = [
        Row.measured(data, "paper", 1.0, metric, [0.5])
        for data in ("Porto", "Oldenburg")
        for metric in ("query_error", "trip_error", "pattern_f1")
    ]
    text = draw(EXPERIMENTS["utility"], rows)
    assert "axes_6" in text
    assert "axes_7" not in text
    assert "Porto: Pattern F1 ↑" in text
