"""Commands that read trajectories: the options of reading, and sets in memory, in blocks, or on Spark."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ldptrace.cli.common import note
from ldptrace.cli.options import with_options
from ldptrace.core.reading import Names, Reading
from ldptrace.core.running import Running

if TYPE_CHECKING:
    from ldptrace.core.trajectories import Trajectories
    from ldptrace.engines.base import Crowd

# `convert` alone omits short trips: elsewhere every trip plays a device, and every device answers.
with_reading: Callable[..., Callable[[Callable[..., None]], Callable[..., None]]] = partial(
    with_options, without=("min_points",), reading=Reading
)


def read_input(path: Path, reading: Reading, *, private: bool = False) -> Trajectories:
    """Read a file of trips, and print in one line what was kept and what was omitted. The trips of a simulation are
    `private`."""
    from ldptrace.io.files import read_with_account, refuse_unnamed_users

    trajectories, account = read_with_account(path, reading)
    note(account.line())
    if private:
        refuse_unnamed_users(trajectories, account.source)
    return trajectories


def unnamed(reading: Reading) -> Reading:
    """Return the options for a second file, whose columns have their usual names and which is not cut at gaps."""
    return replace(reading, names=Names(), split_gap=None)


def open_sets(
    running: Running, real: Path, synthetic: list[Path], reading: Reading, resources: ExitStack
) -> list[Crowd | Trajectories]:
    """Open the real set and the synthetic sets, in memory if they fit.

    The memory is divided between the sets. The sets are not cut at the bounds of the comparison. Named columns and
    `--split-gap` apply to the real set only.
    """
    from ldptrace.engines.opening import open_sources

    reading = replace(reading, bounds=None)
    wanted = [(real, reading), *((path, unnamed(reading)) for path in synthetic)]
    found, _ = open_sources(wanted, running, resources)
    return [crowd or read_input(*each) for crowd, each in zip(found, wanted, strict=True)]
