"""The engine of this machine: threads work on blocks, and only a few blocks are in memory at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core.atomic import PART, atomic_folder, is_folder, part_name
from ldptrace.core.parallel import CHUNK, chunks, map_ordered, threads
from ldptrace.core.paths import CellPaths
from ldptrace.core.times import are_dates
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Draw, Local, joined
from ldptrace.io.account import Account
from ldptrace.io.files import write_sets
from ldptrace.io.parquet import writer as parquet_writer
from ldptrace.protocol.grid import Grid
from ldptrace.simulation.unit import Trips, Unit, play_devices

# Blocks of a row group of a Parquet file: one is written while others are drawn.
_GROUP = 2
# Points that wait to be written, about: 200 MB.
_DRAWN = 1 << 23


class Memory(Local):
    """Trajectories in memory. Their cell paths are stored, because most methods use them more than once."""

    def __init__(self, trajectories: Trajectories, account: Account | None = None) -> None:
        self._trajectories = trajectories
        self.crs, self.timezone = trajectories.crs, trajectories.timezone
        self.timed, self.provenance = trajectories.t is not None, trajectories.provenance
        self._account = account or Account(rows=len(trajectories)).finished(trajectories, "memory", "table")
        self._trips: Trips | None = None

    @property
    def users(self) -> int:
        return len(self._trajectories)

    @property
    def dated(self) -> bool:
        return are_dates(self._trajectories.t)

    @property
    def account(self) -> Account:
        return self._account

    def whole(self) -> Trajectories:
        return self._trajectories

    def batches(self) -> list[Trajectories]:
        return [self._trajectories]

    def paths(self, grid: Grid) -> CellPaths:
        return self.trips(grid)[0].paths

    def trips(self, grid: Grid) -> list[Trips]:
        if self._trips is None or self._trips.paths.grid != grid:
            self._trips = Trips.of(self._trajectories, grid)
        return [self._trips]

    def play_devices(self, unit: str, rng: np.random.Generator) -> Unit:
        self._trajectories, whose = play_devices(self._trajectories, unit, rng)
        return whose


def write_drawn(draw: Draw, target: Path, labels: Mapping[str, Any], format: str | None = None) -> None:
    """Draw trajectories block by block and write them to one file or to a folder of files, with these labels."""
    if is_folder(target):
        with atomic_folder(target) as folder:
            for part, (start, stop) in enumerate(chunks(draw.count, PART) or [(0, 0)]):
                write_parquet(draw, start, stop, folder / part_name(part), labels)
        return
    write_sets(numbered(_drawn(draw, 0, draw.count), labels), target, format)


def write_parquet(draw: Draw, start: int, stop: int, path: Path, labels: Mapping[str, Any]) -> None:
    """Write the trajectories from number `start` up to, but not including, `stop` as one file."""
    assert start % CHUNK == 0
    with parquet_writer(path) as write:
        for group in numbered(_drawn(draw, start, stop), labels, start):
            write(group)


def numbered(
    parts: Iterable[Trajectories], labels: Mapping[str, Any], start: int = 0
) -> Iterator[Trajectories]:
    """Yield sets, a few at a time, with these labels and consecutive numbers from `start`; at least one set."""
    group: list[Trajectories] = []
    first = start

    def labelled() -> Trajectories:
        whole = joined(group) if group else Trajectories.concat([])
        return replace(whole, ids=np.arange(first, first + len(whole)), **labels)

    for piece in parts:
        group.append(piece)
        if len(group) == _GROUP or sum(item.points for item in group) >= _DRAWN:
            batch = labelled()
            first, group = first + len(batch), []
            yield batch
    if group or first == start:
        yield labelled()


def _drawn(draw: Draw, start: int, stop: int) -> Iterator[Trajectories]:
    """Yield the pieces of the trajectories from number `start` up to, but not including, `stop`."""
    numbers = range(start // CHUNK, -(-stop // CHUNK))
    together = int(_DRAWN / (CHUNK * max(draw.trip_points, 1.0)))
    if together == 0:
        for number in numbers:
            yield from draw.pieces(number)
        return
    # Trips with many points are drawn by fewer threads, so that no more is in memory.
    for drawn in map_ordered(lambda number: list(draw.pieces(number)), numbers, min(together, 2 * threads())):
        yield from drawn
