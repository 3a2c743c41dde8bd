"""Where the trajectories of a command are and where the work runs: in memory, block by block, on a cluster."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ldptrace.cli.reading import read_input, unnamed
from ldptrace.errors import InputError

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories
    from ldptrace.engines.base import Crowd
    from ldptrace.io.reading import Reading


class Engine(StrEnum):
    """Where the work runs."""

    local = "local"
    spark = "spark"


EngineOption = Annotated[
    Engine, typer.Option(help="Where the work runs: on this machine, or on a Spark cluster.")
]
MemoryOption = Annotated[
    str, typer.Option(help="Memory for points, such as 512M or 2G; files may be larger.")
]
MEMORY = "512M"


def open_sets(
    engine: Engine, real: Path, synthetic: list[Path], reading: Reading, resources: ExitStack, *, memory: int
) -> list[Crowd | Trajectories]:
    """The real set, with the columns that were named and cut at gaps, and the synthetic ones: in memory if they fit.

    The memory is divided between the sets. They are read as they are, whatever the bounds of the comparison.
    """
    from ldptrace.engines.local import Files
    from ldptrace.io.batches import open_batches

    reading = replace(reading, bounds=None)
    wanted = [(real, reading), *((path, unnamed(reading)) for path in synthetic)]
    if engine is Engine.spark:
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
    """A number of bytes, perhaps in units of 1024.

    >>> bytes_of("--memory", "512M"), bytes_of("--memory", "2G")
    (536870912, 2147483648)
    """
    units = {"K": 10, "M": 20, "G": 30, "T": 40}
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in units else (text, "")
    if not number.isdigit() or int(number) == 0:
        raise InputError(f"{name} takes a number of bytes such as 512M or 2G, got {text!r}")
    return int(number) << units.get(unit, 0)
