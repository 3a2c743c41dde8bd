"""The settings of an evaluation: one record for the command and the Python function."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ldptrace.errors import InputError
from ldptrace.options import option, settle
from ldptrace.protocol.grid import Grid, checked_cells

# Cells per side of the grid on which sets are compared, as in the LDPTrace paper.
GRID = 6


def _cells(grid: int | Grid) -> int | Grid:
    return grid if isinstance(grid, Grid) else checked_cells(grid)


@dataclass(frozen=True, kw_only=True)
class Judging:
    """What an evaluation and the attacks alone have in common."""

    grid: int | Grid = option(
        GRID,
        kind=int,
        metavar="N",
        help="Number of cells per side of the grid on which metrics and attacks compare trips; it may differ from the "
        "grid of the synthetic trips.",
        check=_cells,
    )
    seed: int | None = option(
        None, help="Seed of the random numbers; equal seeds give equal results.", least=0
    )

    def __post_init__(self) -> None:
        settle(self)


@dataclass(frozen=True, kw_only=True)
class Settings(Judging):
    """What is compared, and how often.

    >>> Settings(repeat=0)
    Traceback (most recent call last):
    ...
    ldptrace.errors.InputError: repeat must be at least 1, got 0
    """

    # A road network or its file.
    roads: Any = option(
        None,
        kind=Path | None,
        metavar="NETWORK",
        help="Public road network; the scorecard then also has metrics about streets, and a comparison with trips that "
        "are drawn from the network without any report.",
    )
    tick: float | None = option(
        None,
        metavar="SECONDS",
        help="Also compare where real and synthetic travellers are every SECONDS seconds (one time step, or tick).",
        above=0,
    )
    from_tick: int = option(
        0,
        flags=("--from",),
        metavar="TICK",
        help="With --tick, number of the first time step (tick) to compare; the time steps are numbered from 0.",
        least=0,
    )
    repeat: int = option(
        3,
        help="How often the metrics with random parts (random squares for counting, random samples of the real trips) "
        "are computed; the scorecard shows mean and spread.",
        least=1,
    )
    peers: str | None = option(
        None,
        metavar="METHODS",
        help="Methods with a trusted curator, joined by commas, such as adatrace,privtrace; they are run on the real "
        "trips at the epsilon of the first synthetic set, and compared too.",
    )
    attacks: bool = option(True, help="Whether to run the attacks of `ldptrace attack`.")
    samples: bool = option(True, help="Whether the page of --html shows a few hundred real trips.")

    def __post_init__(self) -> None:
        settle(self)
        if self.tick is None and self.from_tick:
            raise InputError(
                f"a first tick to compare needs the seconds of a tick, got {self.from_tick} and no tick"
            )
