"""A cluster: the same work on Arrow batches in the executors of Spark, the fit on the driver.

The driver gets sums: what tasks found is added up in the executors first. What is random in a block draws from the
child of the block's number, which is made of the number of the partition and the place in it: given a seed and the
partitioning the result is always the same, and a task that runs again, because its executor was lost, finds the same.

Its tasks read Parquet by themselves, on a disk that all machines share. Spark's own reader makes rows of what is stored
in columns, and columns again for Python; that takes several times as long as all the rest. Which task reads what
follows from the files alone, so results do not depend on the cluster.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ldptrace.core.parallel import CHUNK, chunks, map_ordered
from ldptrace.engines.base import Draw, Engine, T
from ldptrace.engines.local import write_parquet
from ldptrace.errors import InputError
from ldptrace.io import parquet
from ldptrace.io.atomic import PART, atomic_folder, atomic_path, part_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


# Blocks that a partition may have: numbers of blocks are partition * this + place.
BLOCKS = 1 << 20
# Sums that come to the driver, at most: each is that of a group of tasks, of at least this many files.
_GROUPS, _FILES = 16, 64
# So few sums come as they are.
_FEW = 16
_SUM = pa.schema([("number", pa.int64()), ("account", pa.binary()), ("found", pa.binary())])
SUM = "number long, account binary, found binary"
# Bytes of rows that are handed to Python at a time.
_BATCH = 1 << 26


class Spark(Engine):
    """The engine of a Spark session, classic or Connect."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        # Whether the executors see the files of this machine, as far as is known from what was read.
        self.shares_disk = False

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
        builder = builder.config("spark.sql.execution.arrow.maxBytesPerBatch", str(_BATCH))
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

    def write(self, draw: Draw, target: Path, labels: Mapping[str, Any], format: str | None = None) -> None:
        """Every task draws its blocks and writes them as one Parquet file of the folder `target`."""
        if format not in (None, "parquet") or target.suffix in (".csv", ".dat", ".geojson"):
            raise InputError(f"a cluster writes a folder of Parquet files, not {target}")
        if not self.shares_disk or "://" in address(target):
            self._write_rows(draw, target, labels)
            return
        parts = chunks(draw.count, PART) or [(0, 0)]
        numbers = self.session.range(0, len(parts), 1, len(parts))
        with atomic_folder(target) as folder:
            mapped(numbers, partial(_write_parts, draw, parts, folder, labels), "number long").collect()
            # What tasks began whose executor was lost.
            for left_over in folder.glob(".*"):
                left_over.unlink(missing_ok=True)

    def _write_rows(self, draw: Draw, target: Path, labels: Mapping[str, Any]) -> None:
        """As rows of Spark, which writes them wherever it can."""
        from pyspark.sql import functions

        blocks = -(-draw.count // CHUNK)
        timed = next(draw.pieces(0)).t is not None if blocks else False
        columns = "traj_id long, x array<double>, y array<double>" + (", t array<double>" if timed else "")
        numbers = self.session.range(0, blocks, 1, max(1, blocks // 32))
        drawn = mapped(numbers, partial(_draw, draw), columns)
        # Spark's writer knows no metadata but that of columns.
        said = parquet.metadata_of(labels["crs"], labels.get("timezone"), labels["provenance"])
        named = functions.col("traj_id").alias("traj_id", metadata=said)
        drawn.select(named, *drawn.columns[1:]).write.parquet(address(target), compression="zstd")


def address(path: str | os.PathLike[str]) -> str:
    """The name as Spark takes it: a path of the command line knows the address that was typed."""
    return str(getattr(path, "address", path))


@contextmanager
def known_to_spark(source: str) -> Iterator[None]:
    """Whatever Spark cannot read is the input's fault, said in its own first sentence."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise InputError(f"{source}: Spark cannot read it: {str(error).splitlines()[0]}") from None


def mapped(frame: DataFrame, task: Callable[..., Iterator[pa.RecordBatch]], columns: str) -> DataFrame:
    """What the task makes of the record batches of each partition."""
    with warnings.catch_warnings():
        # It is about data frames of pandas, which are not used here.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return frame.mapInArrow(task, columns)


def partition() -> int:
    """Number of the partition that this task works on."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def sum_row(number: int, found: object, account: object = None) -> pa.RecordBatch:
    """The row of what a task found and what it read; `number` says where it stands among the others."""
    values = {"number": [number], "account": [pickle.dumps(account)], "found": [pickle.dumps(found)]}
    return pa.RecordBatch.from_pydict(values, _SUM)


def groups_of(files: int) -> int:
    """In how many groups the sums of the tasks that read `files` files are added up; few are not grouped: 0.

    >>> groups_of(7), groups_of(70), groups_of(7000)
    (0, 2, 16)
    """
    return 0 if files <= _FEW else min(_GROUPS, 1 + files // _FILES)


def summed(frame: DataFrame, nothing: T, groups: int) -> tuple[T, Any]:
    """Rows of sums, added up by groups in the executors and then here; and what was read.

    Always in the same order, so that rounding is the same too.
    """
    from pyspark.sql import functions

    if groups:
        group = functions.shiftright("number", 20) % groups
        grouped = frame.withColumn("group", group).repartition(groups, "group")
        frame = mapped(grouped.sortWithinPartitions("group", "number"), _sum_groups, SUM)
    total, account = nothing, None
    for row in sorted(frame.collect(), key=lambda row: row.number):
        total, account = plus(total, pickle.loads(row.found)), plus(account, pickle.loads(row.account))
    return total, account


def plus(one: Any, other: Any) -> Any:
    """A sum of two, one of which may be nothing."""
    return one + other if one is not None and other is not None else other if one is None else one


def _sum_groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row for each group of the rows that come, which are in order."""
    rows = (row for batch in batches for row in batch.to_pylist())
    for _, group in groupby(rows, key=lambda row: row["group"]):
        number, account, total = -1, None, None
        for row in group:
            number = row["number"] if number < 0 else number
            total, account = (
                plus(total, pickle.loads(row["found"])),
                plus(account, pickle.loads(row["account"])),
            )
        yield sum_row(number, total, account)


def _write_parts(
    draw: Draw,
    parts: list[tuple[int, int]],
    folder: Path,
    labels: Mapping[str, Any],
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """The files whose numbers come. Each appears whole; a task that runs again writes the same once more."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            with atomic_path(folder / part_name(number)) as temporary:
                start, stop = parts[int(number)]
                write_parquet(draw, start, stop, temporary, labels)
            yield pa.RecordBatch.from_pydict({"number": [number]})


def _draw(draw: Draw, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The blocks whose numbers come, as rows of a table."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            start = number * CHUNK
            for piece in draw.pieces(number):
                drawn = piece.to_arrow()
                ids = pa.array(np.arange(start, start + drawn.num_rows))
                start += drawn.num_rows
                names = [name for name in ("x", "y", "t") if name in drawn.column_names]
                table = drawn.select(names).add_column(0, "traj_id", ids)
                yield from table.combine_chunks().to_batches()


# Bytes of files that a task reads, about, and bytes of points in its memory at a time.
BYTES, MEMORY = 1 << 25, 1 << 26


@dataclass(frozen=True)
class Piece:
    """The k-th of several pieces of a file."""

    path: Path
    k: int = 0
    pieces: int = 1

    def tables(self) -> Iterator[pa.Table]:
        """Its rows, a batch at a time."""
        return parquet.batches(self.path, CHUNK, MEMORY, piece=(self.k, self.pieces))


def shared_files(addresses: Sequence[str]) -> list[Path] | None:
    """The files of these addresses, in order of their names, if all of them are on a disk that this machine sees.

    >>> shared_files(["s3a://bucket/trips.parquet"]) is None
    True
    """
    split = [urlsplit(address) for address in addresses]
    if not split or any(parts.scheme != "file" or parts.netloc for parts in split):
        return None
    files = sorted(Path(unquote(parts.path)) for parts in split)
    return files if all(path.is_file() for path in files) else None


@dataclass(frozen=True)
class Split:
    """What each task reads, and how many rows there are."""

    tasks: tuple[tuple[Piece, ...], ...]
    rows: int


def split(files: Sequence[Path], most: int = BYTES) -> Split:
    """A task for each piece of a large file, as far as its row groups allow, and one for several small files."""
    tasks: list[tuple[Piece, ...]] = []
    small: list[Piece] = []
    rows, room = 0, most
    for path, (size, groups, held) in zip(files, map_ordered(_measured, files), strict=True):
        rows += held
        pieces = max(1, min(-(-size // most), groups))
        if pieces > 1:
            tasks += [(Piece(path, k, pieces),) for k in range(pieces)]
            continue
        if small and size > room:
            tasks.append(tuple(small))
            small, room = [], most
        small.append(Piece(path))
        room -= size
    return Split((*tasks, tuple(small)) if small else tuple(tasks), rows)


def _measured(path: Path) -> tuple[int, int, int]:
    """Bytes, row groups and rows of a file."""
    found = pq.read_metadata(path)
    return path.stat().st_size, found.num_row_groups, found.num_rows
