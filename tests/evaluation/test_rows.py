from __future__ import annotations

import csv
import io
import sys

import pytest

from evaluation_data import good_and_bad
from ldptrace.errors import InputError
from ldptrace.evaluation import Scorecard


@pytest.fixture(scope="module")
def card() -> Scorecard:
    return good_and_bad()


def test_a_frame_has_a_row_for_each_metric_of_each_set(card: Scorecard) -> None:
    frame = card.to_frame()
    assert len(frame) == len(card.measured) * len(card.sets)
    first = frame[(frame["set"] == card.sets[0].name) & (frame["metric"] == "density_error")]
    assert first["value"].item() == card["density_error"] == card.sets[0].values["density_error"].mean


def test_csv_says_the_same(card: Scorecard) -> None:
    rows = list(csv.DictReader(io.StringIO(card.to_csv())))
    assert [float(row["value"]) for row in rows if row["metric"] == "trip_error"] == pytest.approx(
        [item.values["trip_error"].mean for item in card.sets]
    )


def test_latex_marks_the_best_and_shows_spreads(card: Scorecard) -> None:
    text = card.to_tex()
    assert text.count(r" \\") == 1 + len(card.document()["metrics"])
    best = min(item.values["density_error"].mean for item in card.sets)
    assert rf"\textbf{{{best:.4f}}}" in text
    assert r"{\scriptsize$\pm$" in text
    assert text.count("{") == text.count("}")


def test_without_pandas_the_extra_is_named(card: Scorecard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"pip install 'ldptrace\[geo\]'"):
        card.to_frame()


def test_an_unknown_metric_names_those_there_are(card: Scorecard) -> None:
    with pytest.raises(KeyError, match=r"no metric 'speed'; there are density_error, query_error"):
        card["speed"]
