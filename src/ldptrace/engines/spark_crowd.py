"""Trajectories on a cluster: Spark reads them, and its executors cut them into blocks and work on them."""

from __future__ import annotations

import json
import pickle
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ldptrace.core.columns import find_columns
from ldptrace.core.parallel import CHUNK, Each, child
from ldptrace.core.positions import counts, geometries, mixed, rows_are_trips, several_systems
from ldptrace.core.reading import Reading
from ldptrace.core.times import are_dates
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Aside, Crowd, S, T, Work, in_blocks
from ldptrace.engines.spark import (
    BLOCKS,
    SUM,
    Spark,
    Tasks,
    groups_of,
    known_to_spark,
    mapped,
    partition,
    shared_files,
    split,
    sum_row,
    summed,
)
from ldptrace.errors import InputError, NothingUsable
from ldptrace.io import parquet
from ldptrace.io.account import Account, Parsed, naming, of_table
from ldptrace.io.clean import cleaned_part
from ldptrace.io.csv import Text
from ldptrace.io.formats import locate
from ldptrace.io.provenance import KEY, from_text
from ldptrace.io.sources import OF_FILE, standard
from ldptrace.simulation.unit import TRIPS, Unit, play_devices, unit_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Bytes of points in the memory of a task at a time.
MEMORY = 1 << 26
# Order of the rows as they were read, and whose they are: columns beside those of the source.
_ROW, _WHOSE = "ldptrace_row", "ldptrace_whose"
# Rows that tell whether times have dates.
FEW = 64
# The child of the devices' source that draws a trip of each user and a piece of each trip; blocks have lower numbers.
_DRAWN = 1 << 40


class SparkCrowd(Crowd):
    """Trajectories that Spark reads, with one row per trajectory or one row per point."""

    def __init__(self, spark: Spark, source: str, reading: Reading | None = None) -> None:
        from pyspark.sql import functions
        from pyspark.sql.pandas.types import to_arrow_schema

        reading = reading or Reading()
        csv = reading.format == "csv" or source.endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz"))
        reader = spark.session.read
        with known_to_spark(source):
            # The values of a column must not decide how others are read, so they are read as texts.
            frame = reader.csv(source, header=True, **_dialect(source)) if csv else reader.parquet(source)
        with naming(Path(source)):
            columns = find_columns(frame.columns, reading.names)
            lines, crs = rows_are_trips(to_arrow_schema(frame.schema), columns), columns.crs
            if lines is None:
                lines, crs = _geometries(frame, str(columns.geometry))
        said = {} if csv else _said(source, frame, reading)
        if csv and not lines and columns.id is not None and len(frame.inputFiles()) > 1:
            # Each file has trips of its own, also where their ids repeat.
            own = (functions.input_file_name(), functions.lit(" "), functions.col(columns.id))
            frame = frame.withColumn(OF_FILE, functions.concat(*own))
            columns = replace(columns, id=OF_FILE)
            reading = replace(reading, names=replace(reading.names, id=OF_FILE))
        self._groups = groups_of(len(frame.inputFiles()))
        self._long = not lines
        # The columns of which equal values lie together in a partition.
        self._together: list[str] = []
        if self._long:
            if columns.id is None:
                raise InputError(f"{source}: no column says which trajectory a point belongs to")
            self._together = [name for name in dict.fromkeys((columns.user, columns.id)) if name is not None]
            frame = frame.withColumn(_ROW, functions.monotonically_increasing_id())
            frame = frame.repartition(*self._together).sortWithinPartitions(*self._together, _ROW)
        files = None if csv or self._long else shared_files(frame.inputFiles())
        spark.shares_disk = files is not None
        # What each task reads by itself, and the number of rows; None where Spark reads for it.
        self._split = None if files is None else split(files)
        if self._split is not None:
            self._groups = groups_of(len(self._split[0]))
        self._spark = spark
        self.user = columns.user
        self._frame, self._id = frame, columns.id
        self.crs = reading.crs or said.get("crs") or crs
        self.timezone = reading.timezone or said.get("timezone")
        self.provenance = said.get("promise")
        self._source = source
        reading = replace(reading, crs=self.crs, timezone=self.timezone)
        self._parse = partial(_trajectories, reading, lines=lines)
        # The columns and their types alone say it.
        self.timed = self._parse(to_arrow_schema(frame.schema).empty_table())[0].t is not None
        # Which trip of a user answers, and which piece of one that was cut.
        self._drawn: np.random.Generator | None = None
        # What was read in the last pass, and how many devices there were.
        self._passed: tuple[Account, int] | None = None

    @property
    def users(self) -> int:
        if self._passed is None:
            if self._split is not None:
                return self._split[1]
            together = self._together
            return (self._frame.select(*together).distinct() if together else self._frame).count()
        return self._passed[1]

    @property
    def account(self) -> Account:
        return Account(self._source, "spark") if self._passed is None else self._passed[0]

    @cached_property
    def dated(self) -> bool:
        """Whether times of the first rows have dates. An executor looks; the rows stay there."""
        if not self.timed:
            return False
        few, whole = self._frame.limit(FEW), partial(_whole_trips, [])
        if self._split is not None:
            few, whole = self._spark.session.range(0, 1, 1, 1), partial(_own_files, self._split[0])
        rows = mapped(few, partial(_has_dates, self._parse, whole), "dated boolean")
        return any(row.dated for row in rows.collect())

    def play_devices(self, unit: str, rng: np.random.Generator) -> Unit:
        whose = unit_of(unit, self.user)
        self._drawn, self._passed = child(rng, _DRAWN), None
        if whose.name == "user":
            self._bring_users_together()
        return whose

    def _bring_users_together(self) -> None:
        """Put all rows of a user into one partition, where the task draws one trajectory, as on one machine."""
        from pyspark.sql import functions

        assert self.user is not None
        frame, trip = self._frame, self._id if self._long and self._id is not None else _ROW
        if not self._long:
            frame = frame.withColumn(_ROW, functions.monotonically_increasing_id())
        # Who is not named is a user of their own, with one trip.
        alone = functions.xxhash64(functions.lit("alone"), functions.col(trip))
        named = functions.col(self.user)
        whose = functions.when(named.isNull(), alone).otherwise(functions.xxhash64(named))
        together = frame.withColumn(_WHOSE, whose).repartition(_WHOSE)
        self._frame, self._split = together.sortWithinPartitions(_WHOSE, trip, _ROW), None
        self._together = [_WHOSE]
        self._parse = partial(self._parse, with_user=True)

    def add_up(self, work: Work[T], nothing: T) -> T:
        total, passed = summed(self._worked(partial(_alone, work)), nothing, self._groups)
        self._read(passed)
        return total

    def _read(self, passed: tuple[Account, int] | None) -> None:
        """Store the account. If nothing can be used, raise an error, as on one machine."""
        account, devices = passed or (self.account, 0)
        self._passed = replace(account, source=self._source), devices
        if self.account.nothing_left:
            raise NothingUsable(f"nothing in it can be used: {self.account.line()}")

    def put_aside(self, work: Callable[[Trajectories, int], tuple[S, T]], nothing: T) -> tuple[Aside[S], T]:
        from pyspark import StorageLevel

        both = self._worked(work).persist(StorageLevel.DISK_ONLY)
        total, passed = summed(both.filter("part is null"), nothing, self._groups)
        self._read(passed)
        return OnCluster(both, self._groups), total

    def _worked(self, work: Callable[[Trajectories, int], tuple[S | None, T]]) -> DataFrame:
        """Return the results of work on all blocks. One partition is one task: rows that Spark reads, or the number of
        the files that the task reads itself."""
        rows, whole = self._frame, partial(_whole_trips, self._together)
        if self._split is not None:
            tasks = len(self._split[0])
            rows = self._spark.session.range(0, tasks, 1, tasks)
            whole = partial(_own_files, self._split[0])
        return mapped(rows, partial(_worked, work, self._parse, self._drawn, whole), SUM)


class OnCluster(Aside[S]):
    """Results that are stored on the disks of the executors. Lost results are computed again."""

    def __init__(self, both: DataFrame, groups: int) -> None:
        self._groups = groups
        self._frame = both.filter("part is not null").select("number", "part")
        weakref.finalize(self, _forget, both)

    def add_up(self, work: Callable[[S, int], T], nothing: T) -> T:
        return summed(mapped(self._frame, partial(_add_up_parts, work), SUM), nothing, self._groups)[0]


def _forget(frame: DataFrame) -> None:
    """Free the disks, if the cluster is still there."""
    try:
        frame.unpersist()
    except Exception:  # the session has ended, and everything with it
        return


def _said(source: str, frame: DataFrame, reading: Reading) -> dict[str, Any]:
    """Return what the files say about their trajectories: from the files themselves, or from Spark's schema."""
    if Path(source).exists():
        _, files = locate(Path(source), "parquet")
        own = parquet.labels(pq.read_schema(files[0]), reading.names)
        return {**own, "promise": parquet.promise(files)}
    written = {name: text for field in frame.schema.fields for name, text in field.metadata.items()}
    promise = from_text(written[KEY].encode()) if KEY in written else None
    return {**json.loads(written.get(parquet.OWN_KEY, "{}")), "promise": promise}


def _dialect(source: str) -> dict[str, str]:
    """Return how a CSV file is written, as far as this machine can look at it."""
    if not Path(source).exists():
        return {"escape": '"'}
    text = Text.of(locate(Path(source), "csv")[1][0])
    return {"escape": '"', "sep": text.delimiter, "encoding": text.encoding}


def _geometries(frame: DataFrame, name: str) -> tuple[bool, str | None]:
    """Return whether geometries are lines, and the coordinate system that they name. Executors count them."""
    rows = mapped(frame.select(name), partial(_kinds, name), "points long, lines long, crs string").collect()
    systems = {row.crs for row in rows if row.points + row.lines}
    if len(systems) > 1:
        raise NothingUsable(several_systems(systems))
    lines = any(row.lines for row in rows)
    if lines and any(row.points for row in rows):
        raise NothingUsable(mixed())
    return lines, next(iter(systems), None)


def _kinds(name: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        shapes, crs = geometries(pa.chunked_array([batch.column(0)]), name, part=True)
        points, lines = counts(shapes)
        row = {"points": [points], "lines": [lines], "crs": pa.array([crs], pa.string())}
        yield pa.RecordBatch.from_pydict(row)


def _trajectories(
    reading: Reading, table: pa.Table, *, lines: bool | None = None, with_user: bool = False
) -> Parsed:
    """Return the cleaned trajectories of a table: their points, and their users if users matter."""
    table = table.drop_columns([name for name in (_ROW, _WHOSE) if name in table.column_names])
    parsed = of_table(*standard(table, reading, lines))
    user = parsed[0].user if with_user else None
    return cleaned_part(parsed, reading, reading.crs, reading.timezone, user)


def _has_dates(
    parse: Callable[[pa.Table], Parsed],
    whole: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.Table]],
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Whether times of the first rows have dates."""
    for table in islice((table for table in whole(batches) if table.num_rows), 1):
        t = parse(table.slice(0, FEW))[0].t
        yield pa.RecordBatch.from_pydict({"dated": [are_dates(t)]})


def _counted(devices: Trajectories) -> Trajectories:
    """Drop all columns except the number of trips."""
    extra = devices.extra
    if extra is not None:
        extra = extra.select([TRIPS]) if TRIPS in extra.column_names else None
    return replace(devices, extra=extra, user=None)


def _alone(work: Work[T], block: Trajectories, number: int) -> tuple[None, T]:
    """Do work of which no results are put aside."""
    return None, work(block, number)


def _worked(
    work: Callable[[Trajectories, int], tuple[S | None, T]],
    parse: Callable[[pa.Table], Parsed],
    drawn: np.random.Generator | None,
    whole: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.Table]],
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield a row for each result of one partition that is put aside, and a row for their sum, if there are rows.

    The `whole` tables of the partition are parsed, and of each user one trajectory is drawn if there is a source.
    """
    first, total = BLOCKS * partition(), None
    passed: Each[Any] = Each((Account(format="spark"), 0))

    def devices() -> Iterator[Trajectories]:
        nonlocal passed
        for place, table in enumerate(whole(batches)):
            trajectories, account = parse(table)
            account = account.finished(trajectories, format="spark")
            if drawn is not None:
                # A table holds all trips of its users, and all pieces of its trips.
                trajectories, _ = play_devices(trajectories, "user", child(drawn, first + place))
            passed += Each((account, len(trajectories)))
            yield _counted(trajectories)

    for number, block in enumerate(in_blocks(devices()), first):
        part, result = work(block, number)
        total = result if total is None else total + result
        if part is not None:
            yield sum_row(number, part=part)
    if passed[0].rows:
        yield sum_row(first, found=total, account=passed)


def _add_up_parts(work: Callable[[S, int], T], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the sum over the stored results of one partition, in the order of its blocks."""
    total, first = None, 0
    for batch in batches:
        for number, part in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            result = work(pickle.loads(part), number)
            total, first = (result, number) if total is None else (total + result, first)
    if total is not None:
        yield sum_row(first, found=total)


def _own_files(tasks: Tasks, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Return what the task with this number reads."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            for path, *piece in tasks[number]:
                yield from parquet.batches(path, CHUNK, MEMORY, piece)


def _whole_trips(keys: list[str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Cut tables of rows that are sorted by trip anew, so that each ends where a trip ends. Without keys each row is a
    trip."""
    begun: list[pa.Table] = []
    for batch in batches:
        table = pa.Table.from_batches([batch])
        if not keys:
            yield table
            continue
        if table.num_rows == 0:
            continue
        other = np.zeros(table.num_rows, dtype=np.bool_)
        for name in keys:
            codes = pc.dictionary_encode(table[name].combine_chunks(), null_encoding="encode").indices
            other |= codes.to_numpy() != codes[-1].as_py()
        end = int(np.flatnonzero(other)[-1]) + 1 if other.any() else 0
        goes_on = begun and all(begun[-1][name][-1].equals(table[name][-1]) for name in keys)
        if begun and (end or not goes_on):
            # Whatever has begun ends in this batch, or has ended before it.
            yield pa.concat_tables([*begun, table.slice(0, end)])
            begun = []
        elif end:
            yield table.slice(0, end)
        begun.append(table.slice(end))
    if begun:
        yield pa.concat_tables(begun)
