"""The engine of this machine: threads work on blocks, and only a few blocks are in memory at a time."""

from __future__ import annotations

import os
import pickle
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import Any

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Ints
from ldptrace.core.atomic import PART, atomic_folder, is_folder, part_name
from ldptrace.core.parallel import CHUNK, chunks, map_ordered, threads
from ldptrace.core.paths import CellPaths
from ldptrace.core.times import are_dates
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.tally import Tally
from ldptrace.engines.base import Aside, Crowd, Draw, Held, S, T, Work, cuts, in_blocks, joined
from ldptrace.io.account import Account, Parsed
from ldptrace.io.assembly import hashed
from ldptrace.io.batches import Batches
from ldptrace.io.files import write_sets
from ldptrace.io.parquet import writer as parquet_writer
from ldptrace.protocol.grid import Grid
from ldptrace.simulation import Collection
from ldptrace.simulation.unit import Trips, Unit, one_each, play_devices, trip_counts, unit_of, with_counts

# Blocks of a row group of a Parquet file: one is written while others are drawn.
_GROUP = 2
# The number of users whom nobody names.
UNNAMED = -1
# Points that wait to be written, about: 200 MB.
_DRAWN = 1 << 23


class Memory(Crowd):
    """Trajectories in memory. Their cell paths are stored, because most methods use them more than once."""

    def __init__(self, trajectories: Trajectories, account: Account | None = None) -> None:
        self._trajectories = trajectories
        self.crs, self.timezone = trajectories.crs, trajectories.timezone
        self.timed, self.provenance = trajectories.t is not None, trajectories.provenance
        self._account = account or Account.of("memory", "table", Parsed(trajectories, len(trajectories)))
        self._trips: Trips | None = None

    @property
    def users(self) -> int:
        return len(self._trajectories)

    @property
    def dated(self) -> bool:
        return are_dates(self._trajectories.t)

    @property
    def read(self) -> int:
        return self._account.trajectories

    @property
    def account(self) -> Account:
        return self._account

    def whole(self) -> Trajectories:
        return self._trajectories

    def paths(self, grid: Grid) -> CellPaths:
        return self._known(grid).paths

    def _known(self, grid: Grid) -> Trips:
        if self._trips is None or self._trips.paths.grid != grid:
            self._trips = Trips.of(self._trajectories, grid)
        return self._trips

    def play_devices(self, unit: str, rng: np.random.Generator) -> Unit:
        self._trajectories, whose = play_devices(self._trajectories, unit, rng)
        return whose

    def add_up(self, work: Work[T], nothing: T) -> T:
        return reduce(lambda a, b: a + b, self._each(work), nothing)

    def _each(self, work: Callable[[Trajectories, int], S]) -> Iterator[S]:
        """Yield the result of `work` for each block, in order."""
        blocks = enumerate(cuts(self._trajectories.offsets))
        return map_ordered(lambda block: work(self._trajectories.part(*block[1]), block[0]), blocks)

    def put_aside(self, work: Callable[[Trajectories, int], tuple[S, T]], nothing: T) -> tuple[Aside[S], T]:
        found = list(self._each(work))
        total = reduce(lambda a, b: a + b, (part for _, part in found), nothing)
        return Held([item for item, _ in found]), total

    def collect(self, collection: Collection) -> Tally:
        trips = self._known(collection.plan.grid)
        return _tally(collection, (trips.part(*cut) for cut in cuts(trips.offsets)))


class Files(Crowd):
    """Trajectories in files, which are read again in every pass. After a choice, each user has one trajectory."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches
        self.crs, self.timezone = batches.crs, batches.timezone
        self.timed, self.provenance = batches.timed, batches.provenance
        # Who of each batch was chosen.
        self._chosen: list[Flags] | None = None
        # How many trips the user of each trajectory has.
        self._counts: list[Ints] | None = None

    @property
    def users(self) -> int:
        if self._chosen is not None:
            return sum(int(np.count_nonzero(chosen)) for chosen in self._chosen)
        return self.read

    @cached_property
    def dated(self) -> bool:
        # One trajectory with times shows it.
        return are_dates(self.batches.first().t)

    @property
    def read(self) -> int:
        return self.batches.expected if self.batches.account is None else self.batches.account.trajectories

    @property
    def account(self) -> Account:
        return self.batches.account or Account(str(self.batches.source), self.batches.format)

    def play_devices(self, unit: str, rng: np.random.Generator) -> Unit:
        whose = unit_of(unit, self.batches.user)
        # How many there are says how fine a grid can be, and of a trip that was cut one piece is drawn.
        if whose.name == "user" or not self.batches.inside:
            self._choose_one_each(whose.name == "user", rng)
        return whose

    def _choose_one_each(self, by_user: bool, rng: np.random.Generator) -> None:
        """Draw one trajectory of each user or of each trip at random. Later passes read only these trajectories."""
        found, users, trips = zip(*self.batches.map(partial(_whose, by_user)), strict=True)
        sizes, filled = [len(batch) for batch in found], np.concatenate(found)
        whole = ragged.joined_pieces(sizes, trips)
        everyone = _numbered(users, whole) if by_user else None
        chosen = one_each(everyone, whole, rng, filled)
        if chosen is not None:
            taken = np.zeros(sum(sizes), dtype=np.bool_)
            taken[chosen] = True
            self._chosen = np.split(taken, np.cumsum(sizes)[:-1])
        if everyone is not None:
            self._counts = np.split(trip_counts(everyone, whole, filled), np.cumsum(sizes)[:-1])

    def _each(self, work: Callable[[Trajectories], S]) -> Iterator[S]:
        """Yield the results of `work` on the batches of chosen trajectories, in order."""
        chosen, counts = self._chosen, self._counts

        def of_batch(batch: Trajectories, number: int) -> S:
            batch = replace(batch, extra=None, user=None, trips=None)
            if counts is not None:
                batch = with_counts(batch, counts[number])
            return work(batch if chosen is None else batch.take(chosen[number]))

        return self.batches.map(of_batch)

    def blocks(self) -> Iterator[tuple[Trajectories, int]]:
        """Yield blocks of trajectories and their numbers."""
        return ((block, number) for number, block in enumerate(in_blocks(self._each(lambda batch: batch))))

    def add_up(self, work: Work[T], nothing: T) -> T:
        found = map_ordered(lambda block: work(*block), self.blocks(), waiting=3)
        return reduce(lambda a, b: a + b, found, nothing)

    def collect(self, collection: Collection) -> Tally:
        # Points are left behind batch by batch, before there is a block of what is known of them.
        grid = collection.plan.grid
        return _tally(collection, in_blocks(self._each(lambda batch: Trips.of(batch, grid))))

    def put_aside(self, work: Callable[[Trajectories, int], tuple[S, T]], nothing: T) -> tuple[Aside[S], T]:
        aside = OnDisk[S]()
        for item, found in map_ordered(lambda block: work(*block), self.blocks(), waiting=3):
            aside.append(item)
            nothing = nothing + found
        return Held(aside), nothing


def _tally(collection: Collection, blocks: Iterable[Trips]) -> Tally:
    """Return the tally of the devices in blocks."""
    found = map_ordered(lambda block: collection.of_trips(block[1], block[0]), enumerate(blocks), waiting=3)
    return reduce(Tally.__add__, found, collection.nothing)


def _whose(by_user: bool, batch: Trajectories, _: int) -> tuple[Flags, Ints, Ints | None]:
    """Return which trajectories of a batch have points, the number of each user, and the trips they are pieces of.

    Equal users have equal numbers. A trajectory without a named user has the number `UNNAMED`.
    """
    if not by_user or batch.extra is None or batch.user is None:
        return batch.sizes > 0, np.empty(0, dtype=np.int64), batch.trips
    column = batch.extra[batch.user]
    numbers = hashed(column)
    if column.null_count:
        numbers[column.is_null().to_numpy()] = UNNAMED
    return batch.sizes > 0, numbers, batch.trips


def _numbered(users: Sequence[Ints], trips: Ints | None) -> Ints:
    """Return the numbers of users. A trip without a named user gets a user of its own."""
    joined = np.concatenate(users)
    unnamed = joined == UNNAMED
    joined[unnamed] = -1 - (np.arange(len(joined)) if trips is None else trips)[unnamed]
    return joined


class OnDisk(Sequence[S]):
    """Results that are stored in an unnamed temporary file, which disappears when the process ends."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="ldptrace-")  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._ends = [0]

    def append(self, item: S) -> None:
        """Store one more result."""
        data = pickle.dumps(item, protocol=5)
        self._file.write(data)
        self._ends.append(self._ends[-1] + len(data))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: Any) -> Any:
        self._file.flush()
        start, stop = self._ends[number : number + 2]
        return pickle.loads(os.pread(self._file.fileno(), stop - start, start))


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
            found = labelled()
            first, group = first + len(found), []
            yield found
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
