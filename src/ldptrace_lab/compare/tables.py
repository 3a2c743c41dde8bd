"""The rows of a comparison as tables: a line for each method and epsilon, a column for each metric."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from markupsafe import Markup

from ldptrace import __version__
from ldptrace.core.atomic import atomic_path
from ldptrace.evaluation.metrics import METRICS
from ldptrace.evaluation.scorecard import HEADINGS
from ldptrace.evaluation.texts import TexCell, TexColumn, tex_tables
from ldptrace.pages.page import asset, template
from ldptrace.protocol.words import CENTRAL
from ldptrace_lab.compare.runs import Comparison, Row
from ldptrace_lab.tables import Entry, Line, Table
from ldptrace_lab.tables import markdown as markdown_lines

# Columns of a table by the level of their metrics.
PARTS = {"paper": "the paper's nine metrics"} | {
    level: HEADINGS[level] for level in ("street", "time", "mobility", "difftraj", "stream")
}
SHORT = {
    "density_error": "density",
    "query_error": "query",
    "hotspot_query_error": "hotspot",
    "kendall_tau": "Kendall",
    "trip_error": "trip",
    "length_error": "length",
    "diameter_error": "diameter",
    "pattern_f1": "F1",
    "pattern_error": "pattern",
}
# Behind the name of a method that is not local for a whole trip.
MARK = "†"


def tables(comparison: Comparison) -> list[Table]:
    """Return all tables, data set by data set; those without a value of a method are omitted."""
    made = [_table(comparison, question.title, part) for question in comparison.questions for part in PARTS]
    return [table for table in made if not all(line.aside for line in table.lines)]


def _table(comparison: Comparison, data: str, part: str) -> Table:
    rows = [
        row
        for row in comparison.rows
        if row.data == data and part == ("paper" if row.metric.name in METRICS else row.metric.level)
    ]
    metrics = list({row.metric.name: row.metric for row in rows}.values())
    by_place = {(row.contestant, row.epsilon, row.metric.name): row for row in rows}
    lines = []
    for epsilon in (*comparison.epsilons, None):
        for who in comparison.contestants:
            own = [by_place.get((who, epsilon, metric.name)) for metric in metrics]
            if not any(own):
                continue
            entries = []
            for row, metric in zip(own, metrics, strict=True):
                rivals = [
                    one.mean for one in rows if (one.epsilon, one.metric.name) == (epsilon, metric.name)
                ]
                top = (min if metric.goal == "min" else max)(rivals, default=None)
                competes = row is not None and epsilon is not None and len(rivals) > 1
                entries.append(Entry(_text(row), row is not None and competes and row.mean == top))
            labels = (
                who.name if who.local else f"{who.name} {MARK}",
                "" if epsilon is None else f"{epsilon:g}",
            )
            lines.append(Line(labels, tuple(entries), who.kind == "reference"))
    columns = (
        f"{SHORT.get(metric.name, metric.title)} {'↓' if metric.goal == 'min' else '↑'}" for metric in metrics
    )
    return Table(f"{data}: {PARTS[part]}", ("method", "epsilon"), tuple(columns), tuple(lines))


def _text(row: Row | None) -> str:
    """Return mean and spread, as in ".0123 ±.0010"."""
    if row is None:
        return "–"
    return _short(row.mean) + ("" if row.std is None else f" ±{_short(row.std)}")


def _short(value: float) -> str:
    """Return the number with four decimals, without the zero in front."""
    text = f"{value:.4f}" if abs(value) < 10 else f"{value:.1f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def trusted(comparison: Comparison) -> list[str]:
    """Return what the mark behind a name stands for: a sentence for each method that has it."""
    # What the epsilon of a central method protects, as this comparison runs it.
    replaced = ", for the replacement of one trip by another"
    return [
        f"{MARK} {who.name}: {who.trust}{replaced if CENTRAL in who.trust else ''}"
        for who in comparison.contestants
        if not who.local
    ]


def markdown(comparison: Comparison) -> str:
    parts = []
    for table in tables(comparison):
        parts += [f"### {table.title}", "", *markdown_lines(table), ""]
    for sentence in trusted(comparison):
        parts += [sentence, ""]
    return "\n".join(parts)


def latex(comparison: Comparison) -> str:
    """Return all tables as LaTeX (booktabs). A table that would not fit a page is divided into several."""

    def name(label: str) -> TexCell:
        cell = TexCell.of(label.removesuffix(f" {MARK}"))
        return TexCell(cell.tex + r" $\dagger$", cell.points + 10) if label.endswith(MARK) else cell

    def value(entry: Entry) -> TexCell:
        mean, _, std = entry.text.partition(" ±")
        return TexCell.of("--" if mean == "–" else mean, std, bold=entry.best)

    parts = [r"% needs \usepackage{booktabs}"]
    for table in tables(comparison):
        names, epsilons = zip(*(line.labels for line in table.lines), strict=True)
        first = [
            TexColumn("method", [name(label) for label in names], "l"),
            TexColumn("", [TexCell.of(epsilon) for epsilon in epsilons], mark=r"$\varepsilon$"),
        ]
        columns = []
        for place, column in enumerate(table.columns):
            title, arrow = column.rsplit(" ", 1)
            values = [value(line.entries[place]) for line in table.lines]
            mark = r"$\downarrow$" if arrow == "↓" else r"$\uparrow$"
            columns.append(TexColumn(title, values, mark=mark))
        parts += [f"% {table.title}", *tex_tables(first, columns)]
    parts += [f"% {sentence}" for sentence in trusted(comparison)]
    return "\n".join(parts)


def csv_text(comparison: Comparison) -> str:
    """Return a row for each value."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["data", "method", "epsilon", "trust", "metric", "goal", "mean", "std", "seeds"])
    for row in comparison.rows:
        who, metric = row.contestant, row.metric
        place = [row.data, who.name, row.epsilon, who.trust, metric.name, metric.goal]
        # None is an empty cell.
        writer.writerow([*place, row.mean, row.std, row.seeds])
    return text.getvalue()


def write(comparison: Comparison, folder: Path) -> list[Path]:
    """Write `index.html`, and the same numbers as CSV, Markdown and LaTeX."""
    faces = {
        "results.csv": csv_text(comparison),
        "results.md": markdown(comparison),
        "results.tex": latex(comparison),
        "index.html": page(comparison),
    }
    for name, text in faces.items():
        with atomic_path(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return [folder / name for name in faces]


def page(comparison: Comparison) -> str:
    return template("page.html", "ldptrace_lab.compare").render(
        style=Markup(asset("page.css", "ldptrace_lab.reproduce")),
        comparison=comparison,
        tables=tables(comparison),
        version=__version__,
    )
