"""Files of tables of any size, which are read table by table and any number of times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pyarrow as pa

from ldptrace.core.columns import find_columns
from ldptrace.core.positions import positioned, rows_are_trips
from ldptrace.core.reading import Names, Reading
from ldptrace.io import csv, jsonl, parquet
from ldptrace.io.account import naming

# Rows of a table, unless its bytes say how many fit together.
ROWS = 1 << 18
COLUMNS, TEXTS = ("parquet", "feather"), ("csv", "jsonl")
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
    found: list[Source] = []
    for path in files:
        with naming(path):
            found.append(_source(kind, path, given, found[0].trips if found else None))
    return found


def _source(kind: str, path: Path, given: Names, trips: bool | None) -> Source:
    broken: Mapping[str, int] = {}
    said: dict[str, str | None] = {}
    read: Read
    if kind in COLUMNS:
        rows, schema, read = parquet.size(path)[0], parquet.schema_of(path), partial(parquet.batches, path)
        said = parquet.labels(schema, given)
        schema = pa.schema(
            [schema.field(old).with_name(new) for old, new in zip(*parquet.wanted(schema), strict=True)]
        )
    else:
        text = csv.Text.of(path, given).settled() if kind == "csv" else jsonl.Lines.of(path, given)
        assert text.schema is not None
        rows, schema, broken = text.rows, text.schema, text.broken
        tables = text.tables

        def read(_: int, __: int | None) -> Iterator[pa.Table]:
            return tables()

    columns = find_columns(schema.names, given)
    lines = rows_are_trips(schema, columns)
    if lines is None:
        first, columns = positioned(next(read(ROWS, None), schema.empty_table()), given, lines=trips)
        lines = rows_are_trips(first.schema, columns)
    empty, reading = standard(schema.empty_table(), Reading(names=given), lines)
    said = {"crs": columns.crs, "user": columns.user} | {name: text for name, text in said.items() if text}

    def placed(many: int, most: int | None) -> Iterator[pa.Table]:
        return (positioned(table, given, lines=lines)[0] for table in read(many, most))

    return Source(path, placed, rows, reading.names, bool(lines), empty, **said, broken=broken)


def standard(table: pa.Table, reading: Reading, lines: bool | None = None) -> tuple[pa.Table, Reading]:
    """Return the table with its positions in columns x and y, and the options with the names of the columns then."""
    found, columns = positioned(table, reading.names, lines=lines)
    if found is table:
        return table, reading
    names = replace(reading.names, x=columns.x, y=columns.y, t=columns.t)
    return found, replace(reading, names=names)
