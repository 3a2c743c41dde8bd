from __future__ import annotations

import csv
import io
import json
import re
from functools import cache
from pathlib import Path

import matplotlib
import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from evaluation_data import good_and_bad
from ldptrace.evaluation.scorecard import Scorecard
from ldptrace.evaluation.texts import json_text, tex_escaped, tex_text


@pytest.fixture(scope="module")
def small_card() -> Scorecard:
    return good_and_bad()


def test_csv_says_the_same(small_card: Scorecard) -> None:
    rows = list(csv.DictReader(io.StringIO(small_card.to_csv())))
    assert [float(row["value"]) for row in rows if row["metric"] == "trip_error"] == pytest.approx(
        [item["metrics"]["trip_error"]["value"] for item in small_card.sets]
    )


def test_latex_marks_the_best_and_shows_spreads(small_card: Scorecard) -> None:
    text = small_card.to_tex()
    assert text.count(r" \\") == 1 + len(small_card.document()["metrics"])
    best = min(item["metrics"]["density_error"]["value"] for item in small_card.sets)
    assert rf"\textbf{{{best:.4f}}}" in text
    assert r"{\scriptsize$\pm$" in text
    assert text.count("{") == text.count("}")


def test_a_list_of_numbers_takes_one_line_and_what_is_undefined_is_null() -> None:
    document = {"values": [1.5, -2e-9, float("nan")], "names": ["a", "b"], "far": float("inf")}
    text = json_text(document)
    assert json.loads(text) == {"values": [1.5, -2e-9, None], "names": ["a", "b"], "far": None}
    assert "[1.5, -2e-09, null]" in text


def test_latex_tables_fit_a_page(small_card: Scorecard) -> None:
    """Measured in the font of LaTeX, at the sizes that the tables set."""
    document = small_card.document()
    one = document["sets"][0]
    spread = {name: entry | {"value": 123.4567, "std": 0.0123} for name, entry in one["metrics"].items()}
    names = (
        "single-report_on_streets_epsilon_1",
        "paper",
        "a.parquet",
        "b",
        "adatrace (trusted curator)",
        "c",
    )
    text = tex_text(document | {"sets": [one | {"name": name, "metrics": spread} for name in names]})
    tables = text.split(r"\begin{tabular}")[1:]
    assert len(tables) > 1
    for table in tables:
        rows = [row.removesuffix(r" \\").split(" & ") for row in table.splitlines() if " & " in row]
        assert len(rows) <= 43
        assert sum(max(map(points, column)) for column in zip(*rows, strict=True)) + 8 * len(rows[0]) <= 345
    for name in names:
        assert sum(tex_escaped(name.split("_")[0].split("-")[0].split()[0]) in table for table in tables) >= 1


@cache
def points(cell: str) -> float:
    """The width of a cell in points: Computer Modern at 9 points, and at 7 in script size."""
    stacked = re.fullmatch(r"\\shortstack\[.\]\{(.*)\}", cell)
    if stacked:
        return max(map(points, stacked[1].split(r"\\")))
    script = "".join(re.findall(r"\{\\scriptsize(.*)\}", cell))
    rest = re.sub(r"\{\\scriptsize.*\}", "", cell)
    symbol, marks = re.compile(r"\\(?:times|uparrow|downarrow|pm)"), re.compile(r"\\textbf|[\\{}$]")
    sizes = ((marks.sub("", symbol.sub("+", rest)), 9), (marks.sub("", symbol.sub("+", script)), 7))
    font = FontProperties(fname=str(Path(matplotlib.get_data_path(), "fonts", "ttf", "cmr10.ttf")))
    # TeX's points are a little smaller.
    return sum(
        TextPath((0, 0), said, size=size, prop=font).get_extents().width * 1.004
        for said, size in sizes
        if said
    )
