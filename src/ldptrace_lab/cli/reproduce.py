"""`ldptrace reproduce`: every table and figure of the paper at one command each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import typer

from ldptrace.cli.common import counted, note, read_input, wide_console
from ldptrace.cli.options import with_options
from ldptrace.core.reading import Reading

Name = Literal[
    "utility", "efficiency", "variants", "granularity", "lambda", "query-size", "runtime", "quantile",
    "scalability", "unmodified-ngram", "attacks", "all",
]  # fmt: skip
ScaleName = Literal["quick", "paper"]
# A data set of the paper.
Beside = Literal["oldenburg", "porto", "hangzhou", "campus", "none"]


def register(app: typer.Typer) -> None:
    app.command()(reproduce)


# As the published numbers were measured.
@with_options(only=("bounds", "format", "crs", "outside"), defaults={"outside": "drop"}, reading=Reading)
def reproduce(
    *,
    name: Name = typer.Argument(
        help="Experiment of the LDPTrace paper to repeat (see the page The paper's experiments); all repeats every "
        "experiment and writes one page."
    ),
    reading: Reading,
    data: Path | None = typer.Option(None, help="File of trips to use instead of generated data sets."),
    scale: ScaleName = typer.Option(
        "quick", help="quick: small data sets; paper: as many trips and repeats as in the LDPTrace paper."
    ),
    out: Path = typer.Option(
        Path("reproduce"),
        "-o",
        "--out",
        help="Folder for the results; results that are in the folder are not measured again.",
    ),
    repeats: int | None = typer.Option(
        None,
        min=1,
        help="Number of repeats of every measurement; by default 3 with --scale quick and 5 with --scale paper.",
    ),
    users: int | None = typer.Option(
        None,
        min=2,
        help="Number of trips of each generated data set, or size of the random sample that is drawn from --data.",
    ),
    seed: int = typer.Option(1, min=0, help="Seed of the generated data and of the simulation."),
    grid: int | None = typer.Option(
        None,
        metavar="N",
        help="Number of cells per side of the grid, except in experiments that vary the grid; by default as in the "
        "LDPTrace paper: 8 for Hangzhou, 6 for other data.",
    ),
    places: Path | None = typer.Option(
        None,
        help="Table of the places that the trips of --data visit; used by the experiment named unmodified-ngram.",
    ),
    beside: Beside | None = typer.Option(
        None,
        help="Data set of the LDPTrace paper whose published values are shown beside the values of --data; by default "
        "the data set whose name is in the name of the file, as in porto.csv.",
    ),
) -> None:
    """Repeat an experiment of the LDPTrace paper; write its results and the paper's values as CSV, JSON and a page."""
    import numpy as np

    from ldptrace_lab.ngram.recipes import places as read_places
    from ldptrace_lab.reproduce.data import GENERATED, generated, own
    from ldptrace_lab.reproduce.experiments import EXPERIMENTS, QUICK_USERS, SCALES, Setup
    from ldptrace_lab.reproduce.published import SETS
    from ldptrace_lab.reproduce.runs import reproduce as run
    from ldptrace_lab.reproduce.runs import write_page
    from ldptrace_lab.reproduce.tables import side_by_side
    from ldptrace_lab.tables import terminal

    chosen = SCALES[scale]
    if data is None:
        sizes = {
            key: users or (QUICK_USERS if scale == "quick" else SETS[key].trajectories) for key in GENERATED
        }
        sets = tuple(generated(key, size, seed, grid) for key, size in sizes.items())
    else:
        trips = read_input(data, replace(reading, min_points=1))
        if users is not None and users < len(trips):
            trips = trips.take(np.random.default_rng(seed).permutation(len(trips))[:users])
        if reading.bounds is None:
            note(
                "the bounds are those of the data, as in the paper; in a real collection they must be public"
            )
        table = data if places is None and reading.format == "checkins" else places
        pois = None if table is None else read_places(table)
        sets = (own(trips, data, bounds=reading.bounds, grid=grid, pois=pois, beside=beside),)
    setup = Setup(sets, chosen, repeats or chosen.repeats, seed)
    names = list(EXPERIMENTS) if name == "all" else [name]
    reports = []
    for each in names:
        with counted(each) as show:
            report = run(each, setup, out, show)
        wide_console().print(terminal(side_by_side(report.experiment, report.rows)))
        for sentence in report.remarks:
            note(sentence)
        note(f"{report.experiment.title} ({report.experiment.source}): {out / each}.csv, .json, .svg")
        reports.append(report)
    page = out / ("index.html" if name == "all" else f"{name}.html")
    write_page(reports, page)
    note(f"{'all experiments on one' if name == 'all' else 'to look at, the'} page: {page}")
