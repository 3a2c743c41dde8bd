"""A cluster: the same work on Arrow batches in the executors of Spark, the fit on the driver.

Raw trajectories never come to the driver: it gets one sum for each partition. What is random in a block draws from the
child of the block's number, which is made of the number of the partition and the place in it: given a seed and the
partitioning the result is always the same, and a task that runs again, because its executor was lost, finds the same.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ldptrace.core.columns import find_columns
from ldptrace.core.parallel import CHUNK
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Crowd, Draw, Engine, T, Work
from ldptrace.errors import InputError
from ldptrace.io import parquet
from ldptrace.io.clean import clean
from ldptrace.io.provenance import KEY, to_text
from ldptrace.io.report import Reading
from ldptrace.protocol.grid import Bounds
from ldptrace.simulation.unit import Unit, unit_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Blocks that a partition may have: numbers of blocks are partition * this + place.
_BLOCKS = 1 << 20
_SUM = "part int, kept long, rows long, found binary"


class Spark(Engine):
    """The engine of a Spark session, classic or Connect."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session

    @staticmethod
    @contextmanager
    def start() -> Iterator[Spark]:
        """The session that there is, or a new one: on the master of the environment, else on this machine."""
        try:
            from pyspark.sql import SparkSession
        except ModuleNotFoundError:
            raise InputError("--engine spark needs PySpark: pip install 'ldptrace[spark]'") from None
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        running = SparkSession.getActiveSession()
        builder = SparkSession.builder.appName("ldptrace")
        builder = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", str(CHUNK))
        master = os.environ.get("SPARK_MASTER_URL")
        if master is not None:
            builder = builder.master(master)
        if running is None and (master is None or "127.0.0.1" in master):
            builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config(
                "spark.driver.host", "127.0.0.1"
            )
        session = builder.getOrCreate()
        try:
            yield Spark(session)
        finally:
            if running is None:
                session.stop()

    def write(
        self, draw: Draw, count: int, target: Path, labels: dict[str, Any], format: str | None = None
    ) -> None:
        """Every task draws its blocks and writes them as one Parquet file of the folder `target`."""
        from pyspark.sql import functions

        if format not in (None, "parquet") or target.suffix in (".csv", ".dat", ".geojson"):
            raise InputError(f"a cluster writes a folder of Parquet files, not {target}")
        blocks = -(-count // CHUNK)
        timed = draw(min(count, 1), 0).t is not None if count else False
        columns = "traj_id long, x array<double>, y array<double>" + (", t array<double>" if timed else "")
        numbers = self.session.range(0, blocks, 1, max(1, blocks // 32))
        drawn = _mapped(numbers, partial(_draw, draw, count), columns)
        # Spark's writer knows no metadata but that of columns.
        own = json.dumps(
            {"format": "ldptrace-trajectories", "version": parquet.VERSION, "crs": labels["crs"]}
        )
        said = {parquet.OWN_KEY: own, KEY: to_text(labels["provenance"])}
        named = functions.col("traj_id").alias("traj_id", metadata=said)
        drawn.select(named, *drawn.columns[1:]).write.parquet(address(target), compression="zstd")


def address(path: Path) -> str:
    """The name as it was typed: a path swallows one of the slashes of an address such as s3a://bucket/trips."""
    return next((word for word in sys.argv[1:] if "://" in word and Path(word) == path), str(path))


class SparkCrowd(Crowd):
    """Trajectories in whatever Spark reads by that name: one row per trajectory, or one per point."""

    def __init__(
        self,
        spark: Spark,
        source: str,
        bounds: Bounds | None,
        *,
        format: str | None = None,
        crs: str | None = None,
        outside: str = "drop",
        reading: Reading | None = None,
        memory: int = 0,
        always: bool = True,
    ) -> None:
        self._reading = reading or Reading()
        csv = format == "csv" or source.endswith((".csv", ".tsv", ".csv.gz"))
        reader = spark.session.read
        frame = reader.csv(source, header=True, inferSchema=True) if csv else reader.parquet(source)
        columns = find_columns(frame.columns, self._reading.names)
        long = dict(frame.dtypes)[str(columns.x)] in ("double", "float", "int", "bigint", "string")
        if long:
            if columns.id is None:
                raise InputError(f"{source}: no column says which trajectory a point belongs to")
            frame = frame.repartition(columns.id).sortWithinPartitions(
                columns.id, *([columns.t] if columns.t else [])
            )
        self.user = columns.user
        self._frame, self._long, self._id = frame, long, columns.id
        self._crs, self._clean = crs or columns.crs, (bounds, outside)
        self._source = source
        self._kept: int | None = None
        self._rows = 0

    @property
    def users(self) -> int:
        if self._kept is None:
            counted = self._frame.select(self._id).distinct() if self._long and self._id else self._frame
            return counted.count()
        return self._kept

    @property
    def account(self) -> str:
        return f"{self._source}: {self.users:,} trajectories of {self._rows:,} rows"

    @property
    def crs(self) -> str | None:
        return self._crs

    def play_devices(self, unit: str, rng: np.random.Generator) -> Unit:
        whose = unit_of(unit, self.user)
        if whose.name == "user":
            self._choose_one_each(int(rng.integers(1 << 62)))
        return whose

    def _choose_one_each(self, key: int) -> None:
        """One row of each user, by a keyed hash of the row's own id."""
        from pyspark.sql import Window, functions

        if self._long or self._id is None or self.user is None:
            raise InputError(
                "on a cluster, one trajectory of each user needs rows of trajectories with an id"
            )
        drawn = functions.xxhash64(functions.lit(key), functions.col(self.user), functions.col(self._id))
        order = Window.partitionBy(self.user).orderBy(drawn)
        numbered = self._frame.withColumn("_place", functions.row_number().over(order))
        self._frame = numbered.filter("_place = 1").drop("_place")

    def add_up(self, work: Work[T], nothing: T) -> T:
        table = partial(_trajectories, self._reading, self._crs, *self._clean)
        whole = partial(_whole_trips, str(self._id)) if self._long else _as_they_come
        task = partial(_add_up, work, table, whole)
        total, self._kept, self._rows = nothing, 0, 0
        # One after the other, so that the driver holds one sum at a time besides the total.
        for row in _mapped(self._frame, task, _SUM).sort("part").toLocalIterator():
            total = total + pickle.loads(row.found)
            self._kept += row.kept
            self._rows += row.rows
        return total


def _mapped(frame: DataFrame, task: Callable[..., Iterator[pa.RecordBatch]], columns: str) -> DataFrame:
    with warnings.catch_warnings():
        # It is about data frames of pandas, which are not used here.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return frame.mapInArrow(task, columns)


def _add_up(
    work: Work[T],
    trajectories: Callable[[pa.Table], Trajectories],
    whole: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.Table]],
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """What the rows of one partition add up to, if there are any."""
    from pyspark import TaskContext

    context = TaskContext.get()
    part = 0 if context is None else context.partitionId()
    total: T | None = None
    waiting: list[Trajectories] = []
    have = kept = rows = place = 0

    def finish() -> None:
        nonlocal total, waiting, have, place
        found = work(Trajectories.concat(waiting), part * _BLOCKS + place)
        total = found if total is None else total + found
        waiting, have, place = [], 0, place + 1

    for table in whole(batches):
        rows += table.num_rows
        batch, at = trajectories(table), 0
        kept += len(batch)
        while at < len(batch):
            take = min(CHUNK - have, len(batch) - at)
            waiting.append(batch.part(at, at + take))
            have, at = have + take, at + take
            if have == CHUNK:
                finish()
    if have:
        finish()
    if total is not None:
        values = {"part": [part], "kept": [kept], "rows": [rows], "found": [pickle.dumps(total)]}
        kinds = pa.schema(
            [("part", pa.int32()), ("kept", pa.int64()), ("rows", pa.int64()), ("found", pa.binary())]
        )
        yield pa.RecordBatch.from_pydict(values, kinds)


def _trajectories(
    reading: Reading, crs: str | None, bounds: Bounds | None, outside: str, table: pa.Table
) -> Trajectories:
    """Cleaned trajectories of a table, without anything but their points."""
    parsed = parquet.of_table(table, reading)
    plain = replace(parsed.trajectories, crs=crs, ids=None, extra=None, user=None, provenance=None)
    return clean(
        replace(parsed, trajectories=plain), bounds=bounds, outside=outside, min_points=1, whole=False
    ).trajectories


def _as_they_come(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    return (pa.Table.from_batches([batch]) for batch in batches)


def _whole_trips(id_column: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Tables that end where a trip ends; rows come sorted by trip."""
    begun: pa.Table | None = None
    for batch in batches:
        table = pa.Table.from_batches([batch])
        table = table if begun is None else pa.concat_tables([begun, table])
        ids = table[id_column].combine_chunks()
        if len(ids) == 0:
            continue
        codes = pc.dictionary_encode(ids, null_encoding="encode").indices.to_numpy()
        other = np.flatnonzero(codes != codes[-1])
        end = int(other[-1]) + 1 if len(other) else 0
        if end:
            yield table.slice(0, end)
        begun = table.slice(end)
    if begun is not None and begun.num_rows:
        yield begun


def _draw(draw: Draw, count: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The blocks whose numbers come, as rows of a table."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            start = number * CHUNK
            drawn = draw(min(CHUNK, count - start), number).to_arrow()
            ids = pa.array(np.arange(start, start + drawn.num_rows))
            names = [name for name in ("x", "y", "t") if name in drawn.column_names]
            table = drawn.select(names).add_column(0, "traj_id", ids)
            yield from table.combine_chunks().to_batches()
