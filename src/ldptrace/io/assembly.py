"""Assemble tables with one row per point, which may be larger than memory, into trips on disk.

The points are divided into parts by their trip, so that each part fits into memory. The trips of each part are put
together in the order of their first points, and the parts are merged in this order. The result is the same as in
memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Ints
from ldptrace.core.columns import find_columns
from ldptrace.core.reading import Reading
from ldptrace.core.tables import named
from ldptrace.core.values import numbers_of, pc
from ldptrace.errors import FormatError, InputError
from ldptrace.io.account import Account, Owners, Parsed, naming, of_table

Tables = Callable[[], Iterator[pa.Table]]

ROW = "ldptrace:row"
# Trips of a part that are read at a time when parts are merged, and trips of a table of the result.
_READ, _WRITTEN = 1 << 11, 1 << 13
# Bytes of a point with its time.
POINT = 24
# Bytes of a table at least, unless a single trip has more: smaller ones take longer than they spare memory.
_PIECE = 1 << 18


@dataclass(frozen=True)
class Assembled:
    """Files of trips in order, their number, the labels of the table, and what was omitted."""

    files: list[Path]
    trips: int
    crs: str | None
    user: str | None
    account: Account


def assemble(
    groups: Sequence[Sequence[tuple[Path, Tables]]], folder: Path, reading: Reading, memory: int
) -> Assembled:
    """Assemble trips from tables of points. All points of a trip are in one group of files, in any order."""
    files, trips_found, crs, user, account = [], 0, None, None, Account()
    for number, group in enumerate(groups):
        size = sum(path.stat().st_size for path, _ in group)
        parts = max(1, -(-8 * size // memory))
        dealt = _deal(group, folder, number, int(parts), reading)
        runs = []
        for part in dealt:
            _check_longest(part, reading, memory)
            run, parsed = _assembled(part, reading, memory // (16 * len(dealt)))
            crs, user = parsed.trajectories.crs, parsed.trajectories.user
            account += Account(
                dropped_points=parsed.dropped_points,
                notes=parsed.notes,
                doubts=parsed.doubts,
                owners=Owners.of(parsed.trajectories),
            )
            runs.append(run)
        target = folder / f"trips-{number}.arrow"
        trips_found += _merge(runs, target, memory // 16)
        files.append(target)
    return Assembled(files, trips_found, crs, user, account)


def trips(path: Path) -> Iterator[pa.Table]:
    """Yield tables of assembled trips."""
    with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _deal(
    group: Sequence[tuple[Path, Tables]], folder: Path, number: int, parts: int, reading: Reading
) -> list[Path]:
    """Write each row to the part of its trip, with the number of the row."""
    paths = [folder / f"points-{number}-{part}.arrow" for part in range(parts)]
    writers: list[pa.ipc.RecordBatchStreamWriter | None] = [None] * parts
    row = 0
    try:
        for path, tables in group:
            with naming(path):
                for table in tables():
                    columns = find_columns(table.column_names, reading.names)
                    if columns.id is None:
                        raise FormatError("no column says which trajectory a point belongs to")
                    place = hashed(table[columns.id]) % parts
                    own = pa.array(np.arange(row, row + table.num_rows))
                    row += table.num_rows
                    table = table.append_column(ROW, own)
                    order = np.argsort(place, kind="stable")
                    table = table.take(pa.array(order)) if parts > 1 else table
                    ends = np.searchsorted(place[order], np.arange(parts + 1))
                    for part in range(parts):
                        piece = table.slice(ends[part], ends[part + 1] - ends[part])
                        writer = writers[part]
                        if writer is None:
                            writer = writers[part] = pa.ipc.new_stream(str(paths[part]), table.schema)
                        writer.write_table(piece)
    finally:
        for writer in writers:
            if writer is not None:
                writer.close()
    return [path for path in paths if path.exists()]


def too_long(points: int, memory: int) -> InputError:
    """Return the message about a trajectory that is larger than the memory."""
    return InputError(
        f"one trajectory has {points:,} points, {points * POINT / 2**20:,.0f} MB, and the limit is "
        f"{memory / 2**20:,.0f} MB: raise the limit with --memory, or split trajectories first with "
        "ldptrace convert --split-gap"
    )


def _check_longest(part: Path, reading: Reading, memory: int) -> None:
    """Raise an error if a part is larger than the memory, which happens only if one of its trips is."""
    if part.stat().st_size <= max(memory, _PIECE):
        return
    numbers: list[Ints] = []
    with pa.OSFile(str(part)) as file:
        for batch in pa.ipc.open_stream(file):
            table = pa.Table.from_batches([batch])
            columns = find_columns(table.column_names, reading.names)
            codes = sum(hashed(table[name]) for name in {columns.user, columns.id} - {None})
            numbers.append(np.asarray(codes))
    longest = int(np.unique(np.concatenate(numbers), return_counts=True)[1].max()) if numbers else 0
    if longest * POINT > memory:
        raise too_long(longest, memory)


def _rows(table: pa.Table, most: int, bytes_: int) -> int:
    """Return the number of rows that take about this many bytes."""
    return max(1, min(most, int(max(bytes_, _PIECE) * table.num_rows / max(table.nbytes, 1))))


def _assembled(part: Path, reading: Reading, piece: int) -> tuple[Path, Parsed]:
    """Return the trips of one part in the order of their first points, each with the row of this point."""
    with pa.OSFile(str(part)) as file:
        table = pa.ipc.open_stream(file).read_all()
    part.unlink()
    columns = find_columns(table.column_names, reading.names)
    known = pa.array(named(table, columns))
    rows = table[ROW].filter(known).to_numpy()
    # Users may count their own trips: a trip is known by both.
    codes = np.zeros(len(rows), dtype=np.int64)
    for name in {columns.user, columns.id} - {None}:
        own = pc.dictionary_encode(table[name].filter(known).combine_chunks(), null_encoding="encode")
        codes = codes * len(own.dictionary) + own.indices.to_numpy()
    first = np.sort(np.unique(codes, return_index=True)[1])
    parsed = of_table(table.drop_columns([ROW]), reading)
    trajectories = parsed.trajectories
    found = trajectories.to_arrow()
    # Parts must have the same columns: whether a number is an id or a further column may differ between them.
    found = found.select([name for name in ("x", "y", "t", trajectories.user) if name in found.column_names])
    found = found.append_column(ROW, pa.array(rows[first]))
    target = part.with_name(part.name.replace("points", "run"))
    with pa.ipc.new_stream(str(target), found.schema) as writer:
        writer.write_table(found, max_chunksize=_rows(found, _READ, piece))
    return target, parsed


def _merge(runs: Sequence[Path], target: Path, piece: int) -> int:
    """Merge the trips of all parts by the row of their first point, in tables of about this many bytes."""
    files = [pa.OSFile(str(run)) for run in runs]
    streams = [iter(pa.ipc.open_stream(file)) for file in files]
    waiting: list[pa.Table | None] = [None] * len(runs)
    writer = None
    written = 0
    try:
        while True:
            for number, stream in enumerate(streams):
                if waiting[number] is None:
                    batch = next(stream, None)
                    waiting[number] = None if batch is None else pa.Table.from_batches([batch])
            present = [table for table in waiting if table is not None]
            if not present:
                break
            # Nothing that is still to come is before the earliest of the last rows.
            limit = min(table[ROW][-1].as_py() for table in present)
            ready = []
            for number, table in enumerate(waiting):
                if table is None:
                    continue
                count = int(np.searchsorted(table[ROW].to_numpy(), limit, side="right"))
                ready.append(table.slice(0, count))
                waiting[number] = table.slice(count) if count < table.num_rows else None
            joined = pa.concat_tables(ready, promote_options="permissive")
            joined = joined.take(pa.array(np.argsort(joined[ROW].to_numpy(), kind="stable")))
            joined = joined.drop_columns([ROW]).combine_chunks()
            if writer is None:
                writer = pa.ipc.new_stream(str(target), joined.schema)
            writer.write_table(joined, max_chunksize=_rows(joined, _WRITTEN, piece))
            written += joined.num_rows
    finally:
        if writer is not None:
            writer.close()
        for file in files:
            file.close()
    for run in runs:
        run.unlink()
    return written


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
    found: Ints = numbers[numbers_of(encoded.indices)]
    return found
