"""`ldptrace stream`: replay a file with times, and draw synthetic travellers step by step."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import typer

from ldptrace.cli.common import (
    ForceOption,
    InputArgument,
    Progress,
    ToOption,
    check_outputs,
    note,
    read_input,
)
from ldptrace.cli.options import with_reading
from ldptrace.cli.synthesize import MethodOptions, parse_options
from ldptrace.core.atomic import is_stream, named, remove
from ldptrace.core.drawing import Ways
from ldptrace.core.reading import Reading
from ldptrace.errors import InputError
from ldptrace.streams.settings import Settings


@with_reading(settings=Settings, ways=Ways)
def stream(
    *,
    source: InputArgument,
    output: Path = typer.Option(..., "-o", "--out", help="File for the synthetic trips."),
    epsilon: float = typer.Option(
        help="Epsilon, the privacy budget of each answer of a device; smaller is more private."
    ),
    reading: Reading,
    settings: Settings,
    ways: Ways,
    option: MethodOptions = None,
    live: Path | None = typer.Option(
        None,
        metavar="FILE",
        help="File for the positions of the synthetic travellers, with one line of JSON for each time step (see "
        "--tick); - writes to standard output.",
    ),
    to: ToOption = None,
    force: ForceOption = False,
) -> None:
    """Simulate a live collection: replay real trips in time order, and make synthetic trips as reports arrive.

    At each moment, the synthetic trips depend only on reports that have already arrived.
    """
    from ldptrace.core.times import zone_words
    from ldptrace.core.words import count
    from ldptrace.io.formats import for_writing
    from ldptrace.methods.public import Public, refuse_same_file
    from ldptrace.protocol.exact import epsilon_fraction
    from ldptrace.streams.run import stream as play

    for_writing(output, to)
    check_outputs([output, live], [source], force=force)
    epsilon_fraction(epsilon)
    if reading.bounds is None:
        raise InputError("give the public bounds of the area with --bounds X0,Y0,X1,Y1")
    settings = replace(settings, options=parse_options(option or []))
    refuse_same_file(source, roads=ways.roads, routes=ways.routes)
    with Progress() as stages:
        with stages("read"):
            real = read_input(source, reading, private=True)
            if real.has_dates or real.timezone:
                note(zone_words(real.timezone, dates=real.has_dates))
            public = Public.of(ways.area, ways.roads, ways.routes)
        with stages("play and write"), _log(live) as add:
            found = play(
                real,
                epsilon,
                bounds=reading.bounds,
                settings=settings,
                public=public,
                live=None if live is None else add,
                target=output,
                to=to,
            )
    for change in found.changes:
        note(f"Change: {change}.")
    for said in found.notes:
        note(said)
    ours = settings.other is None
    how = f", presence {settings.presence}" if ours else ""
    steps = f" in {count(len(found.steps), 'step')}" if ours else ""
    note(
        f"{count(found.count, 'synthetic trip')}{steps}, method {settings.method}{how}, epsilon {epsilon:g}: {output}"
    )


@contextmanager
def _log(target: Path | None) -> Iterator[Callable[[str], None]]:
    """Yield what writes a line to standard output or to a file at once, so that other programs can follow the file. The
    file is created with the first line."""
    with named(target or Path("-")), ExitStack() as resources:
        opened: list[TextIO] = [sys.stdout] if str(target) == "-" else []

        def add(line: str) -> None:
            if not opened:
                assert target is not None
                if not is_stream(target):
                    remove(target)
                opened.append(resources.enter_context(target.open("w", encoding="utf-8")))
            opened[0].write(line + "\n")
            opened[0].flush()

        yield add
