"""`ldptrace synthesize`: make synthetic trips from real trips."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldptrace.cli.common import (
    ForceOption,
    InputArgument,
    JsonOption,
    Progress,
    ToOption,
    check_outputs,
    note,
    typed_path,
    write_text,
)
from ldptrace.cli.options import with_options
from ldptrace.core.drawing import Points, Ways
from ldptrace.core.running import Running
from ldptrace.curator.facts import Asked
from ldptrace.errors import InputError
from ldptrace.settings import Settings

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
    from ldptrace.core.atomic import is_folder
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
        found = {
            "output": str(output),
            "trajectories": done.count,
            "users": done.users,
            "cells_per_side": done.grid.n,
            "mostly_noise": done.noise,
            "seconds": done.seconds,
            "privacy": done.privacy(),
        }
        write_text(json.dumps(found, indent=2), json_file)
    for line in told(done, output, sum(stages.seconds.values())):
        note(line)


def told(done: Run, output: Path, seconds: float) -> list[str]:
    """Return the facts about a run as sentences. The account of what was read and omitted comes first."""
    from ldptrace.core.words import count
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
