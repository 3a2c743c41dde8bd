"""What the commands share: options, reading input, notes and progress.

Results go to stdout, notes and progress to stderr; progress is drawn on a terminal only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer

from ldptrace.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from ldptrace.trajectories import Trajectories

Bounds = tuple[float, float, float, float]


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
    if not (x0 < x1 and y0 < y1):
        raise InputError(f"--bounds X0,Y0,X1,Y1 needs X0 < X1 and Y0 < Y1, got {text!r}")
    return x0, y0, x1, y1


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


class Stages:
    """Progress over the stages of a command: a spinner, or a bar where the total is known.

    `seconds` keeps how long each stage took.

    >>> with Stages() as stage:
    ...     with stage("reading"):
    ...         pass
    ...     with stage("generating", total=2) as advance:
    ...         advance(1)
    >>> list(stage.seconds)
    ['reading', 'generating']
    """

    def __init__(self) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        err = console()
        self.seconds: dict[str, float] = {}
        self._progress = Progress(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            console=err,
            disable=not err.is_terminal,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    @contextmanager
    def __call__(self, name: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
        """One stage; the value of the block advances its bar."""
        task = self._progress.add_task(name, total=total)
        started = time.perf_counter()
        yield lambda amount: self._progress.advance(task, amount)
        self.seconds[name] = time.perf_counter() - started
        self._progress.update(task, total=1, completed=1)
