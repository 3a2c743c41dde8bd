"""What an engine is: two verbs on blocks of trajectories, adding up what is found in them and writing new ones.

A block is at most `CHUNK` trajectories, fewer if they are long, with its number. Where it ends depends on the
trajectories alone, never on the batches in which they came. What is random in a block draws from the child of that
number of a source, so that the result does not depend on where and in which order the blocks are worked on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from ldptrace.core.arrays import Ints
from ldptrace.core.parallel import CHUNK, map_ordered
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.tally import Tally
from ldptrace.errors import InputError
from ldptrace.io.account import Account
from ldptrace.protocol.grid import Grid
from ldptrace.simulation import Collection
from ldptrace.simulation.unit import Unit

# Points of a block at most, unless a single trajectory has more: 48 MB with their times.
POINTS = 1 << 21


def cuts(offsets: Ints) -> list[tuple[int, int]]:
    """The blocks of trajectories with these offsets, as ranges [start, stop).

    >>> cuts(np.array([0, 3, 3, 10]))
    [(0, 3)]
    >>> cuts(np.array([0, POINTS, POINTS + 1, POINTS + 2]))
    [(0, 1), (1, 3)]
    """
    found, start = [], 0
    while start < len(offsets) - 1:
        stop = max(_fitting(offsets, start, CHUNK, POINTS), start + 1)
        found.append((start, stop))
        start = stop
    return found


class Ragged(Protocol):
    """Many of something that has points: trajectories, or what is known of them."""

    @property
    def offsets(self) -> Ints: ...

    @property
    def points(self) -> int: ...

    def __len__(self) -> int: ...

    def part(self, start: int, stop: int, /) -> Self: ...

    @staticmethod
    def concat(parts: Any, /) -> Any: ...


R = TypeVar("R", bound=Ragged)


def in_blocks(batches: Iterable[R]) -> Iterator[R]:
    """Batches that come one by one, as blocks."""
    waiting: list[R] = []
    have = points = 0
    for batch in batches:
        at = 0
        while at < len(batch):
            stop = _fitting(batch.offsets, at, CHUNK - have, POINTS - points)
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
    """One after the other; a single one as it is."""
    first = parts[0]
    return first if len(parts) == 1 else first.concat(parts)


def _fitting(offsets: Ints, start: int, trajectories: int, points: int) -> int:
    """Number after the last of the trajectories from `start` on that are no more than this together."""
    last = int(np.searchsorted(offsets, offsets[start] + points, side="right")) - 1
    return min(start + trajectories, last, len(offsets) - 1)


class Sum(Protocol):
    """Something that can be added up."""

    def __add__(self, other: Self, /) -> Self: ...


T = TypeVar("T", bound=Sum)
S = TypeVar("S")
# What is found in the block of that number.
Work = Callable[[Trajectories, int], T]


class Draw(Protocol):
    """Synthetic trajectories in blocks of `CHUNK`: a model's sampler, or trajectories that were made already."""

    @property
    def count(self) -> int:
        """How many there are."""

    @property
    def trip_points(self) -> float:
        """Points of one, about."""

    def pieces(self, number: int, /) -> Iterator[Trajectories]:
        """The block of that number, in one piece or in several."""

    def trips(self) -> Trajectories:
        """All of them in memory."""


@dataclass(frozen=True, eq=False)
class Made:
    """Trajectories in memory, to be written."""

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


class Aside(ABC, Generic[S]):
    """Results of each block, kept in memory or on disk, so that they can be read any number of times."""

    @abstractmethod
    def add_up(self, work: Callable[[S, int], T], nothing: T) -> T:
        """Sum of `work` over the kept results, in the order of the blocks, starting from `nothing`."""


@dataclass(frozen=True, eq=False)
class Held(Aside[S]):
    """Kept in memory."""

    items: Sequence[S]

    def add_up(self, work: Callable[[S, int], T], nothing: T) -> T:
        if len(self.items) == 1:
            return nothing + work(self.items[0], 0)
        found = map_ordered(lambda item: work(item[1], item[0]), enumerate(self.items))
        return reduce(lambda a, b: a + b, found, nothing)


@dataclass(frozen=True, eq=False)
class _Both(Generic[S, T]):
    """Kept results of some blocks, and a sum over them."""

    items: list[S]
    total: T

    def __add__(self, other: _Both[S, T]) -> _Both[S, T]:
        return _Both(self.items + other.items, self.total + other.total)


class Crowd(ABC):
    """The trajectories of all users, in memory or in files: each plays a device."""

    @property
    @abstractmethod
    def users(self) -> int:
        """How many there are; before they were read once, how many there seem to be."""

    @property
    @abstractmethod
    def crs(self) -> str | None:
        """The coordinate system's label."""

    @property
    def timezone(self) -> str | None:
        """The zone whose clocks are local (None: UTC)."""
        return None

    @property
    def timed(self) -> bool:
        """Whether the trajectories are known to have times."""
        return False

    @property
    def provenance(self) -> Mapping[str, Any] | None:
        """What was promised about the trajectories, where they are synthetic and say so."""
        return None

    @property
    def dated(self) -> bool:
        """Whether their times are of a date, as far as is known, rather than of any day."""
        return self.timed

    @property
    def read(self) -> int:
        """How many trajectories were read, those of users included that were not chosen."""
        return self.users

    @property
    def account(self) -> Account:
        """What was read and what was omitted."""
        return Account(type(self).__name__, "", self.read, self.read, 0)

    @abstractmethod
    def add_up(self, work: Work[T], nothing: T) -> T:
        """The sum of what is found in the blocks, in their order, starting from `nothing`."""

    def put_aside(self, work: Callable[[Trajectories, int], tuple[S, T]], nothing: T) -> tuple[Aside[S], T]:
        """In one pass, something of each block put aside, and the sum of something else."""
        begun: _Both[S, T] = _Both([], nothing)
        both = self.add_up(lambda block, number: _both(work(block, number)), begun)
        return Held(both.items), both.total

    @abstractmethod
    def play_devices(self, unit: str, rng: np.random.Generator) -> Unit:
        """From now on one trajectory per device, as `ldptrace.simulation.unit` has it; whose promise that is."""

    def collect(self, collection: Collection) -> Tally:
        """The tally of a collection in which each trajectory is one device's."""
        return self.add_up(collection, collection.nothing)

    def whole(self) -> Trajectories:
        """All trajectories in memory, for methods that cannot do with blocks."""
        raise InputError("this method needs all trajectories in memory; read them with ldptrace.read first")

    def paths(self, grid: Grid) -> CellPaths:
        """All cell paths in memory."""
        return CellPaths.from_trajectories(self.whole(), grid)


def _both(found: tuple[S, T]) -> _Both[S, T]:
    return _Both([found[0]], found[1])


class Engine(ABC):
    """Reads crowds and writes synthetic trajectories."""

    @abstractmethod
    def write(self, draw: Draw, target: Path, labels: Mapping[str, Any], format: str | None = None) -> None:
        """Draw trajectories block by block and write them, to one file or to a folder of files.

        `labels` are what all of them have: coordinate system, provenance.
        """
