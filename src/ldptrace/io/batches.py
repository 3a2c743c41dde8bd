"""Read tables of any size batch by batch, in bounded memory.

Tables with one row per trajectory are read directly. Tables with one row per point are first assembled into trips on
disk (`ldptrace.io.assembly`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ldptrace.core.parallel import CHUNK, map_ordered, threads
from ldptrace.core.reading import Names, Reading
from ldptrace.core.trajectories import Trajectories
from ldptrace.core.words import total
from ldptrace.errors import NothingUsable
from ldptrace.io import csv, parquet
from ldptrace.io.account import Account, Parsed, naming, of_table
from ldptrace.io.assembly import POINT, assemble, too_long
from ldptrace.io.clean import cleaned_part
from ldptrace.io.formats import STDIN, locate
from ldptrace.io.sources import COLUMNS, TEXTS, Source, size, sources
from ldptrace.protocol.grid import Bounds

T = TypeVar("T")
# Bytes of points that are in memory at a time, by default.
MEMORY = 1 << 29
# Bytes of a batch at most, and batches that wait where few threads work: fresh memory takes longer to get than points
# to read, so batches are small, and what they took is used again.
BATCH, WAITING = 1 << 23, 8
# Trajectories that tell whether times have dates.
FEW = 64


@dataclass
class Batches:
    """The cleaned trajectories of a file or folder, batch by batch. They can be read several times.

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
    # What the files say of all their trajectories: the zone of their clocks, and what was promised about them.
    timezone: str | None = None
    provenance: Mapping[str, Any] | None = None
    account: Account | None = None
    # What was found while points were assembled into trips.
    assembled: Account = field(default_factory=Account)

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

    def map(self, work: Callable[[Trajectories, int], T]) -> Iterator[T]:
        """Yield the result of `work` for each batch and its number, in order. Threads clean the batches and do the
        work.

        A batch has the same number in every pass.
        """

        def made(numbered: tuple[int, tuple[Path, pa.Table]]) -> tuple[Account, T]:
            number, table = numbered
            found = self._cleaned(*table)
            account = Account.of(str(self.source), self.format, found)
            return account, work(found.trajectories, number)

        whole = replace(self.assembled, source=str(self.source), format=self.format)
        waiting = max(2 * threads(), min(WAITING, self.memory // (4 * self.share)))
        for account, result in map_ordered(made, enumerate(self._tables(CHUNK, self.share)), waiting):
            whole = whole + account
            yield result
        if whole.nothing_left:
            self._refuse()
        self.account = whole

    def _refuse(self) -> None:
        """Raise the error that no trajectory can be used, with the reason for as many trajectories as fit into
        memory."""
        tables: list[pa.Table] = []
        for _, table in self._tables(CHUNK, self.share):
            if sum(part.nbytes for part in tables) + table.nbytes > self.memory:
                break
            tables.append(table)
        if tables:
            whole = pa.concat_tables(tables, promote_options="permissive")
            self._cleaned(self.files[0].path, whole, whole=True)
        raise NothingUsable(f"{self.source}: there are no trajectories in it")

    @cached_property
    def timed(self) -> bool:
        """Whether there is a column of times, by the columns and their types alone."""
        return of_table(self.files[0].empty, self.reading).trajectories.t is not None

    def first(self) -> Trajectories:
        """Return the first trajectory that has points and a time."""
        found = (self._cleaned(*table).trajectories for table in self._tables(FEW, self.share))
        for batch in found:
            if batch.t is not None and len(known := np.flatnonzero(np.isfinite(batch.t))):
                return batch.take([np.searchsorted(batch.offsets, known[0], side="right") - 1])
        return Trajectories.concat([])

    def _tables(self, rows: int, most: int) -> Iterator[tuple[Path, pa.Table]]:
        """Yield tables with one row per trajectory, each with its file."""
        for source in self.files:
            with naming(source.path):
                for table in source.tables(rows, most):
                    yield source.path, table

    def _cleaned(self, path: Path, table: pa.Table, *, whole: bool = False) -> Parsed:
        with naming(path):
            parsed = of_table(table, self.reading)
            longest = int(parsed.trajectories.sizes.max(initial=0))
            if longest * POINT > self.memory:
                raise too_long(longest, self.memory)
        with naming(self.source):
            return cleaned_part(parsed, self.reading, self.crs, self.timezone, self.user, whole=whole)


def open_batches(
    path: Path,
    reading: Reading | None = None,
    *,
    memory: int = MEMORY,
    always: bool = False,
    trips: bool = False,
) -> Batches | None:
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
    # Only these say without being read whether a row is a trajectory.
    columnar = kind.name in COLUMNS
    own = parquet.Labels()
    with naming(files[0]):
        large = always or sum(size(kind.name, file) for file in files) > memory
        if columnar:
            own = parquet.labels(parquet.schema_of(files[0]), reading.names)
        if not large and not (trips and own.lists):
            return None
        if kind.name == "csv" and csv.Text.of(files[0]).is_porto:
            return None
    found = sources(kind.name, files, reading.names)
    reading = replace(reading, names=found[0].names)
    assembled = Account(doubts=total([source.broken for source in found]))
    crs, user = own.crs or found[0].crs, own.user or found[0].user
    with naming(files[0]), ExitStack() as aside:
        if not found[0].trips:
            folder = Path(aside.enter_context(tempfile.TemporaryDirectory(prefix="ldptrace-")))
            made = assemble(found, folder, reading, memory)
            crs, user = crs or made.crs, reading.names.user or made.user
            found, assembled = made.files, made.account + assembled
            reading = replace(reading, names=Names())
        return Batches(
            path,
            kind.name,
            sum(source.rows for source in found),
            reading.crs or crs,
            reading.names.user or user,
            found,
            memory,
            reading,
            aside.pop_all(),
            inside=_inside(parquet.extent(files, own) if columnar and own.lists else None, reading),
            timezone=reading.timezone or own.timezone,
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
