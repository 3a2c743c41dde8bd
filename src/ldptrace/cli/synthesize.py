"""`ldptrace synthesize`: make synthetic trips from real trips."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ldptrace.cli.common import (
    CentreOption,
    DateOption,
    ForceOption,
    InputArgument,
    IntervalOption,
    JsonOption,
    OffStreetsOption,
    Progress,
    RoadsOption,
    RoutesOption,
    SpacingOption,
    ToOption,
    WeekOption,
    check_outputs,
    note,
    parse_centre,
    typed_path,
    write_text,
)
from ldptrace.cli.reading import with_reading
from ldptrace.core.reading import Reading
from ldptrace.core.running import Running
from ldptrace.errors import InputError

if TYPE_CHECKING:
    from ldptrace.synthesis import Run


def method_names() -> list[str]:
    """Return the names of all methods, for completion in a shell."""
    from ldptrace import methods

    return methods.names()


OutputOption = Annotated[
    Path,
    typer.Option(
        "-o",
        "--out",
        metavar="FILE",
        parser=typed_path,
        help="File for the synthetic trips; - writes to standard output.",
    ),
]
EpsilonOption = Annotated[
    float, typer.Option(help="Epsilon, the privacy budget of each user; smaller is more private.")
]
MethodOption = Annotated[
    str,
    typer.Option(
        autocompletion=method_names,
        help="Method (see the page Methods): single-report, paper, "
        "paper-unpadded, randsyn, combtran, noadapt, adatrace, dpt, ngram, ngram-full, privtrace, or a "
        "method of an installed package.",
    ),
]
GridOption = Annotated[
    str, typer.Option(metavar="N|auto", help="Number of cells per side of the grid; auto chooses the number.")
]
BoundsFromDataOption = Annotated[
    bool,
    typer.Option(
        "--bounds-from-data",
        help="Without --bounds, use the smallest rectangle around the real trips, which reveals their "
        "outermost points.",
    ),
]
CountOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Number of synthetic trips; by default the number of devices with a trip inside the "
        "bounds, estimated from the reports.",
    ),
]
MethodOptions = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Set an option of the method; may be given several times."),
]
AreaOption = Annotated[
    Path | None,
    typer.Option(
        help="GeoJSON file of public polygons, such as land; synthetic trips stay inside the polygons."
    ),
]
TimeOption = Annotated[
    Literal["auto", "off"],
    typer.Option(
        help="auto: ask users for departure time and speed if the input has times; off: do not ask "
        "about time."
    ),
]
PilotOption = Annotated[
    float | None,
    typer.Option(
        help="Fraction of the users, such as 0.05, who are asked first how far they travel; their "
        "answers help to choose the grid."
    ),
]
SimulationOption = Annotated[
    Literal["counts", "devices"],
    typer.Option(
        help="counts: simulate only the sums of all reports, which is fast; devices: simulate each "
        "single report."
    ),
]
ModelOption = Annotated[
    Path | None,
    typer.Option(
        help="Also save the fitted model in this file (.npz), from which `ldptrace sample` draws trips."
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Seed of all random numbers, to repeat an experiment exactly. Never publish a result "
        "that was made with a seed.",
    ),
]
UnitOption = Annotated[
    Literal["user", "trip"],
    typer.Option(
        help="What epsilon protects if the input has user ids; user: each user with all trips; trip: "
        "each single trip."
    ),
]


@with_reading(running=Running)
def synthesize(
    source: InputArgument,
    output: OutputOption,
    epsilon: EpsilonOption,
    reading: Reading,
    running: Running,
    method: MethodOption = "single-report",
    grid: GridOption = "auto",
    bounds_from_data: BoundsFromDataOption = False,
    count: CountOption = None,
    option: MethodOptions = None,
    area: AreaOption = None,
    roads: RoadsOption = None,
    routes: RoutesOption = None,
    spacing: SpacingOption = None,
    interval: IntervalOption = None,
    off_streets: OffStreetsOption = "auto",
    time: TimeOption = "auto",
    week: WeekOption = False,
    centre: CentreOption = None,
    date: DateOption = None,
    pilot: PilotOption = None,
    simulation: SimulationOption = "counts",
    model: ModelOption = None,
    seed: SeedOption = None,
    unit: UnitOption = "user",
    to: ToOption = None,
    json_file: JsonOption = None,
    force: ForceOption = False,
) -> None:
    """Make synthetic trips from real trips, under local differential privacy.

    The command simulates one device for each trip. If the input has a column of user ids, the command simulates one
    device for each user, and draws one of the user's trips at random.
    """
    from ldptrace.io.atomic import is_folder
    from ldptrace.synthesis import Settings, run

    settings = Settings.of(
        epsilon,
        reading=reading,
        bounds_from_data=bounds_from_data,
        method=method,
        grid=grid if grid == "auto" else whole_number("--grid", grid),
        pilot=pilot,
        count=count,
        seed=seed,
        simulation=simulation,
        unit=unit,
        time=time,
        date=date,
        area=area,
        roads=roads,
        routes=routes,
        spacing=spacing,
        interval=interval,
        off_streets=None if off_streets == "auto" else off_streets,
        week=week or None,
        centre=parse_centre(centre),
        options=parse_options(option or []),
    )
    if model is not None and not settings.recipe.has_model:
        raise InputError(f"method {method} makes no model that could be saved")
    folder = running.spark or is_folder(output)
    check_outputs([None if folder else output, model, json_file], [source], force=force)
    with Progress() as stages:
        done = run(source, settings, output, to=to, running=running, stages=stages)
        if model is not None and done.release is not None:
            done.release.save(model)
    if json_file is not None:
        write_text(json.dumps(found(done, output), indent=2), json_file)
    for line in told(done, output, sum(stages.seconds.values())):
        note(line)


def found(done: Run, output: Path) -> dict[str, Any]:
    """Return the facts about a run as plain data."""
    return {
        "output": str(output),
        "trajectories": done.count,
        "users": done.users,
        "cells_per_side": done.grid.n,
        "mostly_noise": done.noise,
        "seconds": done.seconds,
        "privacy": done.privacy(),
    }


def told(done: Run, output: Path, seconds: float) -> list[str]:
    """Return the facts about a run as sentences. The account of what was read and omitted comes first."""
    from ldptrace.core.words import count
    from ldptrace.simulation.streams import EXPERIMENT

    lines, n = [done.account.line()], done.grid.n
    if done.unit.name != "trajectory":
        of = f" out of {count(done.read, 'trajectory')}" if done.users < done.read else ""
        lines.append(f"{done.unit.sentence} {count(done.users, 'device')}{of}.")
    lines.append(
        f"{count(done.count, 'synthetic trajectory')} from {count(done.users, 'simulated device')}, method "
        f"{done.method.name}, epsilon {done.epsilon:g}, {n} x {n} cells, in {seconds:.1f} s: {output}"
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


def whole_number(name: str, text: str) -> int:
    """Parse a whole number."""
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{name} takes a whole number or auto, got {text!r}") from None


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
