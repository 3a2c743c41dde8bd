"""Scorecards as text: JSON, CSV, LaTeX."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from typing import Any

from ldptrace.evaluation.verdict import best, on_common_scale

Document = dict[str, Any]
COLUMNS = ("set", "metric", "value", "std", "floor", "uniform", "goal", "level", "seeds")
# Lists of numbers, which take a line and not one line for each.
_NUMBERS = re.compile(r"\[\s+((?:(?:-?[\d.]+(?:[eE][-+]?\d+)?|null),?\s+)+)\]")


def number_text(value: float | None) -> str:
    """Return a number with four decimals, or a dash if there is none.

    >>> number_text(0.25), number_text(float("nan"))
    ('0.2500', '–')
    """
    return "–" if value is None or math.isnan(value) else f"{value:.4f}"


def json_text(document: dict[str, Any]) -> str:
    """Return plain data as JSON, with null for undefined values."""
    text = json.dumps(plain(document), indent=1, allow_nan=False, ensure_ascii=False)
    return _NUMBERS.sub(lambda found: "[" + " ".join(found[1].split()) + "]", text)


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


def tex_text(document: Document) -> str:
    """Return a LaTeX table with a row for each metric and a column for each set. The best value is bold."""
    sets = document["sets"]
    lines = [
        r"% needs \usepackage{booktabs}",
        rf"\begin{{tabular}}{{lc{'r' * len(sets)}r}}",
        r"\toprule",
        " & ".join(["metric", "", *(tex_escaped(item["name"]) for item in sets), "perfect"]) + r" \\",
        r"\midrule",
    ]
    fair = on_common_scale(document)["sets"]
    for name, entry in document["metrics"].items():
        entries = [item["metrics"][name] for item in sets]
        marked = best([item["metrics"][name] for item in fair])
        arrow = r"$\downarrow$" if entry["goal"] == "min" else r"$\uparrow$"
        cells = [_tex_value(found, bold=bold) for found, bold in zip(entries, marked, strict=True)]
        row = [tex_escaped(entry["title"]), arrow, *cells, _tex_number(entry["floor"])]
        lines.append(" & ".join(row) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def tex_escaped(text: str) -> str:
    """Return a text with the special characters of LaTeX escaped.

    >>> tex_escaped("a_b 5 % × 2")
    'a\\\\_b 5 \\\\% $\\\\times$ 2'
    """
    for plain, escaped in (("\\", r"\textbackslash "), ("×", r"$\times$"), ("^", r"\^{}"), ("~", r"\~{}")):
        text = text.replace(plain, escaped)
    return "".join(rf"\{letter}" if letter in "_%&#" else letter for letter in text)


def _tex_value(entry: Document, *, bold: bool) -> str:
    number = _tex_number(entry["value"])
    if bold:
        number = rf"\textbf{{{number}}}"
    return rf"{number} {{\scriptsize$\pm${entry['std']:.4f}}}" if entry["std"] else number


def _tex_number(value: float | None) -> str:
    return "--" if value is None else f"{value:.4f}"
