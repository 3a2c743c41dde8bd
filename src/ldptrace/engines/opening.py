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
from ldptrace.engines.files import Files, open_batches
from ldptrace.engines.local import Memory, write_drawn
from ldptrace.errors import InputError
from ldptrace.io.files import read_with_account


def open_crowd(
    real: Any, reading: Reading, running: Running, resources: ExitStack, *, passes: bool = True
) -> tuple[Crowd, Writer]:
    """Open the trajectories, and return them with what writes synthetic ones where the work runs.

    If `passes` is false, the method needs all trajectories in memory.
    """
    named = isinstance(real, str | os.PathLike)
    if running.spark:
        if not named or reading.bounds is None or not passes:
            raise InputError(
                "a cluster needs the name of its input, public bounds, and a method with a model"
            )
        (crowd,), write = open_on_cluster([(real, reading)], resources)
        return crowd, write
    if named and passes and reading.bounds is not None:
        found = open_files(
            Path(real), reading, resources, memory=running.bytes, always=running.batches, trips=True
        )
        if found is not None:
            return found, write_drawn
    return Memory(*read_with_account(real, reading)), write_drawn


def open_files(path: Path, reading: Reading, resources: ExitStack, **how: Any) -> Files | None:
    """Open tables batch by batch (`ldptrace.engines.files.open_batches`), until the resources are closed."""
    found = open_batches(path, reading, **how)
    if found is not None:
        resources.callback(found.close)
    return found


def open_on_cluster(
    sources: Sequence[tuple[str | os.PathLike[str], Reading]], resources: ExitStack
) -> tuple[list[Crowd], Writer]:
    """Open several inputs on one cluster, which is left when the resources are closed."""
    from ldptrace.engines.spark import Spark, address
    from ldptrace.engines.spark_crowd import SparkCrowd

    spark = resources.enter_context(Spark.start())
    return [SparkCrowd(spark, address(path), reading) for path, reading in sources], spark.write
