"""Open trajectories in memory, in files batch by batch, or on a cluster.

Files of any size are read batch by batch in bounded memory. Tables with one row per trajectory are read directly; those
with one row per point are first assembled into trips on disk (`ldptrace.io.sources`).
"""

from __future__ import annotations

import os
import pickle
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Ints
from ldptrace.core.parallel import CHUNK, map_ordered, threads
from ldptrace.core.reading import Names, Reading
from ldptrace.core.running import Running
from ldptrace.core.times import are_dates
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.words import total
from ldptrace.engines.base import Crowd, Local, S, Writer
from ldptrace.engines.local import Memory, write_drawn
from ldptrace.errors import InputError, NothingUsable
from ldptrace.io import csv, parquet
from ldptrace.io.account import Account, Parsed, naming, of_table
from ldptrace.io.clean import cleaned_part
from ldptrace.io.files import read_with_account
from ldptrace.io.formats import STDIN, locate
from ldptrace.io.sources import (
    COLUMNS,
    POINT,
    TEXTS,
    Source,
    assemble,
    hashed,
    size,
    sources,
    too_long,
)
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.simulation.unit import Trips, Unit, one_each, trip_counts, unit_of, with_counts

# Bytes of points that are in memory at a time, by default.
MEMORY = 1 << 29
# Bytes of a batch at most, and batches that wait where few threads work: fresh memory takes longer to get than points
# to read, so batches are small, and what they took is used again.
BATCH, WAITING = 1 << 23, 8
# Trajectories that tell whether times have dates.
FEW = 64


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


@dataclass(eq=False)
class Files(Local):
    """The cleaned trajectories of a file or folder, which are read again in every pass. After a choice, each user has
    one trajectory.

    `expected` is the number of trajectories, including those that will be omitted. After a pass, `account` says what
    was kept. `close` removes temporary files.
    """

    source: Path
    format: str
    expected: int
    crs: str | None
    user: str | None
    # Files with one row per trajectory, and bytes of points in memory at a time.
    files: Sequence[Source]
    memory: int
    reading: Reading
    aside: ExitStack = field(default_factory=ExitStack)
    # Whether the files say that no trajectory leaves the bounds.
    inside: bool = False
    # Whether there is a column of times, by the columns and their types alone.
    timed: bool = False
    # What the files say of all their trajectories: the zone of their clocks, and what was promised about them.
    timezone: str | None = None
    provenance: Mapping[str, Any] | None = None
    # What was found while points were assembled into trips.
    assembled: Account = field(default_factory=Account)
    # Who of each batch was chosen, and how many trips the user of each trajectory has.
    _chosen: list[Flags] | None = None
    _counts: list[Ints] | None = None
    _passed: Account | None = None
    waiting, shelf = 3, OnDisk

    @property
    def share(self) -> int:
        """Bytes of a batch. The memory holds a batch that is read, one that waits, and one for every thread."""
        return min(self.memory // (threads() + 2) // 2, BATCH)

    def close(self) -> None:
        """Remove temporary files."""
        self.aside.close()

    def __iter__(self) -> Iterator[Trajectories]:
        """Yield the cleaned trajectories of each batch, which may be none."""
        return self.map(lambda batch, _: batch)

    def map(self, work: Callable[[Trajectories, int], S]) -> Iterator[S]:
        """Yield the result of `work` for each batch and its number, in order. Threads clean the batches and do the
        work.

        A batch has the same number in every pass.
        """

        def made(numbered: tuple[int, tuple[Path, pa.Table]]) -> tuple[Account, S]:
            number, table = numbered
            trajectories, account = self._cleaned(*table)
            return account.finished(trajectories), work(trajectories, number)

        whole = replace(self.assembled, source=str(self.source), format=self.format)
        waiting = max(2 * threads(), min(WAITING, self.memory // (4 * self.share)))
        for account, result in map_ordered(made, enumerate(self._tables(CHUNK)), waiting):
            whole = whole + account
            yield result
        if whole.nothing_left:
            self._refuse()
        self._passed = whole

    def _refuse(self) -> None:
        """Raise the error that no trajectory can be used, with the reason for as many trajectories as fit into
        memory."""
        tables: list[pa.Table] = []
        for _, table in self._tables(CHUNK):
            if sum(part.nbytes for part in tables) + table.nbytes > self.memory:
                break
            tables.append(table)
        if tables:
            whole = pa.concat_tables(tables, promote_options="permissive")
            self._cleaned(self.files[0].path, whole, whole=True)
        raise NothingUsable(f"{self.source}: there are no trajectories in it")

    def first(self) -> Trajectories:
        """Return the first trajectory that has points and a time."""
        for table in self._tables(FEW):
            batch, _ = self._cleaned(*table)
            if batch.t is not None and len(known := np.flatnonzero(np.isfinite(batch.t))):
                return batch.take([np.searchsorted(batch.offsets, known[0], side="right") - 1])
        return Trajectories.concat([])

    def _tables(self, rows: int) -> Iterator[tuple[Path, pa.Table]]:
        """Yield tables with one row per trajectory, each with its file."""
        for source in self.files:
            with naming(source.path):
                for table in source.tables(rows, self.share):
                    yield source.path, table

    def _cleaned(self, path: Path, table: pa.Table, *, whole: bool = False) -> Parsed:
        with naming(path):
            parsed = of_table(table, self.reading)
            longest = int(parsed[0].sizes.max(initial=0))
            if longest * POINT > self.memory:
                raise too_long(longest, self.memory)
        with naming(self.source):
            return cleaned_part(parsed, self.reading, self.crs, self.timezone, self.user, whole=whole)

    @property
    def users(self) -> int:
        if self._chosen is not None:
            return sum(int(np.count_nonzero(chosen)) for chosen in self._chosen)
        return self.expected if self._passed is None else self._passed.trajectories

    @cached_property
    def dated(self) -> bool:
        # One trajectory with times shows it.
        return are_dates(self.first().t)

    @property
    def account(self) -> Account:
        return self._passed or Account(str(self.source), self.format)

    def play_devices(self, unit: str, rng: np.random.Generator) -> Unit:
        """Draw one trajectory of each user or of each trip at random. Later passes read only these trajectories."""
        whose = unit_of(unit, self.user)
        by_user = whose.name == "user"
        if not by_user and self.inside:
            # No trip was cut, so nothing is drawn.
            return whose
        with_points, users, trips = zip(*self.map(partial(_whose, by_user)), strict=True)
        borders, filled = np.cumsum([len(batch) for batch in with_points]), np.concatenate(with_points)
        whole = ragged.joined_pieces([len(batch) for batch in with_points], trips)
        everyone = np.concatenate(users) if by_user else None
        chosen = one_each(everyone, whole, rng, filled)
        if chosen is not None:
            self._chosen = np.split(np.isin(np.arange(len(filled)), chosen), borders[:-1])
        if everyone is not None:
            self._counts = np.split(trip_counts(everyone, whole, filled), borders[:-1])
        return whose

    def _devices(self, work: Callable[[Trajectories], S]) -> Iterator[S]:
        """Yield the results of `work` on the batches of chosen trajectories, in order."""
        chosen, counts = self._chosen, self._counts

        def of_batch(batch: Trajectories, number: int) -> S:
            batch = replace(batch, extra=None, user=None, trips=None)
            if counts is not None:
                batch = with_counts(batch, counts[number])
            return work(batch if chosen is None else batch.take(chosen[number]))

        return self.map(of_batch)

    def batches(self) -> Iterator[Trajectories]:
        return self._devices(lambda batch: batch)

    def trips(self, grid: Grid) -> Iterator[Trips]:
        # Points are left behind batch by batch, before there is a block of what is known of them.
        return self._devices(lambda batch: Trips.of(batch, grid))


def _whose(by_user: bool, batch: Trajectories, number: int) -> tuple[Flags, Ints, Ints | None]:
    """Return which trajectories of a batch have points, the number of each user, and the trips they are pieces of.

    Equal users have equal numbers. A trip without a named user has a user of its own, with a negative number.
    """
    if not by_user or batch.extra is None or batch.user is None:
        return batch.sizes > 0, np.empty(0, dtype=np.int64), batch.trips
    column = batch.extra[batch.user]
    alone = -1 - (np.arange(len(batch)) if batch.trips is None else batch.trips) - (number << 32)
    return batch.sizes > 0, np.where(column.is_null().to_numpy(), alone, hashed(column)), batch.trips


def open_batches(
    path: Path,
    reading: Reading | None = None,
    *,
    memory: int = MEMORY,
    always: bool = False,
    trips: bool = False,
) -> Files | None:
    """Open the tables at `path` in batches. Returns None if they fit into memory or are not tables.

    With `always`, tables that fit into memory are opened too. With `trips`, tables with one row per trajectory are
    too.
    """
    reading = reading or Reading()
    if str(path) == STDIN or not (path.is_dir() or path.is_file()) or reading.single or path.suffix == ".zip":
        return None
    kind, files = locate(path, reading.format)
    if kind.name not in (*COLUMNS, *TEXTS):
        return None
    # Only these say without being read whether a row is a trajectory, and where all points are.
    columnar = kind.name in COLUMNS
    with naming(files[0]):
        large = always or sum(size(kind.name, file) for file in files) > memory
        lists = parquet.lists_of(files[0], reading.names) if columnar else None
        if not large and not (trips and lists):
            return None
        if kind.name == "csv" and csv.Text.of(files[0]).is_porto:
            return None
    opened = sources(kind.name, files, reading.names)
    first, reading = opened[0], replace(reading, names=opened[0].names)
    assembled = Account(doubts=total([source.broken for source in opened]))
    crs, user = first.crs, reading.names.user or first.user
    with naming(files[0]), ExitStack() as aside:
        if not first.trips:
            folder = Path(aside.enter_context(tempfile.TemporaryDirectory(prefix="ldptrace-")))
            opened, account = assemble(opened, folder, reading, memory)
            for trips_file in opened[:1]:
                crs, user = crs or trips_file.crs, reading.names.user or trips_file.user
            assembled, reading = account + assembled, replace(reading, names=Names())
        return Files(
            path,
            kind.name,
            sum(source.rows for source in opened),
            reading.crs or crs,
            user,
            opened,
            memory,
            reading,
            aside.pop_all(),
            timed=bool(opened) and of_table(opened[0].empty, reading)[0].t is not None,
            inside=_inside(parquet.extent(files, *lists) if lists else None, reading),
            timezone=reading.timezone or first.timezone,
            provenance=parquet.promise(files) if columnar else None,
            assembled=assembled,
        )


def _inside(extent: Bounds | None, reading: Reading) -> bool:
    """Whether it is known before reading that the bounds remove no trajectory."""
    if reading.bounds is None or reading.outside == "clamp":
        return True
    if extent is None:
        return False
    (x0, y0, x1, y1), (left, low, right, high) = extent, reading.bounds
    return left <= x0 and low <= y0 and x1 <= right and y1 <= high


def open_crowd(
    real: Any, reading: Reading, running: Running, resources: ExitStack, *, passes: bool = True
) -> tuple[Crowd, Writer]:
    """Open the trajectories, and return them with what writes synthetic ones where the work runs.

    If `passes` is false, the method needs all trajectories in memory.
    """
    if isinstance(real, str | os.PathLike) and passes and reading.bounds is not None:
        (crowd,), write = open_sources(
            [(real, reading)], running, resources, always=running.batches, trips=True
        )
        return Memory(*read_with_account(real, reading)) if crowd is None else crowd, write
    if running.spark:
        raise InputError("a cluster needs the name of its input, public bounds, and a method with a model")
    return Memory(*read_with_account(real, reading)), write_drawn


def open_sources(
    inputs: Sequence[tuple[str | os.PathLike[str], Reading]],
    running: Running,
    resources: ExitStack,
    **how: bool,
) -> tuple[Sequence[Crowd | None], Writer]:
    """Open several inputs where the work runs, until the resources are closed: on one cluster, or batch by batch as
    `open_batches` does. None stands for an input that fits into its share of the memory."""
    if not running.spark:
        crowds: list[Crowd | None] = []
        for path, reading in inputs:
            files = open_batches(Path(path), reading, memory=int(running.memory) // len(inputs), **how)
            if files is not None:
                resources.callback(files.close)
            crowds.append(files)
        return crowds, write_drawn
    if any(reading.split_gap is not None for _, reading in inputs):
        raise InputError("--split-gap needs the trips in memory: convert them first, or use --engine local")
    from ldptrace.engines.spark import Spark, address
    from ldptrace.engines.spark_crowd import SparkCrowd

    spark = resources.enter_context(Spark.start())
    return [SparkCrowd(spark, address(path), reading) for path, reading in inputs], spark.write
