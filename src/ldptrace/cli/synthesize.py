"""`ldptrace synthesize`: a private synthetic copy of a data set."""

from __future__ import annotations

import json
from contextlib import ExitStack
from enum import StrEnum
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
    Progress,
    RoadsOption,
    RoutesOption,
    SpacingOption,
    ToOption,
    WeekOption,
    check_outputs,
    check_positive,
    note,
    parse_centre,
    write_text,
)
from ldptrace.cli.crowds import MEMORY, Engine, EngineOption, MemoryOption, bytes_of, open_crowd
from ldptrace.cli.reading import read_input, with_reading
from ldptrace.errors import InputError, PrivacyWarning

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories
    from ldptrace.io.reading import Reading
    from ldptrace.protocol.grid import Bounds


class Simulation(StrEnum):
    """How simulated devices are drawn."""

    counts = "counts"
    devices = "devices"


class UnitChoice(StrEnum):
    """Whose privacy it is."""

    user = "user"
    trip = "trip"


class TimeChoice(StrEnum):
    """Whether devices are asked about time."""

    auto = "auto"
    off = "off"


def register(app: typer.Typer) -> None:
    app.command()(synthesize)


@with_reading()
def synthesize(
    source: InputArgument,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Where the synthetic trajectories go; - is standard output."),
    ],
    epsilon: Annotated[float, typer.Option("--epsilon", help="Privacy budget of each user.")],
    reading: Reading,
    method: Annotated[
        str, typer.Option("--method", help="Recipe; an unknown name lists them.")
    ] = "single-report",
    grid: Annotated[str, typer.Option("--grid", metavar="N|auto", help="Cells per side.")] = "auto",
    bounds_from_data: Annotated[
        bool,
        typer.Option("--bounds-from-data", help="Take the bounds from the raw data. This is not private."),
    ] = False,
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            min=0,
            help="Synthetic trajectories; default: as many as devices had a trip, as estimated.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="An option of the method; repeatable."),
    ] = None,
    area: Annotated[
        Path | None,
        typer.Option(
            "--area", help="GeoJSON of polygons, such as land: trips stay in them. Public knowledge."
        ),
    ] = None,
    roads: RoadsOption = None,
    routes: RoutesOption = None,
    spacing: SpacingOption = None,
    interval: IntervalOption = None,
    time: Annotated[
        TimeChoice,
        typer.Option("--time", help="Ask for departures and speeds where the input has times, or do not."),
    ] = TimeChoice.auto,
    week: WeekOption = False,
    centre: CentreOption = None,
    date: DateOption = None,
    pilot: Annotated[
        float | None,
        typer.Option("--pilot", help="Share of the users who are asked first, to choose N and m by."),
    ] = None,
    simulation: Annotated[
        Simulation, typer.Option("--simulation", help="Draw tallies, or every report.")
    ] = Simulation.counts,
    model: Annotated[
        Path | None, typer.Option("--model", help="Also save the fitted model here (.npz).")
    ] = None,
    engine: EngineOption = Engine.local,
    memory: MemoryOption = MEMORY,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", min=0, help="Repeat a run exactly: for experiments, the result is not a release."
        ),
    ] = None,
    unit: Annotated[
        UnitChoice,
        typer.Option(
            "--unit", help="Whose epsilon it is, where a column says users: theirs, or each trip's."
        ),
    ] = UnitChoice.user,
    to: ToOption = None,
    json_file: JsonOption = None,
    force: ForceOption = False,
) -> None:
    """Make a private synthetic copy of a data set: every trajectory plays one device.

    Where a column says whose is whose, one trajectory of each user is drawn, and plays the device.
    """
    from ldptrace.core.words import count as counted
    from ldptrace.engines.local import Memory
    from ldptrace.io.area import read_area
    from ldptrace.io.folder import check_folder, is_folder
    from ldptrace.io.formats import for_writing
    from ldptrace.methods import method as find_method
    from ldptrace.methods.release import day_of
    from ldptrace.protocol.exact import epsilon_fraction
    from ldptrace.protocol.grid import checked_cells
    from ldptrace.simulation.streams import EXPERIMENT
    from ldptrace.synthesis import run_files

    if roads is not None:
        from ldptrace.roads import read_roads
    recipe = find_method(method)
    given: dict[str, Any] = {"roads": roads, "routes": routes, "spacing": spacing, "interval": interval}
    given |= {"week": week or None, "centre": parse_centre(centre)}
    public = {name: value for name, value in given.items() if value is not None}
    for name in public:
        if name not in recipe.options:
            raise InputError(f"method {method} has no use for --{name}")
    if model is not None and not recipe.has_model:
        raise InputError(f"method {method} makes no model that could be saved")
    epsilon_fraction(epsilon)
    on_cluster = engine is Engine.spark
    folder = on_cluster or is_folder(output)
    if not folder:
        for_writing(output, to)
    elif not on_cluster:
        check_folder(output)
    check_outputs([None if folder else output, model, json_file], [source], force=force)
    cells: int | Literal["auto"] = "auto" if grid == "auto" else checked_cells(whole_number("--grid", grid))
    check_positive(spacing=spacing, interval=interval)
    if date is not None:
        day_of(date)
    box = reading.bounds
    if box is None and not bounds_from_data:
        raise InputError(
            "give the public bounds of the map with --bounds X0,Y0,X1,Y1, or --bounds-from-data to take them from "
            f"the raw data, which is not private (ldptrace inspect {source} shows them)"
        )
    with Progress() as stages:
        options = parse_options(option or [])
        if area is not None:
            options["area"] = read_area(area)
        if roads is not None:
            with stages("read the map"):
                public["roads"] = read_roads(roads)
        settings: dict[str, Any] = {
            "grid": cells,
            "pilot": pilot,
            "method": method,
            "count": count,
            "seed": seed,
            "simulation": simulation.value,
            "unit": unit.value,
            "time": time.value,
            "date": date,
            "stages": stages,
            **options,
            **public,
        }
        with ExitStack() as resources:
            with stages("look at the files"):
                crowd, runner = open_crowd(
                    engine,
                    source,
                    reading,
                    resources,
                    memory=bytes_of("--memory", memory),
                    always=folder,
                    model=recipe.has_model,
                )
            if crowd is None:
                with stages("read"):
                    real = read_input(source, reading)
                    crowd, box = Memory(real), bounds_of(real) if box is None else box
            assert box is not None
            had = crowd.read
            run = run_files(crowd, output, epsilon, engine=runner, bounds=box, to=to, **settings)
            if not isinstance(crowd, Memory):
                note(crowd.account)
                had = crowd.read
        if model is not None and run.release is not None:
            run.release.save(model)
    total, n = sum(stages.seconds.values()), run.grid.n
    if json_file is not None:
        found = {
            "output": str(output),
            "trajectories": run.count,
            "users": run.users,
            "cells_per_side": n,
            "mostly_noise": run.noise,
            "seconds": run.seconds,
            "privacy": run.privacy(),
        }
        write_text(json.dumps(found, indent=2), json_file)
    if run.unit.name != "trajectory":
        of = f" out of {counted(had, 'trajectory')}" if run.users < had else ""
        note(f"{run.unit.sentence} {counted(run.users, 'device')}{of}.")
    note(
        f"{counted(run.count, 'synthetic trajectory')} from "
        f"{counted(run.users, 'simulated device')}, "
        f"method {method}, epsilon {epsilon:g}, {n} x {n} cells, in {total:.1f} s: {output}"
    )
    for said in [] if run.synthesis.model is None else run.synthesis.model.remarks:
        note(said)
    if run.noise:
        note("Note: mostly noise, as said above: it shows what is assumed rather than what the users did.")
    if run.seeded:
        note(f"Note: {EXPERIMENT}.")


def bounds_of(real: Trajectories) -> Bounds:
    """The bounds of the raw data, for a user who insists."""
    import warnings

    warnings.warn(
        "the bounds were taken from the raw data; this is not covered by epsilon",
        PrivacyWarning,
        stacklevel=2,
    )
    return real.bounds()


def whole_number(name: str, text: str) -> int:
    """The number that the text holds."""
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{name} takes a whole number or auto, got {text!r}") from None


def parse_options(pairs: list[str]) -> dict[str, Any]:
    """Values of `--option NAME=VALUE`, read as JSON where they are JSON.

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
