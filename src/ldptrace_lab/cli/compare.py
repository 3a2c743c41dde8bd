"""`ldptrace compare`: methods side by side on real trajectories."""

from __future__ import annotations

import math
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ldptrace.cli.common import counted, note, read_input, wide_console
from ldptrace.cli.options import with_reading
from ldptrace.core.atomic import make_folder
from ldptrace.curator.facts import Common
from ldptrace.errors import InputError
from ldptrace.options import option, settle
from ldptrace.protocol.shuffled import DELTA

if TYPE_CHECKING:
    from ldptrace.core.reading import Reading
    from ldptrace_lab.compare.runs import Comparison, Question


def register(app: typer.Typer) -> None:
    app.command()(compare)


@dataclass(frozen=True, kw_only=True)
class Settings(Common):
    """What all runs of a comparison have in common."""

    roads: Path | None = option(
        None,
        metavar="NETWORK",
        help="Public road network, for methods with a map, such as single-report+map.",
    )
    tick: float | None = option(
        None,
        metavar="SECONDS",
        help="Also compare where real and synthetic travellers are every SECONDS seconds; needed for methods of "
        "`ldptrace stream`.",
        above=0,
    )
    time: bool = option(False, help="Also ask users about departure time and speed, if the method can.")
    shuffled: bool = option(
        False,
        help="Show each method whose reports can be shuffled a second time, with its reports through a shuffler, at "
        "the same epsilon as central methods.",
    )

    def __post_init__(self) -> None:
        settle(self)
        if self.delta is not None and not self.shuffled:
            raise InputError("--delta belongs to shuffled reports: give --shuffled")

    @property
    def chance(self) -> float:
        """The delta of shuffled reports."""
        return float(DELTA if self.delta is None else self.delta)


@with_reading(settings=Settings)
def compare(
    *,
    real: Path = typer.Argument(metavar="REAL", help="File or folder of the real trips."),
    methods: str = typer.Option(
        metavar="A,B,C",
        help="Methods to compare, separated by commas; NAME+map is the method NAME with the street map of --roads.",
    ),
    reading: Reading,
    settings: Settings,
    out: Path = typer.Option(
        ...,
        "-o",
        "--out",
        help="Folder for the results; runs whose results are in the folder are not repeated.",
    ),
    epsilons: str = typer.Option(
        "0.5,1,2", "--epsilons", metavar="E,E", help="Values of epsilon, separated by commas."
    ),
    seeds: int = typer.Option(3, min=1, help="Number of runs of each method at each epsilon."),
    data: list[Path] | None = typer.Option(
        None,
        help="Further file of real trips, for which the command writes separate tables; may be given several times.",
    ),
    users: int | None = typer.Option(None, min=2, help="Use a random sample of this many trips."),
    jobs: int | None = typer.Option(
        None, min=1, help="Number of processes that run at the same time; by default one for each processor."
    ),
) -> None:
    """Compare methods at several values of epsilon; write mean and spread of each metric over the runs as CSV,
    Markdown, LaTeX and a page.

    For comparison, each table has a row fresh-sample, for a random sample of the real trips. With --roads, the row
    map-alone shows trips from the public map without any report, and the row plain-routing shows quickest routes
    between the first and last points of real trips.

    --grid is the grid of the methods; the metrics always use 6 x 6 cells. If you start an interrupted comparison again,
    it continues where it stopped.
    """
    from ldptrace_lab.compare.runs import compare as run
    from ldptrace_lab.compare.runs import contestants

    chance = f"{settings.chance:g}" if settings.shuffled else None
    who = contestants(methods, has_map=settings.roads is not None, delta=chance)
    if settings.tick is None and any(one.kind == "stream" for one in who):
        raise InputError("methods for streams need --tick, the seconds of a tick")
    wanted = parse_epsilons(epsilons)
    # Folders of results are shared: the real trips are beside them only while the processes read them, in a folder that
    # nobody else can open.
    with tempfile.TemporaryDirectory(prefix="ldptrace-compare-") as private:
        questions = _questions([real, *(data or ())], reading, users, Path(private), settings)
        make_folder(out)
        with counted("runs") as show:
            made = run(questions, who, wanted, seeds, out, jobs=jobs or os.cpu_count() or 1, listener=show)
    _show(made, out)
    if made.failures:
        raise typer.Exit(1)


def _questions(
    paths: list[Path], reading: Reading, users: int | None, folder: Path, settings: Settings
) -> list[Question]:
    """Read the data sets, and put what is compared on into the folder."""
    from ldptrace_lab.compare.runs import Question

    questions = []
    for path in paths:
        # Somebody without a trip has nothing to compare.
        trips = read_input(path, replace(reading, min_points=1))
        trips = trips.take(trips.sizes > 0)
        if users is not None and users < len(trips):
            import numpy as np

            trips = trips.take(np.random.default_rng(0).permutation(len(trips))[:users])
        if reading.bounds is None:
            note(
                f"the bounds of {path.name} are those of the data, as in the literature; a real plan has public ones"
            )
        question = Question.of(
            trips,
            path.name.split(".")[0],
            folder,
            reading.bounds or trips.bounds(),
            grid=settings.grid,
            roads=settings.roads,
            tick=settings.tick,
            time="auto" if settings.time else "off",
            delta=settings.chance,
        )
        questions.append(question)
    return questions


def parse_epsilons(text: str) -> tuple[float, ...]:
    """Return numbers joined by commas.

    >>> parse_epsilons("0.5, 1,2")
    (0.5, 1.0, 2.0)
    """
    try:
        epsilons = tuple(float(part) for part in text.split(","))
    except ValueError:
        epsilons = ()
    if not epsilons or not all(math.isfinite(value) and value > 0 for value in epsilons):
        raise InputError(f"--epsilons takes positive numbers joined by commas, as in 0.5,1,2, got {text!r}")
    return epsilons


def _show(comparison: Comparison, out: Path) -> None:
    from ldptrace_lab.compare.tables import tables, trusted, write
    from ldptrace_lab.tables import terminal

    written = write(comparison, out)
    screen = wide_console()
    for table in tables(comparison):
        screen.print(terminal(table), "")
    for sentence in trusted(comparison):
        screen.print(sentence, markup=False)
    for sentence in comparison.failures:
        note(f"failed: {sentence}")
    note(f"page: {written[-1]}; numbers: {', '.join(path.name for path in written[:-1])}")
