"""The options for running: where the work runs, and in how much memory; and the stages of a run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from ldptrace.errors import InputError
from ldptrace.options import option, settle

# What epsilon protects, and whether each report is simulated.
UnitName = Literal["user", "trip"]
Mode = Literal["counts", "devices"]


def bytes_of(given: int | str) -> int:
    """Return a number of bytes, such as 512M; units are multiples of 1024.

    >>> bytes_of("512M"), bytes_of("2G"), bytes_of(1000)
    (536870912, 2147483648, 1000)
    """
    text, units = str(given), {"K": 10, "M": 20, "G": 30, "T": 40}
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].upper() in units else (text, "")
    if not number.isdigit() or int(number) == 0:
        raise InputError(f"memory must be a number of bytes such as 512M or 2G, got {text!r}")
    return int(number) << units.get(unit, 0)


@dataclass(frozen=True)
class Running:
    """Where the work runs, and how many bytes of points are in memory at a time."""

    engine: Literal["local", "spark"] = option(
        "local", help="local: run on this machine; spark: run on a Spark cluster."
    )
    memory: int | str = option(
        "512M",
        help="Memory for the points of trips, such as 512M or 2G; input files may be larger.",
        parse=bytes_of,
    )
    # Whether files that fit into the memory are worked on batch by batch all the same.
    batches: bool = False

    def __post_init__(self) -> None:
        settle(self)

    @property
    def spark(self) -> bool:
        """Whether the work runs on a cluster."""
        return self.engine == "spark"


class Stages:
    """Measures the time of each stage.

    >>> stages = Stages()
    >>> with stages("fit"):
    ...     pass
    >>> list(stages.seconds)
    ['fit']
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def tell(self, share: float) -> None:
        """Report how much of the current stage is done."""

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin
