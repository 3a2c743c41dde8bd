"""The scorecard: what an evaluation found, with its faces: plain data, JSON, CSV, LaTeX, a table, and one HTML page."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ldptrace import pages
from ldptrace.errors import InputError
from ldptrace.evaluation.attacks import KAPPAS, Resilience
from ldptrace.evaluation.figures import Figures
from ldptrace.evaluation.metrics import METRICS, Metric, Value
from ldptrace.evaluation.values import ALL_METRICS, over_seeds
from ldptrace.io.atomic import atomic_path
from ldptrace.pages import best, on_common_scale
from ldptrace.protocol.grid import Grid

FORMAT, VERSION = "ldptrace-scorecard", 1


@dataclass(frozen=True)
class Attack:
    """One attack on a synthetic set, beside the same on fresh real data and on uniform random walks."""

    synthetic: Resilience
    fresh_real: Resilience
    uniform: Resilience
    threshold: float


@dataclass(frozen=True, eq=False)
class SetResult:
    """Everything found about one synthetic set."""

    figures: Figures
    values: dict[str, Value]
    attacks: dict[str, Attack]
    privacy: Mapping[str, Any] | None
    notes: tuple[str, ...]
    query_curve: tuple[float, ...] = ()
    # How it goes over time, where it was compared as a stream.
    course: Mapping[str, list[Any]] | None = None
    # Sets that this is the mean of.
    seeds: int = 1

    @property
    def name(self) -> str:
        return self.figures.name

    @staticmethod
    def of_seeds(results: Sequence[SetResult]) -> list[SetResult]:
        """Results of the same name, which are seeds of one method, as one: means and spreads, pictures of the first."""
        named: dict[str, list[SetResult]] = {}
        for result in results:
            named.setdefault(result.name, []).append(result)
        return [_over_seeds(found) if len(found) > 1 else found[0] for found in named.values()]


def _over_seeds(found: list[SetResult]) -> SetResult:
    first = found[0]
    return SetResult(
        first.figures,
        over_seeds([item.values for item in found]),
        {name: _mean_attack([item.attacks[name] for item in found]) for name in first.attacks},
        first.privacy,
        tuple(dict.fromkeys(said for item in found for said in item.notes)),
        tuple(float(value) for value in np.mean([item.query_curve for item in found], axis=0)),
        first.course,
        len(found),
    )


def _mean_attack(found: list[Attack]) -> Attack:
    ratios = np.mean([item.synthetic.ratios for item in found], axis=0)
    attacked = round(sum(item.synthetic.attacked for item in found) / len(found))
    return replace(found[0], synthetic=Resilience(attacked, tuple(float(value) for value in ratios)))


@dataclass(frozen=True, eq=False, repr=False)
class Scorecard:
    """How good and how private synthetic sets are, measured against one real set.

    It prints as a table, in a notebook with a verdict above.
    """

    grid: Grid
    crs: str | None
    bounds_from: str
    seed: int | None
    repeat: int
    real: Figures
    sets: tuple[SetResult, ...]
    notes: tuple[str, ...]
    query_fractions: tuple[float, ...]
    query_floor: tuple[float, ...]
    length_edges: tuple[float, ...]
    diameter_edges: tuple[float, ...]
    cell_edges: tuple[float, ...]
    time_edges: dict[str, list[float]]
    patterns: tuple[dict[str, Any], ...]
    # What public knowledge gives by itself, where a road network was given; its streets, its name, and how far from
    # a street is still on it.
    controls: tuple[Figures, ...] = ()
    streets: list[list[int]] | None = None
    roads: str | None = None
    tolerance: float | None = None
    # The clock of a stream, and how the real one and a bootstrap of it go over time.
    stream: dict[str, Any] | None = None

    def __repr__(self) -> str:
        console = Console(file=io.StringIO(), width=79 + 20 * len(self.sets), highlight=False)
        console.print(self.table())
        text: str = console.file.getvalue()  # type: ignore[attr-defined]
        return "\n".join(line.rstrip() for line in text.splitlines())

    def _repr_html_(self) -> str:
        return pages.summary(self.document())

    def __getitem__(self, name: str) -> float:
        """The value of a metric of the first set: `card["density_error"]`."""
        if name not in self.measured:
            raise KeyError(f"no metric {name!r}; there are {', '.join(self.measured)}")
        return self.sets[0].values[name].mean

    @cached_property
    def measured(self) -> dict[str, Metric]:
        """The metrics that apply: the nine, and of the others those that any set has a value of."""
        return {
            name: metric
            for name, metric in ALL_METRICS.items()
            if name in METRICS
            or any(name in item.values and not math.isnan(item.values[name].mean) for item in self.sets)
        }

    def best(self, name: str) -> set[int]:
        """Numbers of the sets with the best value of a metric; none where there is nothing to compare.

        Sets of unequal size are compared by shares, not by counts.
        """
        entries = [item["metrics"] | item["corrected"] for item in self._fair["sets"]]
        marked = pages.best([entry[name] for entry in entries])
        return {number for number, is_best in enumerate(marked) if is_best}

    @cached_property
    def _fair(self) -> dict[str, Any]:
        return pages.on_common_scale(self.document())

    def remarks(self) -> list[str]:
        """Remarks for the reader: on the real set, on bounds that were not given, on each set."""
        found = [] if self.bounds_from == "given" else [f"the bounds were taken from {self.bounds_from}"]
        found += self.notes
        for item in self.sets:
            prefix = f"{item.name}: " if len(self.sets) > 1 else ""
            found += [prefix + said for said in (*_kind(item.privacy), *item.notes)]
        return found

    def document(self) -> dict[str, Any]:
        """The scorecard as plain data; `metrics`, `attacks` and `privacy` at the top are the first set's.

        Undefined values are None.
        """
        sets = [self._set_document(item) for item in self.sets]
        found: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "metrics": sets[0]["metrics"],
            "corrected": sets[0]["corrected"],
            "attacks": sets[0]["attacks"],
            "privacy": sets[0]["privacy"],
            "sets": sets,
            "evaluation": {
                "grid": self.grid.n,
                "bounds": list(self.grid.bounds),
                "bounds_from": self.bounds_from,
                "crs": self.crs,
                "roads": self.roads,
                "street_tolerance": self.tolerance,
                "seed": self.seed,
                "repeat": self.repeat,
                "notes": list(self.notes),
            },
            "real": self.real.document(),
            "queries": {"fractions": list(self.query_fractions), "floor": list(self.query_floor)},
            "edges": {
                "lengths": list(self.length_edges),
                "diameters": list(self.diameter_edges),
                "cells": list(self.cell_edges),
                **self.time_edges,
            },
            "controls": [figures.document() for figures in self.controls],
            "streets": self.streets,
            "patterns": list(self.patterns),
            "stream": self.stream,
        }
        plain: dict[str, Any] = _plain(found)
        return plain

    def _set_document(self, item: SetResult) -> dict[str, Any]:
        return {
            "name": item.name,
            "seeds": item.seeds,
            "metrics": {
                name: _value_document(metric, item.values[name])
                for name, metric in self.measured.items()
                if not metric.corrects
            },
            "corrected": {
                name: _value_document(metric, item.values[name])
                for name, metric in self.measured.items()
                if metric.corrects
            },
            "attacks": attacks_document(item.attacks),
            "privacy": item.privacy,
            "notes": list(item.notes),
            "query_curve": list(item.query_curve),
            "course": item.course,
            "portrait": item.figures.document(),
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The document as JSON text, also written to `path` if given; undefined values are null."""
        return _written(json_text(self.document()), path)

    def to_frame(self) -> Any:
        """One row for each metric of each set, as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError:
            raise InputError("a data frame needs pandas: pip install 'ldptrace[geo]'") from None
        return pd.DataFrame(metric_rows(self.document()))

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The rows of `to_frame` as CSV, also written to `path` if given."""
        return _written(csv_text(metric_rows(self.document())), path)

    def to_tex(self, path: str | os.PathLike[str] | None = None) -> str:
        """The metrics as a LaTeX table (booktabs), also written to `path` if given."""
        return _written(tex_text(self.document()), path)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """One self-contained page, also written to `path` if given."""
        return _written(pages.page(self.document()), path)

    def table(self, *, corrected: bool = False) -> Table:
        """The metrics for the terminal; the better value is marked with a star."""
        table = Table(title=None, box=None, pad_edge=False)
        table.add_column("metric")
        table.add_column("goal", justify="center")
        table.add_column("perfect", justify="right")
        for item in self.sets:
            table.add_column(item.name, justify="right", overflow="fold")
        level = "global"
        for name, metric in self.measured.items():
            if metric.corrects and not corrected:
                continue
            if metric.level != level and metric.level in HEADINGS and not metric.corrects:
                table.add_row(Text(HEADINGS[metric.level], style="bold"))
            level = metric.level
            best = self.best(name)
            floors = {item.values[name].floor for item in self.sets}
            cells = [
                _cell(item.values[name], marked=number in best, stars=len(self.sets) > 1)
                for number, item in enumerate(self.sets)
            ]
            table.add_row(
                Text(metric.title, style="dim" if metric.corrects else ""),
                "↓" if metric.goal == "min" else "↑",
                Text(" ".join(number_text(floor) for floor in floors), style="dim"),
                *cells,
            )
        return table

    def attack_table(self) -> Table:
        """The attacks for the terminal."""
        return attack_table({item.name: item.attacks for item in self.sets})


HEADINGS = {
    "street": "metrics on streets",
    "time": "metrics of time",
    "stream": "tick by tick, as a stream",
}
TITLES = {"reidentification": "re-identification", "outlier": "outlier"}


def _kind(privacy: Mapping[str, Any] | None) -> tuple[str, ...]:
    """That a set is an experiment and not a release, where it says so."""
    said = (privacy or {}).get("experiment")
    return (str(said),) if said else ()


def attack_table(results: Mapping[str, Mapping[str, Attack]]) -> Table:
    """Share of the attacked that stay hidden, of each set, of fresh real data and of random walks.

    1 means that nobody was singled out.
    """
    table = Table(title=None, box=None, pad_edge=False)
    table.add_column("stay hidden from")
    table.add_column("attacked", justify="right")
    for kappa in (KAPPAS[0], KAPPAS[-1]):
        table.add_column(f"↑ κ = {kappa}", justify="right")
    table.add_column("set")
    for name, title in TITLES.items():
        found = [attacks[name] for attacks in results.values()]
        rows = [(label, item.synthetic) for label, item in zip(results, found, strict=True)]
        rows += [("fresh real sample", found[0].fresh_real), ("uniform random walks", found[0].uniform)]
        for number, (label, one) in enumerate(rows):
            ratios = number_text(one.ratios[0]), number_text(one.ratios[-1])
            table.add_row(title if number == 0 else "", f"{one.attacked:,}", *ratios, label)
    return table


def number_text(value: float | None) -> str:
    """A number with four decimals, or a dash where there is none.

    >>> number_text(0.25), number_text(float("nan"))
    ('0.2500', '–')
    """
    return "–" if value is None or math.isnan(value) else f"{value:.4f}"


def _cell(value: Value, *, marked: bool, stars: bool) -> Text:
    spread = f" ±{value.std:.4f}" if value.std else ""
    text = Text(number_text(value.mean), style="bold green" if marked else "")
    text.append(spread, style="dim not bold")
    if stars:
        text.append(" *" if marked else "  ")
    return text


def _value_document(metric: Metric, value: Value) -> dict[str, Any]:
    controls = {name: found for name, found in (value.controls or {}).items() if not math.isnan(found)}
    return {
        "value": value.mean,
        "goal": metric.goal,
        "std": value.std,
        "floor": value.floor,
        "floor_std": value.floor_std,
        "uniform": value.uniform,
        "title": metric.title,
        "level": metric.level,
        "range": list(metric.range),
        "unit": metric.unit,
        "section": metric.section,
        "meaning": metric.meaning,
        **({"seeds": list(value.seeds)} if value.seeds else {}),
        **({"controls": controls} if controls else {}),
        **({"corrects": metric.corrects} if metric.corrects else {}),
    }


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    """The text, also in a file if one is named."""
    if path is not None:
        with atomic_path(path) as temporary:
            temporary.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return text


def attacks_document(attacks: Mapping[str, Attack]) -> dict[str, Any]:
    """Both attacks as plain data."""
    return {name: _attack_document(attack) for name, attack in attacks.items()}


def _attack_document(attack: Attack) -> dict[str, Any]:
    return {
        "kappa": list(KAPPAS),
        "threshold": attack.threshold,
        **{
            name: {"attacked": found.attacked, "resilience": list(found.ratios)}
            for name, found in (
                ("synthetic", attack.synthetic),
                ("fresh_real", attack.fresh_real),
                ("uniform", attack.uniform),
            )
        },
    }


def json_text(document: dict[str, Any]) -> str:
    """Plain data as JSON; what is undefined is null."""
    text = json.dumps(_plain(document), indent=1, allow_nan=False, ensure_ascii=False)
    return _NUMBERS.sub(lambda found: "[" + " ".join(found[1].split()) + "]", text)


# Lists of numbers, which take a line and not one line for each.
_NUMBERS = re.compile(r"\[\s+((?:(?:-?[\d.]+(?:[eE][-+]?\d+)?|null),?\s+)+)\]")


def _plain(value: Any) -> Any:
    """The same data with null where a number is undefined or unbounded."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


Document = dict[str, Any]
COLUMNS = ("set", "metric", "value", "std", "floor", "uniform", "goal", "level", "seeds")


def metric_rows(document: Document) -> list[dict[str, Any]]:
    """One row for each metric of each set, corrected variants last."""
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
    """Rows as CSV with a header; what is undefined is empty.

    >>> csv_text([dict.fromkeys(COLUMNS) | {"set": "ours", "metric": "trip_error", "value": 0.5}])
    'set,metric,value,std,floor,uniform,goal,level,seeds\\nours,trip_error,0.5,,,,,,\\n'
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def tex_text(document: Document) -> str:
    """A LaTeX table with a row for each metric and a column for each set; the best value is bold."""
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
    """Text with the characters that LaTeX reads as commands escaped.

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
