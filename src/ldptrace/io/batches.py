"""Tables of any size, a batch at a time: what is in memory is bounded by a setting, not by the files.

Parquet with one row per trajectory is read as it is. Tables with one row per point (Parquet, CSV) are first assembled
into trips on disk (`ldptrace.io.assembly`), sorted or not.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ldptrace.core.lists import is_list
from ldptrace.core.parallel import CHUNK, threads
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import NothingUsable
from ldptrace.io import csv, parquet
from ldptrace.io.assembly import POINT, assemble, too_long, trips
from ldptrace.io.clean import clean
from ldptrace.io.formats import locate
from ldptrace.io.report import Parsed, Reading, ReadReport, naming, total
from ldptrace.io.sources import STDIN
from ldptrace.protocol.grid import Bounds

# Bytes of points that are in memory at a time, unless told otherwise.
MEMORY = 1 << 29


@dataclass
class Batches:
    """The trajectories of a file or a folder, cleaned, a batch at a time, any number of times.

    `expected` is how many there are, those included that will be left out; after a pass, `report` says what was
    kept. Close it to remove what was put aside on disk.
    """

    source: Path
    format: str
    expected: int
    crs: str | None
    user: str | None
    # Files with one row per trajectory, and bytes of points in memory at a time.
    files: Sequence[Path]
    memory: int
    reading: Reading
    aside: ExitStack
    bounds: Bounds | None = None
    outside: str = "drop"
    # What the files say of all their trajectories: the zone of their clocks, and what was promised about them.
    timezone: str | None = None
    provenance: Mapping[str, Any] | None = None
    report: ReadReport | None = None

    @property
    def share(self) -> int:
        """Bytes of a batch: one is read, one waits, and every thread has one."""
        return self.memory // (threads() + 2) // 2

    def close(self) -> None:
        """Remove what was put aside."""
        self.aside.close()

    def __iter__(self) -> Iterator[Trajectories]:
        """Cleaned trajectories of each batch; those of a batch may be none."""
        rows = kept = points = 0
        dropped: dict[str, int] = {}
        dropped_points: dict[str, int] = {}
        first: Parsed | None = None
        for parsed in self._parsed():
            first = first or parsed
            with naming(self.source):
                found = clean(parsed, bounds=self.bounds, outside=self.outside, min_points=1, whole=False)
            rows += parsed.rows
            kept, points = kept + len(found.trajectories), points + found.trajectories.points
            dropped = total([dropped, found.dropped])
            dropped_points = total([dropped_points, found.dropped_points])
            yield found.trajectories
        if kept == 0:
            # Nothing can be used; the first batch says why.
            if first is not None:
                with naming(self.source):
                    clean(first, bounds=self.bounds, outside=self.outside, min_points=1)
            raise NothingUsable(f"{self.source}: there are no trajectories in it")
        self.report = ReadReport(str(self.source), self.format, rows, kept, points, dropped, dropped_points)

    def _parsed(self) -> Iterator[Parsed]:
        for path in self.files:
            with naming(path):
                tables = trips(path) if path.suffix == ".arrow" else parquet.batches(path, CHUNK, self.share)
                for table in tables:
                    parsed = parquet.of_table(table, self.reading)
                    check_longest(parsed.trajectories, self.memory)
                    kept = replace(
                        parsed.trajectories,
                        crs=self.crs,
                        ids=None,
                        provenance=None,
                        user=self.user,
                        timezone=self.timezone,
                    )
                    if self.user is None or kept.extra is None:
                        kept = replace(kept, extra=None, user=None)
                    else:
                        kept = replace(kept, extra=kept.extra.select([self.user]))
                    yield replace(parsed, trajectories=kept)


def check_longest(trajectories: Trajectories, memory: int) -> None:
    """A single trajectory that is larger than the memory is told: nothing can be done with a part of it."""
    longest = int(trajectories.sizes.max()) if len(trajectories) else 0
    if longest * POINT > memory:
        raise too_long(longest, memory)


def open_batches(
    path: Path,
    *,
    format: str | None = None,
    crs: str | None = None,
    bounds: Bounds | None = None,
    outside: str = "drop",
    reading: Reading | None = None,
    memory: int = MEMORY,
    always: bool = False,
) -> Batches | None:
    """The tables at `path` in batches; None where they fit into the memory, or are no tables.

    With `always`, tables that fit are opened all the same.
    """
    reading = reading or Reading()
    if str(path) == STDIN or not (path.is_dir() or path.is_file()) or reading.single or path.suffix == ".zip":
        return None
    kind, files = locate(path, format)
    if kind.name not in ("parquet", "csv"):
        return None
    size = sum(parquet.size(file) if kind.name == "parquet" else 2 * file.stat().st_size for file in files)
    if size <= memory and not always:
        return None
    with ExitStack() as aside, naming(files[0]):
        if kind.name == "parquet":
            schema = pq.read_schema(files[0])
            own = parquet.labels(schema)
            if own.x is not None and is_list(schema.field(own.x).type):
                rows = sum(pq.read_metadata(file).num_rows for file in files)
                return Batches(
                    path,
                    kind.name,
                    rows,
                    crs or own.crs,
                    reading.names.user or own.user,
                    files,
                    memory,
                    reading,
                    aside.pop_all(),
                    bounds,
                    outside,
                    reading.timezone or own.timezone,
                    parquet.promise(files),
                )
            tables = ((file, lambda file=file: parquet.batches(file, 1 << 18)) for file in files)
            groups = [list(tables)]
        else:
            own = parquet.Labels(None, crs, None, None)
            if csv.is_porto(files[0]):
                return None
            groups = [[(file, lambda file=file: csv.batches(file))] for file in files]
        folder = Path(aside.enter_context(tempfile.TemporaryDirectory(prefix="ldptrace-")))
        found = assemble(groups, folder, reading, memory)
        return Batches(
            path,
            kind.name,
            found.trips,
            crs or own.crs or found.crs,
            reading.names.user or found.user,
            found.files,
            memory,
            Reading(timezone=reading.timezone),
            aside.pop_all(),
            bounds,
            outside,
            reading.timezone or own.timezone,
            None if kind.name == "csv" else parquet.promise(files),
        )
