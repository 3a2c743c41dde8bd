"""The interface of an engine, which works on trajectories block by block: it adds up results and writes new
trajectories.

A block has at most `CHUNK` trajectories, or fewer if they are long. Where a block ends depends on the trajectories
alone, not on the batches in which they are read. The random numbers of a block come from a source that belongs to the
number of the block. So the result does not depend on the machine or on the order of the work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from ldptrace.core.parallel import CHUNK, map_ordered
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.tally import Tally
from ldptrace.errors import InputError
from ldptrace.io.account import Account
from ldptrace.models.base import Sampler
from ldptrace.protocol.grid import Grid
from ldptrace.simulation import Collection
from ldptrace.simulation.unit import Trips, Unit

# Points of a block at most, unless a single trajectory has more: 48 MB with their times.
POINTS = 1 << 21


R = TypeVar("R", Trajectories, Trips)


def in_blocks(batches: Iterable[R]) -> Iterator[R]:
    """Divide and join batches of any size into blocks of at most `CHUNK` trajectories and about `POINTS` points."""
    waiting: list[R] = []
    have = points = 0
    for batch in batches:
        at = 0
        while at < len(batch):
            fitting = (
                int(np.searchsorted(batch.offsets, batch.offsets[at] + POINTS - points, side="right")) - 1
            )
            stop = min(at + CHUNK - have, fitting, len(batch))
            if stop == at and not waiting:
                stop = at + 1
            if stop > at:
                waiting.append(batch.part(at, stop))
                have, points, at = have + stop - at, points + waiting[-1].points, stop
            if at < len(batch):
                yield joined(waiting)
                waiting, have, points = [], 0, 0
    if waiting:
        yield joined(waiting)


def joined(parts: list[R]) -> R:
    """Join sets one after the other. A single set is returned unchanged."""
    first = parts[0]
    return first if len(parts) == 1 else first.concat(parts)


class Sum(Protocol):
    """Something that can be added."""

    def __add__(self, other: Self, /) -> Self: ...


T = TypeVar("T", bound=Sum)
S = TypeVar("S")
# What is found in the block of that number.
Work = Callable[[Trajectories, int], T]


@dataclass(frozen=True, eq=False)
class Made:
    """Trajectories that are already in memory, with the methods of a sampler."""

    trajectories: Trajectories

    @property
    def count(self) -> int:
        return len(self.trajectories)

    @property
    def trip_points(self) -> float:
        return self.trajectories.points / max(self.count, 1)

    def pieces(self, number: int) -> Iterator[Trajectories]:
        yield self.trajectories.part(number * CHUNK, min((number + 1) * CHUNK, self.count))

    def trips(self) -> Trajectories:
        return self.trajectories


# Synthetic trajectories in blocks of `CHUNK`, drawn from a model or already made.
Draw = Sampler | Made


class Aside(ABC, Generic[S]):
    """Results of each block, kept in memory or on disk, so that they can be read any number of times."""

    @abstractmethod
    def add_up(self, work: Callable[[S, int], T], nothing: T) -> T:
        """Return the sum of `work` over the stored results, in the order of the blocks. The sum starts from
        `nothing`."""


@dataclass(frozen=True, eq=False)
class Held(Aside[S]):
    """Results that are stored on this machine: in memory, or in a sequence that reads each when it is needed."""

    items: Sequence[S]

    def add_up(self, work: Callable[[S, int], T], nothing: T) -> T:
        if len(self.items) == 1:
            return nothing + work(self.items[0], 0)
        results = map_ordered(lambda number: work(self.items[number], number), range(len(self.items)))
        return reduce(lambda a, b: a + b, results, nothing)


class Crowd(ABC):
    """The trajectories of all users, in memory or in files. Each trajectory plays a device."""

    crs: str | None
    # The local time zone (None: UTC), and whether the trajectories are known to have times.
    timezone: str | None
    timed: bool
    # The privacy promise of the trajectories, if they are synthetic and have one.
    provenance: Mapping[str, Any] | None

    @property
    @abstractmethod
    def users(self) -> int:
        """The number of users. It is an estimate until the trajectories were read once."""

    @property
    @abstractmethod
    def dated(self) -> bool:
        """Whether times have a date, as far as is known. Otherwise they are times of a day."""

    @property
    @abstractmethod
    def account(self) -> Account:
        """What was read and what was omitted, also of trajectories that were not drawn for a device."""

    @abstractmethod
    def add_up(self, work: Work[T], nothing: T) -> T:
        """Return the sum of `work` over all blocks, in their order. The sum starts from `nothing`."""

    @abstractmethod
    def put_aside(self, work: Callable[[Trajectories, int], tuple[S, T]], nothing: T) -> tuple[Aside[S], T]:
        """In one pass, store one result of each block and add up another."""

    @abstractmethod
    def play_devices(self, unit: str, rng: np.random.Generator) -> Unit:
        """Choose one trajectory per device (`ldptrace.simulation.unit`). Returns the unit that epsilon protects."""

    def collect(self, collection: Collection) -> Tally:
        """Return the tally of a collection in which each trajectory plays one device."""
        return self.add_up(collection, collection.nothing)

    def whole(self) -> Trajectories:
        """Return all trajectories in memory, for methods that cannot work block by block."""
        raise InputError("this method needs all trajectories in memory; read them with ldptrace.read first")

    def paths(self, grid: Grid) -> CellPaths:
        """Return all cell paths in memory."""
        return CellPaths.from_trajectories(self.whole(), grid)


class Local(Crowd):
    """Trajectories on this machine: threads work on their blocks."""

    # Blocks in memory at a time (None: enough for all threads), and what makes a list of results.
    waiting: int | None = None
    shelf: type[Any] = list

    @abstractmethod
    def batches(self) -> Iterable[Trajectories]:
        """Yield the trajectories of all devices, in batches of any size."""

    @abstractmethod
    def trips(self, grid: Grid) -> Iterable[Trips]:
        """Yield what a collection on this grid needs of all devices, in batches of any size."""

    def _each(self, work: Callable[[Trajectories, int], S]) -> Iterator[S]:
        """Yield the result of `work` for each block, in order."""
        blocks = enumerate(in_blocks(self.batches()))
        return map_ordered(lambda block: work(block[1], block[0]), blocks, self.waiting)

    def add_up(self, work: Work[T], nothing: T) -> T:
        return reduce(lambda a, b: a + b, self._each(work), nothing)

    def put_aside(self, work: Callable[[Trajectories, int], tuple[S, T]], nothing: T) -> tuple[Aside[S], T]:
        items = self.shelf()
        for item, result in self._each(work):
            items.append(item)
            nothing = nothing + result
        return Held(items), nothing

    def collect(self, collection: Collection) -> Tally:
        blocks = enumerate(in_blocks(self.trips(collection.plan.grid)))
        tallies = map_ordered(lambda block: collection.of_trips(block[1], block[0]), blocks, waiting=3)
        return reduce(Tally.__add__, tallies, collection.nothing)


# Draws trajectories block by block and writes them to one file or to a folder of files, with the labels that all
# trajectories share (coordinate system, provenance, time zone), in a format if one is named.
Writer = Callable[[Draw, Path, Mapping[str, Any], str | None], None]
