from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from ldptrace.evaluation.metrics import METRICS
from ldptrace.evaluation.values import ALL_METRICS
from ldptrace_lab.compare.runs import Comparison, Question, Row, compare, contestant
from ldptrace_lab.compare.tables import PARTS, csv_text, latex, markdown, page, tables, write
from ldptrace_lab.tables import terminal


@pytest.fixture
def found(question: Question) -> Comparison:
    paper, ada = (contestant(name, has_map=False) for name in ("paper", "adatrace"))
    fresh = contestant("fresh-sample", has_map=False)
    density, tau, fine = (
        METRICS["density_error"],
        METRICS["kendall_tau"],
        ALL_METRICS["fine_density_error_24"],
    )
    rows = [
        Row("square", paper, 1.0, density, 0.02, 0.001, 2),
        Row("square", ada, 1.0, density, 0.005, 0.0005, 2),
        Row("square", paper, 1.0, tau, 0.7, None, 1),
        Row("square", ada, 1.0, tau, 0.9, None, 1),
        Row("square", fresh, None, density, 0.0001, None, 1),
        Row("square", paper, 1.0, fine, 0.1, None, 1),
    ]
    return Comparison((question,), (paper, ada, fresh), (1.0,), 2, tuple(rows), {"paper": 1.0})


def test_one_table_for_each_family_of_metrics(found: Comparison) -> None:
    first, second = tables(found)
    assert [first.title, second.title] == [f"square: {PARTS[part]}" for part in ("paper", "street")]
    assert first.columns == ("density ↓", "Kendall ↑")
    assert [line.labels for line in first.lines] == [
        ("paper", "1"),
        ("adatrace †", "1"),
        ("fresh-sample", ""),
    ]
    assert [[entry.best for entry in line.entries] for line in first.lines] == [
        [False, False],
        [True, True],
        [False, False],
    ]
    assert first.lines[2].entries[1].text == "–"
    # One method alone is not the best of any.
    assert not second.lines[0].entries[0].best


def test_a_table_in_which_no_method_has_a_value_is_omitted(found: Comparison) -> None:
    hours = Row("square", found.rows[4].contestant, None, ALL_METRICS["departure_error"], 0.0001, None, 1)
    assert len(tables(replace(found, rows=(*found.rows, hours)))) == 2


def test_metrics_of_planners_and_of_difftraj_have_tables(found: Comparison) -> None:
    own = [
        Row("square", found.rows[0].contestant, 1.0, ALL_METRICS[name], 0.5, None, 1)
        for name in ("common_part_of_commuters", "difftraj_trip_error")
    ]
    made = tables(replace(found, rows=(*found.rows, *own)))
    parts = ("paper", "street", "mobility", "difftraj")
    assert [table.title for table in made] == [f"square: {PARTS[part]}" for part in parts]
    assert "### square: mobility metrics" in markdown(replace(found, rows=(*found.rows, *own)))


def test_markdown(found: Comparison) -> None:
    text = markdown(found)
    assert "### square: the paper's nine metrics" in text
    assert "| adatrace † | 1 | **.0050 ±.0005** | **.9000** |" in text
    assert "| paper | 1 |" in text
    assert text.count("† adatrace: needs a trusted curator") == 1


def test_latex(found: Comparison) -> None:
    text = latex(found)
    assert r"adatrace $\dagger$ & 1 & \textbf{.0050} {\scriptsize$\pm$.0005} & \textbf{.9000} \\" in text
    assert "fresh-sample &  & .0001 & --" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 2


def test_csv_has_every_value_and_whom_one_trusts(found: Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(found))))
    assert len(rows) == 6
    assert rows[1]["method"] == "adatrace"
    assert float(rows[1]["mean"]) == 0.005
    assert "trusted curator" in rows[1]["trust"]
    assert rows[4]["epsilon"] == ""


def test_terminal(found: Comparison) -> None:
    console = Console(width=120, file=io.StringIO())
    console.print(terminal(tables(found)[0]))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert ".0050 ±.0005*" in text


@pytest.mark.slow
def test_all_faces_are_written(question: Question, tmp_path: Path) -> None:
    found = compare([question], [contestant("adatrace", has_map=False)], (1.0,), 1, tmp_path)
    assert [path.name for path in write(found, tmp_path)] == [
        "results.csv",
        "results.md",
        "results.tex",
        "index.html",
    ]
    text = (tmp_path / "index.html").read_text()
    assert "needs a trusted curator" in text
    assert "square: the paper&#39;s nine metrics" in text
    assert "http" not in text
    assert "Not every run" not in text
    assert "adatrace on square: &lt;no&gt;" in page(replace(found, failures=("adatrace on square: <no>",)))


@pytest.mark.slow
def test_the_page_fits_a_phone_and_cuts_no_column(browser: object, found: Comparison) -> None:
    long = tuple(replace(question, title="oldenburg_brinkhoff_100k_seed1") for question in found.questions)
    rows = tuple(
        replace(row, data=long[0].title, metric=metric)
        for row in found.rows[:2]
        for metric in METRICS.values()
    )
    tab = browser.new_page(viewport={"width": 390, "height": 800})  # type: ignore[attr-defined]
    tab.set_content(page(replace(found, questions=long, rows=rows)))
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    rights = "[...document.querySelectorAll('.results td')].map((one) => one.getBoundingClientRect().right)"
    assert 0 < tab.evaluate(f"Math.max(...{rights})") <= 390
    tab.close()
