"""This machine: blocks over threads, as many in memory as the threads need."""

from __future__ import annotations

import os
import pickle
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.parallel import CHUNK, chunks, map_ordered
from ldptrace.core.paths import CellPaths
from ldptrace.core.times import are_dates
from ldptrace.core.timing import Timing
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.tally import Tally
from ldptrace.engines.base import Aside, Crowd, Draw, Engine, S, T, Work
from ldptrace.engines.blocks import cuts, in_blocks, joined
from ldptrace.io.assembly import hashed
from ldptrace.io.atomic import atomic_path, is_stream
from ldptrace.io.batches import Batches
from ldptrace.io.files import write
from ldptrace.io.folder import PART, atomic_folder, is_folder, part_name
from ldptrace.io.formats import for_writing
from ldptrace.io.parquet import Writer
from ldptrace.protocol.grid import Grid
from ldptrace.simulation import Collection
from ldptrace.simulation.unit import Unit, one_each, play_devices, unit_of

# Blocks of a row group of a Parquet file.
_GROUP = 4
# Points that wait to be written, about: 200 MB.
_DRAWN = 1 << 23


class Memory(Crowd):
    """Trajectories in memory; their cell paths are kept, because most methods ask for them more than once."""

    def __init__(self, trajectories: Trajectories) -> None:
        self._trajectories = trajectories
        self._paths: CellPaths | None = None

    @property
    def users(self) -> int:
        return len(self._trajectories)

    @property
    def crs(self) -> str | None:
        return self._trajectories.crs

    @property
    def timezone(self) -> str | None:
        return self._trajectories.timezone

    @property
    def timed(self) -> bool:
        return self._trajectories.t is not None

    @property
    def provenance(self) -> Mapping[str, Any] | None:
        return self._trajectories.provenance

    @property
    def dated(self) -> bool:
        return are_dates(self._trajectories.t)

    def whole(self) -> Trajectories:
        return self._trajectories

    def paths(self, grid: Grid) -> CellPaths:
        if self._paths is None or self._paths.grid != grid:
            self._paths = CellPaths.from_trajectories(self._trajectories, grid)
        return self._paths

    def play_devices(self, unit: str, rng: np.random.Generator) -> Unit:
        self._trajectories, whose = play_devices(self._trajectories, unit, rng)
        return whose

    def prepare(self, grid: Grid) -> None:
        self.paths(grid)

    def add_up(self, work: Work[T], nothing: T) -> T:
        blocks = enumerate(cuts(self._trajectories.offsets))
        found = map_ordered(lambda block: work(self._trajectories.part(*block[1]), block[0]), blocks)
        return reduce(lambda a, b: a + b, found, nothing)

    def collect(self, collection: Collection) -> Tally:
        paths = self.paths(collection.plan.grid)
        blocks = enumerate(cuts(self._trajectories.offsets))
        timing = Timing.of(self._trajectories)

        def of_block(block: tuple[int, tuple[int, int]]) -> Tally:
            number, (start, stop) = block
            return collection.of_paths(paths.part(start, stop), number, timing.part(start, stop))

        return reduce(Tally.__add__, map_ordered(of_block, blocks), collection.nothing)


class Files(Crowd):
    """Trajectories in files, read anew for every pass; of each user one, where a choice was made."""

    def __init__(self, batches: Batches) -> None:
        self.batches = batches
        self._chosen: NDArray[np.bool_] | None = None
        self._users: int | None = None

    @property
    def users(self) -> int:
        return self.batches.expected if self._users is None else self._users

    @property
    def crs(self) -> str | None:
        return self.batches.crs

    @property
    def timezone(self) -> str | None:
        return self._first.timezone

    @property
    def timed(self) -> bool:
        return self._first.t is not None

    @property
    def provenance(self) -> Mapping[str, Any] | None:
        return self.batches.provenance

    @property
    def dated(self) -> bool:
        return are_dates(self._first.t)

    @cached_property
    def _first(self) -> Trajectories:
        """One of the trajectories: all have times, or none."""
        return next(batch.part(0, 1) for batch in self.batches if len(batch))

    @property
    def read(self) -> int:
        return self.batches.expected if self.batches.report is None else self.batches.report.trajectories

    @property
    def account(self) -> str:
        return "" if self.batches.report is None else self.batches.report.line()

    def play_devices(self, unit: str, rng: np.random.Generator) -> Unit:
        whose = unit_of(unit, self.batches.user)
        if whose.name == "user":
            self._choose_one_each(rng)
        return whose

    def _choose_one_each(self, rng: np.random.Generator) -> None:
        """From now on, one trajectory of each user, drawn at random."""
        codes = []
        lone = 0
        for batch in self.batches:
            assert batch.extra is not None
            assert batch.user is not None
            column = batch.extra[batch.user]
            numbers = hashed(column)
            # Who is not named is a user of their own.
            missing = column.is_null().to_numpy()
            numbers[missing] = -1 - lone - np.arange(np.count_nonzero(missing))
            lone += int(np.count_nonzero(missing))
            codes.append(numbers)
        users = np.concatenate(codes)
        del codes
        chosen = one_each(users, rng)
        self._chosen = np.zeros(len(users), dtype=np.bool_)
        self._chosen[chosen] = True
        self._users = len(chosen)

    def blocks(self) -> Iterator[tuple[Trajectories, int]]:
        """Blocks of trajectories and their numbers."""
        return ((block, number) for number, block in enumerate(in_blocks(self._taken())))

    def _taken(self) -> Iterator[Trajectories]:
        """Batches of those who take part."""
        seen = kept = 0
        for batch in self.batches:
            batch = replace(batch, extra=None, user=None)
            if self._chosen is not None:
                chosen = self._chosen[seen : seen + len(batch)]
                seen += len(batch)
                batch = batch.take(chosen)
            kept += len(batch)
            yield batch
        self._users = kept

    def add_up(self, work: Work[T], nothing: T) -> T:
        found = map_ordered(lambda block: work(*block), self.blocks(), waiting=3)
        return reduce(lambda a, b: a + b, found, nothing)

    def put_aside(self, work: Callable[[Trajectories, int], tuple[S, T]], nothing: T) -> tuple[Aside[S], T]:
        aside = OnDisk[S]()
        for item, found in map_ordered(lambda block: work(*block), self.blocks(), waiting=3):
            aside.append(item)
            nothing = nothing + found
        return aside, nothing


class OnDisk(Aside[S]):
    """Put aside in a file without a name in the temporary folder, which goes with the process, however that ends."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="ldptrace-")  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._ends = [0]

    def append(self, item: S) -> None:
        """Put one more aside."""
        data = pickle.dumps(item, protocol=5)
        self._file.write(data)
        self._ends.append(self._ends[-1] + len(data))

    def add_up(self, work: Callable[[S, int], T], nothing: T) -> T:
        self._file.flush()

        def of_block(number: int) -> T:
            start, stop = self._ends[number : number + 2]
            return work(pickle.loads(os.pread(self._file.fileno(), stop - start, start)), number)

        found = map_ordered(of_block, range(len(self._ends) - 1))
        return reduce(lambda a, b: a + b, found, nothing)


class Local(Engine):
    """The engine of this machine."""

    @staticmethod
    def write_parquet(draw: Draw, start: int, stop: int, path: Path, labels: dict[str, Any]) -> None:
        """The trajectories from number `start` to before `stop` as one file."""
        assert start % CHUNK == 0
        with Writer(path) as writer:
            group: list[Trajectories] = []
            first = start
            for block in _drawn(draw, start, stop):
                group.append(block)
                if len(group) == _GROUP or sum(item.points for item in group) >= _DRAWN:
                    first = _write_group(writer, group, first, labels)
                    group = []
            if group or first == start:
                _write_group(writer, group, first, labels)

    def write(
        self, draw: Draw, count: int, target: Path, labels: dict[str, Any], format: str | None = None
    ) -> None:
        if is_folder(target):
            with atomic_folder(target) as folder:
                for part, (start, stop) in enumerate(chunks(count, PART) or [(0, 0)]):
                    self.write_parquet(draw, start, stop, folder / part_name(part), labels)
            return
        kind = for_writing(target, format)
        if kind.name == "parquet" and not is_stream(target):
            with atomic_path(target) as temporary:
                self.write_parquet(draw, 0, count, temporary, labels)
            return
        blocks = list(_drawn(draw, 0, count))
        write(replace(Trajectories.concat(blocks), **labels), target, format=format)


def _drawn(draw: Draw, start: int, stop: int) -> Iterator[Trajectories]:
    """Blocks of the trajectories from number `start` to before `stop`."""
    blocks = ((a + start, b + start) for a, b in chunks(stop - start))
    first = next(blocks, None)
    if first is None:
        return

    def pieces(block: tuple[int, int]) -> Iterator[Trajectories]:
        return draw(block[1] - block[0], block[0] // CHUNK)

    rest = pieces(first)
    begun = next(rest)
    # Trips with many points are drawn by fewer threads, so that no more is in memory.
    waiting, dense = max(1, min(_GROUP, _DRAWN // max(begun.points, 1))), len(begun) < first[1] - first[0]
    yield begun
    del begun
    if dense:
        yield from rest
        for block in blocks:
            yield from pieces(block)
        return
    for drawn in map_ordered(lambda block: list(pieces(block)), blocks, waiting=waiting):
        yield from drawn


def _write_group(writer: Writer, group: list[Trajectories], first: int, labels: dict[str, Any]) -> int:
    """Write blocks as one row group, numbered from `first`; the number after the last."""
    whole = joined(group) if group else Trajectories.concat([])
    last = first + len(whole)
    writer.write(replace(whole, ids=np.arange(first, last), **labels))
    return last
