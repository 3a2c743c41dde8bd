"""Scorecards as text: JSON, CSV, LaTeX."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ldptrace.core.words import measure
from ldptrace.evaluation.verdict import best, on_common_scale

Document = dict[str, Any]
COLUMNS = ("set", "metric", "value", "std", "floor", "uniform", "goal", "level", "seeds")
# Lists of numbers, which take a line and not one line for each.
_NUMBERS = re.compile(r"\[\s+((?:(?:-?[\d.]+(?:[eE][-+]?\d+)?|null),?\s+)+)\]")


def json_text(document: dict[str, Any]) -> str:
    """Return plain data as JSON, with null for undefined values."""
    text = json.dumps(plain(document), indent=1, allow_nan=False, ensure_ascii=False)
    return _NUMBERS.sub(lambda match: "[" + " ".join(match[1].split()) + "]", text)


def plain(value: Any) -> Any:
    """Return the data with None for numbers that are undefined or infinite."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def metric_rows(document: Document) -> list[dict[str, Any]]:
    """Return one row for each metric of each set, corrected variants last."""
    return [
        {
            "set": item["name"],
            "metric": name,
            **{column: entry[column] for column in COLUMNS[2:-1]},
            "seeds": item["seeds"],
        }
        for item in document["sets"]
        for name, entry in (item["metrics"] | item["corrected"]).items()
    ]


def csv_text(rows: list[dict[str, Any]]) -> str:
    """Return rows as CSV with a header. Undefined values are empty.

    >>> csv_text([dict.fromkeys(COLUMNS) | {"set": "ours", "metric": "trip_error", "value": 0.5}])
    'set,metric,value,std,floor,uniform,goal,level,seeds\\nours,trip_error,0.5,,,,,,\\n'
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


# The text of an article on A4 or letter paper: points across, and lines of a table down.
ACROSS, DOWN = 345.0, 42
# Points of a letter in small type and in script size, rather too many, and points between two columns.
_LETTER, _SCRIPT, _APART = 4.7, 3.6, 8.0
# Letters of a line of a heading.
_HEADING = 12


# Whether less or more is better.
ARROWS = {"min": r"$\downarrow$", "max": r"$\uparrow$"}


class TexCell(NamedTuple):
    """A cell of a LaTeX table, and how many points it takes across."""

    tex: str
    points: float

    @staticmethod
    def of(text: str, spread: str = "", *, bold: bool = False) -> TexCell:
        """Make a cell of a text, and of a spread in script size behind it."""
        tex = rf"\textbf{{{tex_escaped(text)}}}" if bold else tex_escaped(text)
        tex += rf" {{\scriptsize$\pm${spread}}}" if spread else ""
        return TexCell(
            tex, _LETTER * len(text) * (1.1 if bold else 1) + _SCRIPT * (len(spread) + 2) * bool(spread)
        )


class TexColumn(NamedTuple):
    """A column of a LaTeX table. Its heading is broken into short lines."""

    heading: str
    cells: Sequence[TexCell]
    align: str = "r"
    # Stands behind the heading.
    mark: str = ""

    @property
    def lines(self) -> list[str]:
        lines = [""]
        for word in re.findall(r"[^\s_./-]+[\s_./-]*|[\s_./-]+", self.heading):
            if lines[-1] and len(lines[-1] + word.rstrip()) > _HEADING:
                lines.append("")
            lines[-1] += word
        return [line.strip() for line in lines]

    @property
    def points(self) -> float:
        """The points that the column takes across, with the space beside it."""
        heading = max(map(len, self.lines)) + (2 if self.mark else 0)
        return max([_LETTER * heading, *(cell.points for cell in self.cells)]) + _APART

    @property
    def head(self) -> str:
        """The heading in LaTeX."""
        lines = [tex_escaped(line) for line in self.lines]
        lines[-1] += f" {self.mark}" if self.mark else ""
        stacked = r"\\".join(lines)
        return stacked if len(lines) == 1 else rf"\shortstack[{self.align}]{{{stacked}}}"


def tex_tables(first: Sequence[TexColumn], columns: Sequence[TexColumn]) -> list[str]:
    """Return LaTeX tables that fit a page. Each has the `first` columns, and as many of the others as there is room."""
    room = ACROSS - sum(column.points for column in first)
    parts: list[list[TexColumn]] = [[]]
    for column in columns:
        if parts[-1] and sum(one.points for one in (*parts[-1], column)) > room:
            parts.append([])
        parts[-1].append(column)
    tables = []
    for part in parts:
        shown = (*first, *part)
        rows = [
            " & ".join(cells)
            for cells in zip(*([cell.tex for cell in column.cells] for column in shown), strict=True)
        ]
        for start in range(0, max(len(rows), 1), DOWN):
            lines = [
                r"{\small\setlength{\tabcolsep}{4pt}",
                rf"\begin{{tabular}}{{{''.join(column.align for column in shown)}}}",
                r"\toprule",
                " & ".join(column.head for column in shown) + r" \\",
                r"\midrule",
                *(row + r" \\" for row in rows[start : start + DOWN]),
                r"\bottomrule",
                r"\end{tabular}}",
                "",
            ]
            tables.append("\n".join(lines))
    return tables


def tex_text(document: Document) -> str:
    """Return LaTeX tables with a row for each metric and a column for each set. The best value is bold. A table that
    would not fit a page is divided into several."""
    fair, metrics = on_common_scale(document)["sets"], document["metrics"]
    marked = {name: best([item["metrics"][name] for item in fair]) for name in metrics}
    kinds = list(metrics.values())
    first = [
        TexColumn("metric", [TexCell.of(entry["title"]) for entry in kinds], "l"),
        TexColumn("", [TexCell(ARROWS[entry["goal"]], _LETTER) for entry in kinds], "c"),
        TexColumn("perfect", [TexCell.of(_tex_number(entry, "floor")) for entry in kinds]),
    ]
    columns = []
    for place, item in enumerate(document["sets"]):
        cells = [
            TexCell.of(
                _tex_number(entry, "value"),
                _tex_number(entry, "std") if entry["std"] else "",
                bold=marked[name][place],
            )
            for name, entry in item["metrics"].items()
        ]
        columns.append(TexColumn(item["name"], cells))
    return "\n".join([r"% needs \usepackage{booktabs}", *tex_tables(first, columns)])


def tex_escaped(text: str) -> str:
    """Return a text with the special characters of LaTeX escaped.

    >>> tex_escaped("a_b 5 % × 2")
    'a\\\\_b 5 \\\\% $\\\\times$ 2'
    """
    for plain, escaped in (("\\", r"\textbackslash "), ("×", r"$\times$"), ("^", r"\^{}"), ("~", r"\~{}")):
        text = text.replace(plain, escaped)
    return "".join(rf"\{letter}" if letter in "_%&#" else letter for letter in text)


def _tex_number(entry: Document, name: str) -> str:
    return "--" if entry[name] is None else measure(entry[name], entry["unit"])
