"""Open trajectories in memory, in files batch by batch, or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ldptrace.core.reading import Reading
from ldptrace.core.running import Running
from ldptrace.engines.base import Crowd, Writer
from ldptrace.engines.files import open_batches
from ldptrace.engines.local import Memory, write_drawn
from ldptrace.errors import InputError
from ldptrace.io.files import read_with_account


def open_crowd(
    real: Any, reading: Reading, running: Running, resources: ExitStack, *, passes: bool = True
) -> tuple[Crowd, Writer]:
    """Open the trajectories, and return them with what writes synthetic ones where the work runs.

    If `passes` is false, the method needs all trajectories in memory.
    """
    if isinstance(real, str | os.PathLike) and passes and reading.bounds is not None:
        (found,), write = open_sources(
            [(real, reading)], running, resources, always=running.batches, trips=True
        )
        return Memory(*read_with_account(real, reading)) if found is None else found, write
    if running.spark:
        raise InputError("a cluster needs the name of its input, public bounds, and a method with a model")
    return Memory(*read_with_account(real, reading)), write_drawn


def open_sources(
    sources: Sequence[tuple[str | os.PathLike[str], Reading]],
    running: Running,
    resources: ExitStack,
    **how: bool,
) -> tuple[Sequence[Crowd | None], Writer]:
    """Open several inputs where the work runs, until the resources are closed: on one cluster, or batch by batch as
    `ldptrace.engines.files.open_batches` does. None stands for an input that fits into its share of the memory."""
    if not running.spark:
        found: list[Crowd | None] = []
        for path, reading in sources:
            files = open_batches(Path(path), reading, memory=int(running.memory) // len(sources), **how)
            if files is not None:
                resources.callback(files.close)
            found.append(files)
        return found, write_drawn
    if any(reading.split_gap is not None for _, reading in sources):
        raise InputError("--split-gap needs the trips in memory: convert them first, or use --engine local")
    from ldptrace.engines.spark import Spark, address
    from ldptrace.engines.spark_crowd import SparkCrowd

    spark = resources.enter_context(Spark.start())
    return [SparkCrowd(spark, address(path), reading) for path, reading in sources], spark.write
