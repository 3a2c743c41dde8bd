"""`ldptrace synthesize` and `ldptrace stream`: make synthetic trips from real trips, at once or as time goes on."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from ldptrace.cli.common import (
    ForceOption,
    InputArgument,
    JsonOption,
    Progress,
    ToOption,
    check_outputs,
    note,
    read_input,
    typed_path,
    write_text,
)
from ldptrace.cli.options import with_options, with_reading
from ldptrace.core.atomic import is_folder, is_stream, named, remove
from ldptrace.core.drawing import Points, Ways
from ldptrace.core.reading import Reading
from ldptrace.core.running import Running
from ldptrace.core.words import count
from ldptrace.curator.facts import Asked
from ldptrace.errors import InputError
from ldptrace.protocol.exact import epsilon_fraction
from ldptrace.settings import Settings
from ldptrace.streams.settings import Settings as StreamSettings

if TYPE_CHECKING:
    from ldptrace.synthesis import Run

MethodOptions = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Set an option of the method; may be given several times."),
]


@with_options(
    without=("min_points", "sample_seed"),
    given=(Settings, Points, Ways, Asked),
    running=Running,
)
def synthesize(
    *,
    source: InputArgument,
    output: Path = typer.Option(
        ...,
        "-o",
        "--out",
        metavar="FILE",
        parser=typed_path,
        help="File for the synthetic trips; - writes to standard output.",
    ),
    given: dict[str, Any],
    running: Running,
    option: MethodOptions = None,
    model: Path | None = typer.Option(
        None, help="Also save the fitted model in this file (.npz), from which `ldptrace sample` draws trips."
    ),
    to: ToOption = None,
    json_file: JsonOption = None,
    force: ForceOption = False,
) -> None:
    """Make synthetic trips from real trips, under local differential privacy.

    The command simulates one device for each trip. If the input has a column of user ids, the command simulates one
    device for each user, and draws one of the user's trips at random.
    """
    from ldptrace.synthesis import run

    settings = Settings.of(**given, options=parse_options(option or []))
    if model is not None and not settings.recipe.has_model:
        raise InputError(f"method {settings.recipe.name} makes no model that could be saved")
    folder = running.spark or is_folder(output)
    check_outputs([None if folder else output, model, json_file], [source], force=force)
    with Progress() as stages:
        done = run(source, settings, output, to=to, running=running, stages=stages)
        if model is not None and done.release is not None:
            done.release.save(model)
    if json_file is not None:
        facts = {
            "output": str(output),
            "trajectories": done.count,
            "users": done.users,
            "cells_per_side": done.grid.n,
            "mostly_noise": done.noise,
            "seconds": done.seconds,
            "privacy": done.privacy(),
        }
        write_text(json.dumps(facts, indent=2), json_file)
    for line in told(done, output, sum(stages.seconds.values())):
        note(line)


def told(done: Run, output: Path, seconds: float) -> list[str]:
    """Return the facts about a run as sentences. The account of what was read and omitted comes first."""
    from ldptrace.simulation.streams import EXPERIMENT

    lines, n = [done.account.line()], done.grid.n
    if done.unit.name != "trajectory":
        read = done.account.trajectories
        of = f" out of {count(read, 'trajectory')}" if done.users < read else ""
        lines.append(f"{done.unit.sentence} {count(done.users, 'device')}{of}.")
    lines.append(
        f"{count(done.count, 'synthetic trajectory')} from {count(done.users, 'simulated device')}, method "
        f"{done.method.name}, epsilon {done.epsilon:g}{done.apart}, {n} x {n} cells, in {seconds:.1f} s: {output}"
    )
    if done.clocks is not None:
        lines.append(done.clocks)
    if done.synthesis.model is not None:
        lines += done.synthesis.model.remarks
    if done.noise:
        lines.append(
            "Note: the result is mostly noise. It shows what the model assumes rather than what users did."
        )
    if done.seeded:
        lines.append(f"Note: {EXPERIMENT}.")
    return lines


def parse_options(pairs: list[str]) -> dict[str, Any]:
    """Parse the values of `--option NAME=VALUE`. A value that is JSON is read as JSON, otherwise as text.

    >>> parse_options(["quantile=0.8", "placement=uniform"])
    {'quantile': 0.8, 'placement': 'uniform'}
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError(f"--option takes NAME=VALUE, got {pair!r}")
        try:
            options[name.replace("-", "_")] = json.loads(value)
        except ValueError:
            options[name.replace("-", "_")] = value
    return options


@with_reading(settings=StreamSettings, ways=Ways)
def stream(
    *,
    source: InputArgument,
    output: Path = typer.Option(..., "-o", "--out", help="File for the synthetic trips."),
    epsilon: float = typer.Option(
        help="Epsilon, the privacy budget of each answer of a device; smaller is more private."
    ),
    reading: Reading,
    settings: StreamSettings,
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
    from ldptrace.io.formats import for_writing
    from ldptrace.methods.public import Public, refuse_same_file
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
            played = play(
                real,
                epsilon,
                bounds=reading.bounds,
                settings=settings,
                public=public,
                live=None if live is None else add,
                target=output,
                to=to,
            )
    for change in played.changes:
        note(f"Change: {change}.")
    for sentence in played.notes:
        note(sentence)
    ours = settings.other is None
    how = f", presence {settings.presence}" if ours else ""
    steps = f" in {count(len(played.steps), 'step')}" if ours else ""
    note(
        f"{count(played.count, 'synthetic trip')}{steps}, method {settings.method}{how}, epsilon {epsilon:g}: {output}"
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
