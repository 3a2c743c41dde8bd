"""What the commands share: options, reading input, notes and progress.

Results go to stdout, notes and progress to stderr; progress is drawn on a terminal only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer

from ldptrace.core.stages import Stages
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Bounds, checked_bounds

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from ldptrace.core.trajectories import Trajectories


class Outside(StrEnum):
    """What happens to a trajectory that leaves the bounds."""

    drop = "drop"
    clamp = "clamp"


InputArgument = Annotated[Path, typer.Argument(help="Trajectory file, or a folder of files of one format.")]
BoundsOption = Annotated[
    str | None,
    typer.Option("--bounds", metavar="X0,Y0,X1,Y1", help="Public bounds of the map, in the input's units."),
]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", help="Format of the input; the extension decides when this is absent."),
]
CrsOption = Annotated[
    str | None, typer.Option("--crs", help='Coordinate system of the input, for example "EPSG:4326".')
]
OutsideOption = Annotated[
    Outside,
    typer.Option(
        "--outside", help="Trajectories that leave the bounds: leave them out, or clamp their points."
    ),
]
RoadsOption = Annotated[
    Path | None,
    typer.Option("--roads", metavar="NETWORK", help="Public road network; trips follow its streets."),
]
RoutesOption = Annotated[
    Path | None,
    typer.Option("--routes", metavar="FILE", help="Public trajectories instead of a road network."),
]
SpacingOption = Annotated[
    float | None,
    typer.Option("--spacing", help="A point every so many units along the way (metres of a map)."),
]
IntervalOption = Annotated[
    float | None, typer.Option("--interval", help="A point every so many seconds; with --roads or --routes.")
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, help="Seed of the simulation, to repeat a run exactly.")
]


def parse_bounds(text: str | None) -> Bounds | None:
    """Numbers of `--bounds`.

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


def read_input(
    path: Path,
    *,
    format: str | None = None,
    crs: str | None = None,
    bounds: Bounds | None = None,
    outside: str = Outside.drop,
    min_points: int = 1,
) -> Trajectories:
    """Read a trajectory file and say on stderr, in one line, what was kept and what was left out."""
    from ldptrace.io import read_with_report

    trajectories, report = read_with_report(
        path, format=format, crs=crs, bounds=bounds, outside=outside, min_points=min_points
    )
    note(report.line())
    return trajectories


def random_source(seed: int | None) -> np.random.Generator:
    """The random source of a simulation: the same for the same seed, fresh without one."""
    import numpy as np

    return np.random.default_rng(seed)


def console() -> Console:
    """Where people read: stderr, so that stdout stays clean for results."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def note(message: str) -> None:
    """One plain line for the person at the terminal."""
    console().print(message, markup=False, soft_wrap=True)


class Progress(Stages):
    """Stages that a person watches: each with a spinner while it runs and its time; on a terminal only.

    >>> with Progress() as stages:
    ...     with stages("read"):
    ...         pass
    >>> list(stages.seconds)
    ['read']
    """

    def __init__(self) -> None:
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        super().__init__()
        err = console()
        self._bars = Progress(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            console=err,
            disable=not err.is_terminal,
        )

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        bar = self._bars.add_task(name, total=None)
        with super().__call__(name):
            yield
        self._bars.update(bar, total=1, completed=1)
