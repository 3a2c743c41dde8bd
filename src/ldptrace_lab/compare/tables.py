"""The rows of a comparison as tables: a line for each method and epsilon, a column for each metric."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from rich.table import Table as RichTable

from ldptrace import __version__
from ldptrace.core.atomic import atomic_path
from ldptrace.evaluation.metrics import METRICS
from ldptrace.evaluation.scorecard import HEADINGS
from ldptrace.evaluation.texts import TexCell, TexColumn, tex_tables
from ldptrace.pages.page import asset, template
from ldptrace.protocol.words import CENTRAL
from ldptrace_lab.compare.runs import Comparison

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


@dataclass(frozen=True)
class Entry:
    """A value with its spread; `best` of all methods at this epsilon, references aside."""

    mean: float | None = None
    std: float | None = None
    best: bool = False

    @property
    def text(self) -> str:
        """
        >>> Entry(0.01234, 0.001).text, Entry().text
        ('.0123 ±.0010', '–')
        """
        if self.mean is None:
            return "–"
        return _short(self.mean) + ("" if self.std is None else f" ±{_short(self.std)}")


@dataclass(frozen=True)
class Line:
    """One method at one epsilon."""

    method: str
    epsilon: str
    entries: tuple[Entry, ...]
    reference: bool
    # Whether somebody must be trusted, or something taken as public, that local privacy does not need.
    trusting: bool = False

    @property
    def name(self) -> str:
        """With a mark that `trusted` explains."""
        return f"{self.method} {MARK}" if self.trusting else self.method


@dataclass(frozen=True)
class Table:
    """One data set and one family of metrics."""

    data: str
    part: str
    columns: tuple[str, ...]
    arrows: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def title(self) -> str:
        return f"{self.data}: {PARTS[self.part]}"


def tables(found: Comparison) -> list[Table]:
    """Return all tables, data set by data set; those without a value of a method are omitted."""
    return [
        table
        for question in found.questions
        for part in PARTS
        if (table := _table(found, question.title, part)) is not None
    ]


def _table(found: Comparison, data: str, part: str) -> Table | None:
    rows = [
        row
        for row in found.rows
        if row.data == data and part == ("paper" if row.metric.name in METRICS else row.metric.level)
    ]
    if all(row.contestant.kind == "reference" for row in rows):
        return None
    metrics = list({row.metric.name: row.metric for row in rows}.values())
    by_place = {(row.contestant, row.epsilon, row.metric.name): row for row in rows}
    lines = []
    for epsilon in (*found.epsilons, None):
        for who in found.contestants:
            own = [by_place.get((who, epsilon, metric.name)) for metric in metrics]
            if not any(own):
                continue
            entries = []
            for row, metric in zip(own, metrics, strict=True):
                rivals = [
                    one.mean for one in rows if (one.epsilon, one.metric.name) == (epsilon, metric.name)
                ]
                top = (min if metric.goal == "min" else max)(rivals, default=None)
                best = epsilon is not None and len(rivals) > 1
                entries.append(Entry() if row is None else Entry(row.mean, row.std, best and row.mean == top))
            text = "" if epsilon is None else f"{epsilon:g}"
            lines.append(Line(who.name, text, tuple(entries), who.kind == "reference", not who.local))
    columns = tuple(SHORT.get(metric.name, metric.title) for metric in metrics)
    arrows = tuple("↓" if metric.goal == "min" else "↑" for metric in metrics)
    return Table(data, part, columns, arrows, tuple(lines))


def _short(value: float) -> str:
    """Return the number with four decimals, without the zero in front."""
    text = f"{value:.4f}" if abs(value) < 10 else f"{value:.1f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def trusted(found: Comparison) -> list[str]:
    """Return what the mark behind a name stands for: a sentence for each method that has it."""
    # What the epsilon of a central method protects, as this comparison runs it.
    replaced = ", for the replacement of one trip by another"
    return [
        f"{MARK} {who.name}: {who.trust}{replaced if CENTRAL in who.trust else ''}"
        for who in found.contestants
        if not who.local
    ]


def markdown(found: Comparison) -> str:
    parts = []
    for table in tables(found):
        head = [f"{name} {arrow}" for name, arrow in zip(table.columns, table.arrows, strict=True)]
        parts += [f"### {table.title}", ""]
        parts.append("| method | epsilon | " + " | ".join(head) + " |")
        parts.append("|---|--:|" + "--:|" * len(head))
        for line in table.lines:
            cells = [f"**{entry.text}**" if entry.best else entry.text for entry in line.entries]
            parts.append(f"| {line.name} | {line.epsilon} | " + " | ".join(cells) + " |")
        parts.append("")
    for sentence in trusted(found):
        parts += [sentence, ""]
    return "\n".join(parts)


def latex(found: Comparison) -> str:
    """Return all tables as LaTeX (booktabs). A table that would not fit a page is divided into several."""

    def name(line: Line) -> TexCell:
        cell = TexCell.of(line.method)
        return TexCell(cell.tex + r" $\dagger$", cell.points + 10) if line.trusting else cell

    def value(entry: Entry) -> TexCell:
        if entry.mean is None:
            return TexCell.of("--")
        return TexCell.of(_short(entry.mean), "" if entry.std is None else _short(entry.std), bold=entry.best)

    parts = [r"% needs \usepackage{booktabs}"]
    for table in tables(found):
        first = [
            TexColumn("method", [name(line) for line in table.lines], "l"),
            TexColumn("", [TexCell.of(line.epsilon) for line in table.lines], mark=r"$\varepsilon$"),
        ]
        columns = [
            TexColumn(
                title,
                [value(line.entries[place]) for line in table.lines],
                mark=r"$\downarrow$" if arrow == "↓" else r"$\uparrow$",
            )
            for place, (title, arrow) in enumerate(zip(table.columns, table.arrows, strict=True))
        ]
        parts += [f"% {table.title}", *tex_tables(first, columns)]
    parts += [f"% {sentence}" for sentence in trusted(found)]
    return "\n".join(parts)


def csv_text(found: Comparison) -> str:
    """Return a row for each value."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["data", "method", "epsilon", "trust", "metric", "goal", "mean", "std", "seeds"])
    for row in found.rows:
        who, metric = row.contestant, row.metric
        place = [row.data, who.name, row.epsilon, who.trust, metric.name, metric.goal]
        # None is an empty cell.
        writer.writerow([*place, row.mean, row.std, row.seeds])
    return text.getvalue()


def terminal(table: Table) -> RichTable:
    shown = RichTable(title=table.title, box=None, pad_edge=False, title_justify="left")
    shown.add_column("method")
    shown.add_column("epsilon", justify="right")
    for name, arrow in zip(table.columns, table.arrows, strict=True):
        shown.add_column(f"{name} {arrow}", justify="right")
    for line in table.lines:
        cells = [f"{entry.text}*" if entry.best else entry.text for entry in line.entries]
        shown.add_row(line.name, line.epsilon, *cells, style="dim" if line.reference else "")
    return shown


def write(found: Comparison, folder: Path) -> list[Path]:
    """Write `index.html`, and the same numbers as CSV, Markdown and LaTeX."""
    faces = {
        "results.csv": csv_text(found),
        "results.md": markdown(found),
        "results.tex": latex(found),
        "index.html": page(found),
    }
    for name, text in faces.items():
        with atomic_path(folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return [folder / name for name in faces]


def page(found: Comparison) -> str:
    return template("page.html", "ldptrace_lab.compare").render(
        style=Markup(asset("page.css", "ldptrace_lab.reproduce")),
        found=found,
        tables=tables(found),
        version=__version__,
    )
