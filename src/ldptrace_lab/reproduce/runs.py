"""Run experiments: measure what is missing, then write tables, plots and the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ldptrace.core.atomic import atomic_path, make_folder
from ldptrace.errors import InputError, LdptraceError
from ldptrace.evaluation.texts import plain
from ldptrace.pages.page import asset, template
from ldptrace_lab.kept import Kept, sentence_about
from ldptrace_lab.reproduce.bench import Bench
from ldptrace_lab.reproduce.experiments import EXPERIMENTS, Experiment, Point, Setup
from ldptrace_lab.reproduce.figures import draw, legend
from ldptrace_lab.reproduce.results import Cell, Row, to_csv
from ldptrace_lab.reproduce.tables import remarks, side_by_side

FORMAT, VERSION = "ldptrace-reproduce", 1
FINDING = "docs/explanation/published-numbers.md"
Listener = Callable[[str, int, int], None]
# The values of cells by the keys of the cells.
Values = dict[str, dict[str, float]]


@dataclass(frozen=True, eq=False)
class Report:
    """A finished experiment."""

    experiment: Experiment
    setup: Setup
    rows: list[Row]
    remarks: list[str]
    # Where a vertical line is drawn, by the title of the data set.
    marks: dict[str, float]

    @cached_property
    def plot(self) -> str:
        """The drawing as SVG text."""
        return draw(self.experiment, self.rows, self.marks)

    def document(self) -> dict[str, Any]:
        """Return the experiment as plain data."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": self.experiment.name,
            "title": self.experiment.title,
            "source": self.experiment.source,
            "question": self.experiment.question,
            "axis": self.experiment.axis,
            "scale": self.setup.scale.name,
            "seed": self.setup.seed,
            "data": [
                {"title": data.title, "key": data.key, "beside": data.beside} for data in self.setup.sets
            ],
            "remarks": self.remarks,
            "marks": self.marks,
            "rows": plain([asdict(row) for row in self.rows]),
        }

    def write(self, folder: Path) -> None:
        """Write CSV, JSON and plot under the experiment's name."""
        name = self.experiment.name
        for ending, text in (
            ("csv", to_csv(self.rows, self.experiment.axis)),
            ("json", json.dumps(self.document(), indent=1, allow_nan=False) + "\n"),
            ("svg", self.plot),
        ):
            with atomic_path(folder / f"{name}.{ending}") as temporary:
                temporary.write_text(text, encoding="utf-8")


def reproduce(name: str, setup: Setup, folder: Path, listener: Listener | None = None) -> Report:
    """Run one experiment, or what is left of it, and write its files to the folder.

    `listener` gets what is measured next, and how many measurements are done, of how many.
    """
    if name not in EXPERIMENTS:
        raise InputError(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)} and all")
    experiment = EXPERIMENTS[name]
    make_folder(folder)
    own = replace(setup, sets=experiment.sets(setup))
    points = experiment.points(own)
    cells = [cell for point in points for cell in point.cells(own.repeats, own.seed)]
    values, refused = _measured(Kept(folder / "cells"), cells, own, listener)
    rows = [row for point in points for row in _rows(point, own, values)] + experiment.published(own)
    marks = {data.title: experiment.mark(data) for data in own.sets} if experiment.mark else {}
    shown = {row.method for row in rows}
    said = [sentence_about(other) for other in own.others if other in shown]
    report = Report(experiment, own, rows, [*remarks(name, rows), *said, *refused], marks)
    report.write(folder)
    return report


def write_page(reports: Sequence[Report], path: Path) -> None:
    """Write the page of the given experiments."""
    setup = reports[0].setup
    text = template("page.html", "ldptrace_lab.reproduce").render(
        style=Markup(asset("page.css", "ldptrace_lab.reproduce")),
        reports=[
            {
                "experiment": report.experiment,
                "remarks": report.remarks,
                # Without the header of a file of its own.
                "plot": Markup(report.plot[report.plot.index("<svg") :]),
                "legend": legend(report.rows),
                "table": side_by_side(report.experiment, report.rows),
            }
            for report in reports
        ],
        sets=list(
            dict.fromkeys(f"{data.title} ({data.key})" for report in reports for data in report.setup.sets)
        ),
        scale=setup.scale.name,
        repeats=setup.repeats,
        seed=setup.seed,
        finding=FINDING,
    )
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _measured(
    kept: Kept, cells: Sequence[Cell], setup: Setup, listener: Listener | None
) -> tuple[Values, list[str]]:
    """Return the values of all cells by their keys; those that are not kept are measured. What a method of another
    package refuses is omitted, and sentences say so."""
    bench = Bench({data.key: data for data in setup.sets})
    wanted = {cell.key: cell for cell in cells}
    known = {key: values for key in wanted if (values := kept.find(key)) is not None}
    titles = {data.key: data.title for data in setup.sets}
    refused: dict[str, None] = {}
    begun = len(known)
    for number, (key, cell) in enumerate((key, cell) for key, cell in wanted.items() if key not in known):
        if listener is not None:
            listener(f"{titles[cell.data]}: {cell.method}", begun + number, len(wanted))
        try:
            known[key] = bench.measure(cell)
        except LdptraceError as error:
            if cell.method not in setup.others:
                raise
            refused[f"{cell.method} is missing on {titles[cell.data]}: {error}"] = None
        else:
            kept.keep(key, asdict(cell), known[key])
    if listener is not None:
        listener("done", len(wanted), len(wanted))
    return known, list(refused)


def _rows(point: Point, setup: Setup, measured: Values) -> list[Row]:
    """Return one row per metric and place on the axis; values of a cell that are the same metric are added up."""
    keys = [cell.key for cell in point.cells(setup.repeats, setup.seed)]
    if any(key not in measured for key in keys):
        return []
    repeats = [measured[key] for key in keys]
    sums: dict[tuple[str, float], list[float]] = {}
    for key, place in point.takes.items():
        if key in repeats[0]:
            per = [1.0 if point.per is None else point.per / values["trajectories"] for values in repeats]
            shares = [values[key] * each for values, each in zip(repeats, per, strict=True)]
            before = sums.get(place, [0.0] * len(shares))
            sums[place] = [a + b for a, b in zip(before, shares, strict=True)]
    return [
        Row.measured(point.data.title, point.method, x, metric, values)
        for (metric, x), values in sums.items()
    ]
