from __future__ import annotations

import csv
import io
import json

import pytest

from evaluation_data import good_and_bad
from ldptrace.evaluation import Scorecard
from ldptrace.evaluation.texts import json_text


@pytest.fixture(scope="module")
def small_card() -> Scorecard:
    return good_and_bad()


def test_csv_says_the_same(small_card: Scorecard) -> None:
    rows = list(csv.DictReader(io.StringIO(small_card.to_csv())))
    assert [float(row["value"]) for row in rows if row["metric"] == "trip_error"] == pytest.approx(
        [item.values["trip_error"].mean for item in small_card.sets]
    )


def test_latex_marks_the_best_and_shows_spreads(small_card: Scorecard) -> None:
    text = small_card.to_tex()
    assert text.count(r" \\") == 1 + len(small_card.document()["metrics"])
    best = min(item.values["density_error"].mean for item in small_card.sets)
    assert rf"\textbf{{{best:.4f}}}" in text
    assert r"{\scriptsize$\pm$" in text
    assert text.count("{") == text.count("}")


def test_a_list_of_numbers_takes_one_line_and_what_is_undefined_is_null() -> None:
    document = {"values": [1.5, -2e-9, float("nan")], "names": ["a", "b"], "far": float("inf")}
    text = json_text(document)
    assert json.loads(text) == {"values": [1.5, -2e-9, None], "names": ["a", "b"], "far": None}
    assert "[1.5, -2e-09, null]" in text
