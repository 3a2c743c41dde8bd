"""Open trajectories in memory, in files batch by batch, or on a cluster."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ldptrace.core.reading import Reading
from ldptrace.core.running import Running
from ldptrace.engines.base import Crowd, Engine
from ldptrace.engines.local import Files, Local, Memory
from ldptrace.errors import InputError
from ldptrace.io.batches import open_batches
from ldptrace.io.files import read_with_account


def open_crowd(
    real: Any, reading: Reading, running: Running, resources: ExitStack, *, passes: bool = True
) -> tuple[Crowd, Engine]:
    """Open the trajectories, and return them with the engine that works on them.

    If `passes` is false, the method needs all trajectories in memory.
    """
    named = isinstance(real, str | os.PathLike)
    if running.spark:
        if not named or reading.bounds is None or not passes:
            raise InputError(
                "a cluster needs the name of its input, public bounds, and a method with a model"
            )
        from ldptrace.engines.spark import Spark, address
        from ldptrace.engines.spark_crowd import SparkCrowd

        spark = resources.enter_context(Spark.start())
        return SparkCrowd(spark, address(real), reading), spark
    if named and passes and reading.bounds is not None:
        found = open_batches(Path(real), reading, memory=running.bytes, always=running.batches, trips=True)
        if found is not None:
            resources.callback(found.close)
            return Files(found), Local()
    return Memory(*read_with_account(real, reading)), Local()
