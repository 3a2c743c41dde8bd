"""Files of tables of any size, which are read table by table and any number of times.

Tables with one row per point, which may be larger than memory, are assembled into trips on disk. For that they are read
twice. The first pass finds each trip, its first row and its number of points. So the trips can be divided, in the order
of their first rows, into parts that fit into memory. The second pass writes each point to its part, and the trips of
one part after the other are put together. The result is the same as in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Ints
from ldptrace.core.columns import find_columns
from ldptrace.core.positions import positioned, rows_are_trips
from ldptrace.core.reading import Names, Reading
from ldptrace.core.tables import named
from ldptrace.core.values import numbers_of, pc, without_rows
from ldptrace.core.words import total
from ldptrace.errors import FormatError, InputError
from ldptrace.io import csv, jsonl, parquet
from ldptrace.io.account import Account, Owners, naming, of_table

# Rows of a table, unless its bytes say how many fit together.
ROWS = 1 << 18
COLUMNS, TEXTS = ("parquet", "feather"), ("csv", "jsonl")
# Trips of a table of the result.
_WRITTEN = 1 << 13
# Bytes of a point with its time, and parts that would fit into memory at a time: sorting a part takes several times
# its bytes.
POINT, PARTS = 24, 8
# Bytes of a table at least, unless a single trip has more: smaller ones take longer than they spare memory.
_PIECE = 1 << 18
# The column of trips, where each file counts its own.
OF_FILE = "trip of the file"
# Yields the tables of a file, of at most this many rows and bytes if the file can be read so.
Read = Callable[[int, int | None], Iterator[pa.Table]]


@dataclass(frozen=True)
class Source:
    """A file of tables with columns x and y, and what is known of it: the names of its columns, its number of rows,
    whether a row is a trajectory, its columns without rows, what it states of all its trajectories (the coordinate
    system, the column of users, the time zone), and how many rows are broken."""

    path: Path
    read: Read
    rows: int
    names: Names
    trips: bool
    empty: pa.Table
    crs: str | None = None
    user: str | None = None
    timezone: str | None = None
    # The number of a file whose trips are its own, also where their ids repeat; files of Parquet are one table.
    apart: int | None = None
    broken: Mapping[str, int] = field(default_factory=dict)

    def tables(self, rows: int = ROWS, most: int | None = None) -> Iterator[pa.Table]:
        """Yield tables of at most this many rows and, about, bytes."""
        for table in self.read(rows, most):
            # A Parquet file is read in about this many bytes anyway; a small rest would be a table of its own.
            large = most is not None and table.nbytes > 2 * most
            fit = min(rows, max(1, (most or 0) * table.num_rows // table.nbytes)) if large else rows
            for start in range(0, table.num_rows, fit):
                yield table.slice(start, fit)


def size(kind: str, path: Path) -> int:
    """Return the bytes of a file in memory, about."""
    return parquet.size(path)[1] if kind in COLUMNS else 2 * path.stat().st_size


def sources(kind: str, files: Sequence[Path], given: Names) -> list[Source]:
    """Open files of one kind. If geometries say whether rows are points or lines, the first of them say it for all."""
    opened: list[Source] = []
    for path in files:
        with naming(path):
            source = _source(kind, path, given, opened[0].trips if opened else None)
            own = kind in TEXTS and len(files) > 1
            opened.append(replace(source, apart=len(opened)) if own else source)
    return opened


def _source(kind: str, path: Path, given: Names, trips: bool | None) -> Source:
    broken: Mapping[str, int] = {}
    said: dict[str, Any] = {}
    read: Read
    if kind in COLUMNS:
        rows, schema, read = parquet.size(path)[0], parquet.schema_of(path), partial(parquet.batches, path)
        said = parquet.labels(schema, given)
        schema = parquet.wanted(schema)[1]
    else:
        text = csv.Text.of(path, given).settled() if kind == "csv" else jsonl.Lines.of(path, given)
        assert text.schema is not None
        rows, schema, broken, read = text.rows, text.schema, text.broken, text.tables
    columns = find_columns(schema.names, given)
    lines = rows_are_trips(schema, columns)
    if lines is None:
        first, columns = positioned(next(read(ROWS, None), without_rows(schema)), given, lines=trips)
        lines = rows_are_trips(first.schema, columns)
    empty, reading = standard(without_rows(schema), Reading(names=given), lines)
    said = {"crs": columns.crs, "user": columns.user} | {name: text for name, text in said.items() if text}

    def placed(many: int, most: int | None) -> Iterator[pa.Table]:
        return (positioned(table, given, lines=lines)[0] for table in read(many, most))

    return Source(path, placed, rows, reading.names, bool(lines), empty, **said, broken=broken)


def standard(table: pa.Table, reading: Reading, lines: bool | None = None) -> tuple[pa.Table, Reading]:
    """Return the table with its positions in columns x and y, and the options with the names of the columns then."""
    placed, columns = positioned(table, reading.names, lines=lines)
    if placed is table:
        return table, reading
    names = replace(reading.names, x=columns.x, y=columns.y, t=columns.t)
    return placed, replace(reading, names=names)


def assemble(
    sources: Sequence[Source], folder: Path, reading: Reading, memory: int
) -> tuple[list[Source], Account]:
    """Assemble trips from tables of points, in any order. Returns files of trips in order, and what was omitted."""
    trips, rows, size = _trips_in(sources, reading)
    codes, first, points = trips[:, trips[0] >= 0]
    longest = int(points.max(initial=0))
    if longest * POINT > memory:
        raise too_long(longest, memory)
    # Trips in the order of their first rows: consecutive ones of at most this many bytes, about, make a part.
    order = np.argsort(first)
    before = np.cumsum(points[order]) - points[order]
    parts = np.empty(len(codes), dtype=np.int64)
    parts[order] = before * size // max(rows, 1) // max(memory // PARTS, _PIECE)
    where = codes, np.unique(parts, return_inverse=True)[1]
    files: list[Source] = []
    names = reading.names if sources[0].apart is None else replace(reading.names, id=OF_FILE)
    unknown = int(trips[2, trips[0] < 0].sum())
    account = Account(dropped_points=total([{"no trajectory id": unknown}]))
    for part in _deal(sources, folder, reading, where):
        with pa.OSFile(str(part)) as file:
            whole, said = of_table(pa.ipc.open_stream(file).read_all(), replace(reading, names=names))
        part.unlink()
        account += Account(notes=said.notes, doubts=said.doubts, owners=Owners.of(whole))
        table = whole.to_arrow()
        # Parts must have the same columns: whether a number is an id or a further column may differ between them.
        table = table.select([name for name in ("x", "y", "t", whole.user) if name in table.column_names])
        path = part.with_name(part.name.replace("points", "trips"))
        empty = without_rows(table.schema)
        read = partial(_trips, path)
        files.append(Source(path, read, table.num_rows, Names(), True, empty, whole.crs, whole.user))
        chunk = max(_PIECE, memory // 16) * table.num_rows // max(table.nbytes, 1)
        with pa.ipc.new_stream(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=max(1, min(_WRITTEN, chunk)))
    return files, account


def _trips(path: Path, *_: int | None) -> Iterator[pa.Table]:
    """Yield tables of assembled trips."""
    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _coded(sources: Sequence[Source], reading: Reading) -> Iterator[tuple[Ints, pa.Table]]:
    """Yield the tables, each with the code of the trip of each row, which is -1 for a row without a trip."""
    for source in sources:
        with naming(source.path):
            for table in source.tables():
                columns = find_columns(table.column_names, reading.names)
                if columns.id is None:
                    raise FormatError("no column says which trajectory a point belongs to")
                if source.apart is not None:
                    ids = table[columns.id].cast(pa.string())
                    table = table.append_column(
                        OF_FILE, pc.binary_join_element_wise(str(source.apart), ids, " ")
                    )
                    columns = replace(columns, id=OF_FILE)
                codes = np.zeros(table.num_rows, dtype=np.int64)
                # Users may count their own trips: a trip is known by both.
                for name in dict.fromkeys((columns.user, columns.id)):
                    if name is not None:
                        codes = (codes * 0x9E3779B1 + hashed(table[name])) & np.iinfo(np.int64).max
                yield np.where(named(table, columns), codes, -1), table


def _trips_in(sources: Sequence[Source], reading: Reading) -> tuple[Ints, int, int]:
    """Return the codes of all trips in order, and in two more rows the first row and the number of points of each; then
    the numbers of rows and of bytes of all tables."""
    trips, waiting = np.zeros((3, 0), dtype=np.int64), list[Ints]()
    rows = size = 0
    for codes, table in _coded(sources, reading):
        known, first, points = np.unique(codes, return_index=True, return_counts=True)
        waiting.append(np.stack([known, first + rows, points]))
        rows, size = rows + len(codes), size + table.nbytes
        if sum(part.shape[1] for part in waiting) > max(trips.shape[1], 1 << 16):
            trips, waiting = _merged([trips, *waiting]), []
    return _merged([trips, *waiting]), rows, size


def _merged(parts: Sequence[Ints]) -> Ints:
    """Return each trip of several parts once. Tables come in order, so its first entry has its first row."""
    every = np.concatenate(parts, axis=1)
    codes, first, place = np.unique(every[0], return_index=True, return_inverse=True)
    points = np.bincount(place, every[2], len(codes)).astype(np.int64)
    return np.stack([codes, every[1, first], points])


def _deal(sources: Sequence[Source], folder: Path, reading: Reading, where: tuple[Ints, Ints]) -> list[Path]:
    """Write each row to the part of its trip, and return the files of the parts in order."""
    known, part_of = where
    paths = [folder / f"points-{part}.arrow" for part in range(int(part_of.max(initial=-1)) + 1)]
    writers: dict[int, pa.ipc.RecordBatchStreamWriter] = {}
    with ExitStack() as opened:
        for codes, table in _coded(sources, reading):
            rows = np.flatnonzero(codes >= 0)
            part = part_of[np.searchsorted(known, codes[rows])]
            order = np.argsort(part, kind="stable")
            table = table.take(pa.array(rows[order])) if len(rows) < len(codes) or len(paths) > 1 else table
            ends = np.searchsorted(part[order], np.arange(len(paths) + 1))
            for number in np.flatnonzero(np.diff(ends)).tolist():
                if number not in writers:
                    writer = pa.ipc.new_stream(str(paths[number]), table.schema)
                    writers[number] = opened.enter_context(writer)
                writers[number].write_table(table.slice(ends[number], ends[number + 1] - ends[number]))
    return paths


def too_long(points: int, memory: int) -> InputError:
    """Return the message about a trajectory that is larger than the memory."""
    return InputError(
        f"one trajectory has {points:,} points, {points * POINT / 2**20:,.0f} MB, and the limit is "
        f"{memory / 2**20:,.0f} MB: raise the limit with --memory, or split trajectories first with "
        "ldptrace convert --split-gap"
    )


def hashed(column: pa.ChunkedArray) -> Ints:
    """Return a number for each value. Equal values have equal numbers, and missing values have a number too."""
    if pa.types.is_integer(column.type) and not column.null_count:
        values = numbers_of(column.cast(pa.int64())).astype(np.uint64)
        mixed = (values ^ (values >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
        return (mixed >> np.uint64(2)).astype(np.int64)
    encoded = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
    numbers = np.array(
        [
            int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8).digest(), "big") >> 2
            for value in encoded.dictionary.to_pylist()
        ],
        dtype=np.int64,
    )
    return numbers[numbers_of(encoded.indices)]
