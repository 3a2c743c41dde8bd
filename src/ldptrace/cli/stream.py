"""`ldptrace stream`: replay a file with times, and draw synthetic travellers step by step."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal, Self, TextIO

import typer

from ldptrace.cli.common import (
    ForceOption,
    InputArgument,
    OffStreetsOption,
    Progress,
    RoadsOption,
    RoutesOption,
    ToOption,
    check_outputs,
    note,
)
from ldptrace.cli.reading import read_input, with_reading
from ldptrace.cli.synthesize import AreaOption, MethodOptions, parse_options, whole_number
from ldptrace.core.reading import Reading
from ldptrace.errors import InputError
from ldptrace.plugins import STREAMS, installed
from ldptrace.protocol.grid import checked_cells


def method_names() -> list[str]:
    """Return the names of all methods for streams, for completion in a shell."""
    return ["single-report", *installed(STREAMS)]


@with_reading()
def stream(
    source: InputArgument,
    output: Annotated[Path, typer.Option("-o", "--out", help="File for the synthetic trips.")],
    epsilon: Annotated[
        float,
        typer.Option(help="Epsilon, the privacy budget of each answer of a device; smaller is more private."),
    ],
    tick: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Seconds between two positions of a traveller (the length of a time step, or tick).",
        ),
    ],
    reading: Reading,
    every: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="With --presence hidden, time between two answers of a device, such as 7d; by default each "
            "device answers once.",
        ),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="Time between two fits of the model, such as 1h; by default 50 times the value of --tick.",
        ),
    ] = None,
    remember: Annotated[
        str,
        typer.Option(
            metavar="auto|forever|DURATION",
            help="Age at which a report has half the weight of a new one, such as 2h; auto: chosen so that "
            "older reports best predict newer ones; forever: equal weights.",
        ),
    ] = "auto",
    presence: Annotated[
        Literal["hidden", "shown"],
        typer.Option(
            help="hidden: devices answer at random moments, so the server does not learn who is "
            "travelling; shown: devices answer after each trip, which reveals when they travel."
        ),
    ] = "hidden",
    area: AreaOption = None,
    roads: RoadsOption = None,
    routes: RoutesOption = None,
    off_streets: OffStreetsOption = "auto",
    grid: Annotated[
        str,
        typer.Option(metavar="N|auto", help="Number of cells per side of the grid; auto chooses the number."),
    ] = "auto",
    method: Annotated[
        str,
        typer.Option(
            autocompletion=method_names,
            help="Method (see the page Methods): single-report, retrasyn, "
            "lpd, lpa, or a method of an installed package.",
        ),
    ] = "single-report",
    option: MethodOptions = None,
    live: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File for the positions of the synthetic travellers, with one line of JSON for each "
            "time step (see --tick); - writes to standard output.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Seed of all random numbers, to repeat an experiment exactly. Never publish a result "
            "that was made with a seed.",
        ),
    ] = None,
    to: ToOption = None,
    force: ForceOption = False,
) -> None:
    """Simulate a live collection: replay real trips in time order, and make synthetic trips as reports arrive.

    At each moment, the synthetic trips depend only on reports that have already arrived.
    """
    from ldptrace.core.times import zone_words
    from ldptrace.core.words import count
    from ldptrace.curator.memory import remembered
    from ldptrace.io.formats import for_writing
    from ldptrace.methods.public import Public, refuse_same_file
    from ldptrace.protocol.exact import epsilon_fraction
    from ldptrace.protocol.units import seconds_of
    from ldptrace.streams import Settings
    from ldptrace.streams import stream as play

    for_writing(output, to)
    check_outputs([output, live], [source], force=force)
    epsilon_fraction(epsilon)
    if reading.bounds is None:
        raise InputError("give the public bounds of the area with --bounds X0,Y0,X1,Y1")
    settings = Settings(
        tick,
        None if step is None else float(seconds_of(step)),
        None if every is None else float(seconds_of(every)),
        remembered(remember),
        presence,
        "auto" if grid == "auto" else checked_cells(whole_number("--grid", grid)),
        method,
        seed,
        parse_options(option or []),
        off_streets,
    )
    refuse_same_file(source, roads=roads, routes=routes)
    with Progress() as stages:
        with stages("read"):
            real = read_input(source, reading)
            if real.has_dates or real.timezone:
                note(zone_words(real.timezone, dates=real.has_dates))
            public = Public.of(area, roads, routes)
        with stages("play and write"), _Log(live) as log:
            found = play(
                real,
                epsilon,
                bounds=reading.bounds,
                settings=settings,
                public=public,
                live=None if live is None else log.add,
                target=output,
                to=to,
            )
    for change in found.changes:
        note(f"Change: {change}.")
    for said in found.notes:
        note(said)
    ours = settings.other is None
    how = f", presence {presence}" if ours else ""
    steps = f" in {count(len(found.steps), 'step')}" if ours else ""
    note(
        f"{count(found.count, 'synthetic trip')}{steps}, method {method}{how}, epsilon {epsilon:g}: {output}"
    )


class _Log:
    """Writes lines to standard output or to a file as they come, so that other programs can follow the file.

    The file is created with the first line.
    """

    def __init__(self, target: Path | None) -> None:
        self._target = target
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None and self._file is not sys.stdout:
            self._file.close()

    def add(self, line: str) -> None:
        """Write one line at once."""
        if self._file is None:
            assert self._target is not None
            is_stdout = str(self._target) == "-"
            self._file = sys.stdout if is_stdout else self._target.open("w", encoding="utf-8")
        self._file.write(line + "\n")
        self._file.flush()
