"""Where the trajectories of a command are and where the work runs: in memory, block by block, on a cluster."""

from __future__ import annotations

from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ldptrace.cli.common import read_input
from ldptrace.errors import InputError

if TYPE_CHECKING:
    from ldptrace.core.columns import Names
    from ldptrace.core.trajectories import Trajectories
    from ldptrace.engines.base import Crowd
    from ldptrace.engines.base import Engine as Runner
    from ldptrace.protocol.grid import Bounds


class Engine(StrEnum):
    """Where the work runs."""

    local = "local"
    spark = "spark"


EngineOption = Annotated[
    Engine, typer.Option("--engine", help="Where the work runs: on this machine, or on a Spark cluster.")
]
MemoryOption = Annotated[
    str,
    typer.Option("--memory", help="Points in memory at a time, such as 512M or 2G: files may be larger."),
]
MEMORY = "512M"


def open_crowd(
    engine: Engine, source: Path, bounds: Bounds | None, resources: ExitStack, **reading: Any
) -> tuple[Crowd | None, Runner]:
    """The trajectories where they are, and the engine to work there; None where they are better read as a whole."""
    from ldptrace.engines.local import Files, Local
    from ldptrace.io.batches import open_batches

    if engine is Engine.spark:
        if bounds is None:
            raise InputError("on a cluster, give the public --bounds and a method with a model")
        from ldptrace.engines.spark import Spark, address
        from ldptrace.engines.spark_crowd import SparkCrowd

        spark = resources.enter_context(Spark.start())
        return SparkCrowd(spark, address(source), bounds, **reading), spark
    tables = None if bounds is None else open_batches(source, bounds=bounds, trips=True, **reading)
    if tables is None:
        return None, Local()
    resources.callback(tables.close)
    return Files(tables), Local()


def open_sets(
    engine: Engine,
    real: Path,
    synthetic: list[Path],
    resources: ExitStack,
    *,
    memory: int,
    names: Names,
    timezone: str | None = None,
    format: str | None = None,
    crs: str | None = None,
    split_gap: float | None = None,
) -> list[Crowd | Trajectories]:
    """The real set, with the columns that were named and cut at gaps, and the synthetic ones: in memory if they fit.

    The memory is divided between the sets.
    """
    from ldptrace.core.columns import Names as Unnamed
    from ldptrace.engines.local import Files
    from ldptrace.io.batches import open_batches
    from ldptrace.io.report import Reading

    columns = [names, *(Unnamed() for _ in synthetic)]
    gaps = [split_gap, *(None for _ in synthetic)]
    opened: list[Crowd | Trajectories] = []
    if engine is Engine.spark:
        if split_gap is not None:
            raise InputError(
                "--split-gap needs the trips in memory: convert them first, or use --engine local"
            )
        from ldptrace.engines.spark import Spark, address
        from ldptrace.engines.spark_crowd import SparkCrowd

        spark = resources.enter_context(Spark.start())
        for path, named in zip((real, *synthetic), columns, strict=True):
            reading = Reading(named, timezone)
            opened.append(SparkCrowd(spark, address(path), None, format=format, crs=crs, reading=reading))
        return opened
    for path, named, gap in zip((real, *synthetic), columns, gaps, strict=True):
        reading = Reading(named, timezone, single=gap is not None)
        tables = open_batches(path, format=format, crs=crs, reading=reading, memory=memory // len(columns))
        if tables is None:
            opened.append(
                read_input(path, format=format, crs=crs, names=named, timezone=timezone, split_gap=gap)
            )
        else:
            resources.callback(tables.close)
            opened.append(Files(tables))
    return opened


def bytes_of(name: str, text: str) -> int:
    """A number of bytes, perhaps in units of 1024.

    >>> bytes_of("--memory", "512M"), bytes_of("--memory", "2G")
    (536870912, 2147483648)
    """
    units = {"K": 10, "M": 20, "G": 30, "T": 40}
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in units else (text, "")
    if not number.isdigit() or int(number) == 0:
        raise InputError(f"{name} takes a number of bytes such as 512M or 2G, got {text!r}")
    return int(number) << units.get(unit, 0)
