"""The options of reading as one group; where trajectories are, and where the work runs: here, in blocks, on Spark."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from ldptrace.cli.common import note
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Bounds, checked_bounds

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories
    from ldptrace.engines.base import Crowd
    from ldptrace.io.reading import Reading

# What happens to a trip that leaves the bounds, and where the work runs.
Outside = Literal["cut", "drop", "clamp"]
Engine = Literal["local", "spark"]
BoundsOption = Annotated[
    str | None,
    typer.Option(
        metavar="X0,Y0,X1,Y1",
        help="Public rectangle of the area: smallest x and y, then largest x and y.",
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(help="Format of the input, such as gpx; by default the program recognises it."),
]
CrsOption = Annotated[
    str | None, typer.Option(help='Coordinate system of the trips and of the bounds, such as "EPSG:4326".')
]
OutsideOption = Annotated[
    Outside,
    typer.Option(
        help="What to do with trips that leave the bounds; cut: keep only the parts inside; drop: "
        "omit these trips; clamp: move outer points to the border."
    ),
]
XOption = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column that holds the x coordinate or longitude; by default, one with a usual name such as x or lon.",
    ),
]
YOption = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column that holds the y coordinate or latitude; by default, one with a usual name such as y or lat.",
    ),
]
TOption = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column that holds the times; by default, one with a usual name such as t or time.",
    ),
]
IdOption = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column that holds the trajectory id of each point; by default, one with a usual name such as traj_id.",
    ),
]
UserOption = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column that holds the user id of each trajectory; by default, one with a usual name such as user.",
    ),
]
ZoneOption = Annotated[
    str | None,
    typer.Option(
        metavar="ZONE",
        help="Time zone of local times, such as Europe/Berlin; by default the zone stated in the file, otherwise UTC.",
    ),
]
SplitOption = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Cut a trajectory between two points that are more than this many seconds apart.",
    ),
]
OPTIONS: dict[str, tuple[Any, Any]] = {
    "bounds": (BoundsOption, None),
    "outside": (OutsideOption, "cut"),
    "format": (FormatOption, None),
    "crs": (CrsOption, None),
    "x": (XOption, None),
    "y": (YOption, None),
    "t": (TOption, None),
    "id": (IdOption, None),
    "user": (UserOption, None),
    "timezone": (ZoneOption, None),
    "split_gap": (SplitOption, None),
}


def with_reading(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options for reading files. The command gets them as one object, its parameter `reading`."""
    options = {name: option for name, option in OPTIONS.items() if name not in without}

    def grouped(command: Callable[..., None]) -> Callable[..., None]:
        # What a command reads loads with its first file, so its type is not there yet.
        kinds = get_type_hints(command, localns={"Reading": object}, include_extras=True)
        own = [
            (name, kinds[name], parameter.default)
            for name, parameter in inspect.signature(command).parameters.items()
            if name != "reading"
        ]
        group = [(name, kind, default) for name, (kind, default) in options.items()]

        @wraps(command)
        def called(**given: Any) -> None:
            reading = reading_of(**{name: given.pop(name) for name in options})
            command(reading=reading, **given)

        # What typer reads the options from.
        called.__annotations__ = {name: kind for name, kind, _ in own + group}
        called.__dict__["__signature__"] = inspect.Signature(
            [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
                for name, kind, default in own + group
            ]
        )
        return called

    return grouped


def reading_of(
    *,
    bounds: str | None = None,
    outside: Outside = "cut",
    x: str | None = None,
    y: str | None = None,
    t: str | None = None,
    id: str | None = None,
    user: str | None = None,
    **others: Any,
) -> Reading:
    """Make one object of the options for reading."""
    from ldptrace.core.columns import Names
    from ldptrace.io.reading import Reading

    names = Names(x, y, t, id, user)
    return Reading(names=names, bounds=parse_bounds(bounds), outside=outside, **others)


def parse_bounds(text: str | None) -> Bounds | None:
    """Parse the four numbers of `--bounds`.

    >>> parse_bounds("-8.7, 41, -8.4, 41.4")
    (-8.7, 41.0, -8.4, 41.4)
    """
    if text is None:
        return None
    try:
        x0, y0, x1, y1 = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--bounds takes four numbers X0,Y0,X1,Y1 joined by commas, got {text!r}") from None
    try:
        return checked_bounds((x0, y0, x1, y1))
    except InputError as error:
        raise InputError(f"--bounds X0,Y0,X1,Y1: {error}") from None


def read_input(path: Path, reading: Reading) -> Trajectories:
    """Read a file of trips, and print in one line what was kept and what was omitted."""
    from ldptrace.io import read_with_account

    trajectories, account = read_with_account(path, reading)
    note(account.line())
    return trajectories


def unnamed(reading: Reading) -> Reading:
    """Return the options for a second file, whose columns have their usual names and which is not cut at gaps."""
    from ldptrace.core.columns import Names

    return replace(reading, names=Names(), split_gap=None)


EngineOption = Annotated[
    Engine, typer.Option(help="local: run on this machine; spark: run on a Spark cluster.")
]
MemoryOption = Annotated[
    str,
    typer.Option(help="Memory for the points of trips, such as 512M or 2G; input files may be larger."),
]
MEMORY = "512M"


def open_sets(
    engine: Engine, real: Path, synthetic: list[Path], reading: Reading, resources: ExitStack, *, memory: int
) -> list[Crowd | Trajectories]:
    """Open the real set and the synthetic sets, in memory if they fit.

    The memory is divided between the sets. The sets are not cut at the bounds of the comparison. Named columns and
    `--split-gap` apply to the real set only.
    """
    from ldptrace.engines.local import Files
    from ldptrace.io.batches import open_batches

    reading = replace(reading, bounds=None)
    wanted = [(real, reading), *((path, unnamed(reading)) for path in synthetic)]
    if engine == "spark":
        if reading.split_gap is not None:
            raise InputError(
                "--split-gap needs the trips in memory: convert them first, or use --engine local"
            )
        from ldptrace.engines.spark import Spark, address
        from ldptrace.engines.spark_crowd import SparkCrowd

        spark = resources.enter_context(Spark.start())
        return [SparkCrowd(spark, address(path), own) for path, own in wanted]
    opened: list[Crowd | Trajectories] = []
    for path, own in wanted:
        tables = open_batches(path, own, memory=memory // len(wanted))
        if tables is None:
            opened.append(read_input(path, own))
        else:
            resources.callback(tables.close)
            opened.append(Files(tables))
    return opened


def bytes_of(name: str, text: str) -> int:
    """Parse a number of bytes, such as 512M; units are multiples of 1024.

    >>> bytes_of("--memory", "512M"), bytes_of("--memory", "2G")
    (536870912, 2147483648)
    """
    units = {"K": 10, "M": 20, "G": 30, "T": 40}
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in units else (text, "")
    if not number.isdigit() or int(number) == 0:
        raise InputError(f"{name} takes a number of bytes such as 512M or 2G, got {text!r}")
    return int(number) << units.get(unit, 0)
