"""Run experiments: measure what is missing, then write tables, plots and the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from markupsafe import Markup

from ldptrace.core.atomic import atomic_path, make_folder
from ldptrace.errors import InputError, LdptraceError
from ldptrace.evaluation.texts import plain
from ldptrace.pages.page import asset, template
from ldptrace_lab.kept import Kept, sentence_about
from ldptrace_lab.reproduce.bench import Bench, Point, Row, to_csv
from ldptrace_lab.reproduce.experiments import EXPERIMENTS, Experiment, Setup
from ldptrace_lab.reproduce.figures import draw, legend
from ldptrace_lab.reproduce.tables import remarks, side_by_side

FORMAT, VERSION = "ldptrace-reproduce", 1
FINDING = "docs/explanation/published-numbers.md"
Listener = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class Report:
    """A finished experiment; `plot` is SVG text."""

    experiment: Experiment
    setup: Setup
    rows: list[Row]
    remarks: list[str]
    plot: str


def reproduce(name: str, setup: Setup, folder: Path, listener: Listener | None = None) -> Report:
    """Run one experiment, or what is left of it, and write its CSV, JSON and plot to the folder.

    `listener` gets what is measured next, and how many measurements are done, of how many.
    """
    if name not in EXPERIMENTS:
        raise InputError(f"there is no experiment {name!r}; there are {', '.join(EXPERIMENTS)} and all")
    experiment = EXPERIMENTS[name]
    make_folder(folder)
    own = replace(setup, sets=experiment.sets(setup))
    measured, refused = _measured(experiment, own, Kept(folder / "cells"), listener)
    rows = [*measured, *experiment.published(own)]
    # Where a vertical line is drawn, by the title of the data set.
    marks = {data.title: experiment.mark(data) for data in own.sets} if experiment.mark else {}
    shown = {row.method for row in rows}
    said = [
        *remarks(name, rows),
        *(sentence_about(other) for other in own.others if other in shown),
        *refused,
    ]
    plot = draw(experiment, rows, marks)
    document = {
        "format": FORMAT,
        "version": VERSION,
        **{key: getattr(experiment, key) for key in ("name", "title", "source", "question", "axis")},
        "scale": own.scale.name,
        "seed": own.seed,
        "data": [{"title": data.title, "key": data.key, "beside": data.beside} for data in own.sets],
        "remarks": said,
        "marks": marks,
        "rows": plain([asdict(row) for row in rows]),
    }
    for ending, text in (
        ("csv", to_csv(rows, experiment.axis)),
        ("json", json.dumps(document, indent=1, allow_nan=False) + "\n"),
        ("svg", plot),
    ):
        with atomic_path(folder / f"{name}.{ending}") as temporary:
            temporary.write_text(text, encoding="utf-8")
    return Report(experiment, own, rows, said, plot)


def _measured(
    experiment: Experiment, setup: Setup, kept: Kept, listener: Listener | None
) -> tuple[list[Row], list[str]]:
    """Return the rows of all points; what is not kept is measured. What a method of another package refuses is omitted,
    and sentences say so."""
    points = list(experiment.points(setup))
    repeats = [[replace(point, repeat=number) for number in range(setup.repeats)] for point in points]
    wanted = {cell.key: cell for cells in repeats for cell in cells}
    known = {key: values for key in wanted if (values := kept.find(key)) is not None}
    bench, begun = Bench(), len(known)
    refused: dict[str, None] = {}
    for number, (key, cell) in enumerate((key, cell) for key, cell in wanted.items() if key not in known):
        if listener is not None:
            listener(f"{cell.data.title}: {cell.method}", begun + number, len(wanted))
        try:
            known[key] = bench.measure(cell)
        except LdptraceError as error:
            if cell.method not in setup.others:
                raise
            refused[f"{cell.method} is missing on {cell.data.title}: {error}"] = None
        else:
            kept.keep(key, cell.settings, known[key])
    if listener is not None:
        listener("done", len(wanted), len(wanted))
    rows = []
    for point, cells in zip(points, repeats, strict=True):
        results = [known[cell.key] for cell in cells if cell.key in known]
        if len(results) == len(cells):
            rows += _rows(point, results)
    return rows, list(refused)


def _rows(point: Point, repeats: list[dict[str, float]]) -> list[Row]:
    """Return one row per metric and place on the axis; values of a point that are the same metric are added up."""
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
        sets=dict.fromkeys(f"{data.title} ({data.key})" for report in reports for data in report.setup.sets),
        scale=setup.scale.name,
        repeats=setup.repeats,
        seed=setup.seed,
        finding=FINDING,
    )
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
