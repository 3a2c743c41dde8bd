"""The engine of a Spark cluster: executors work on Arrow batches, and the driver fits the model.

The executors add up the results of their tasks, and the driver gets only sums. The random numbers of a block come
from a source that belongs to the number of its partition and its place in the partition. So a run with a seed always
gives the same result, also if a task runs again because an executor was lost.

Tasks read Parquet files themselves if all machines share the disk, because Spark's own reader takes several times as
long. The files alone decide which task reads what, so the result does not depend on the cluster.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ldptrace.core.atomic import PART, atomic_folder, atomic_path, part_name
from ldptrace.core.extras import installing
from ldptrace.core.parallel import CHUNK, chunks, map_ordered
from ldptrace.engines.base import Draw, T
from ldptrace.engines.local import write_parquet
from ldptrace.errors import InputError
from ldptrace.io import parquet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


# Blocks that a partition may have: numbers of blocks are partition * this + place.
BLOCKS = 1 << 20
# Sums that come to the driver, at most: each is that of a group of tasks, of at least this many files.
_GROUPS, _FILES = 16, 64
# So few sums come as they are.
_FEW = 16
_COLUMNS = ("account", "found", "part")
_SUM = pa.schema([("number", pa.int64()), *((name, pa.binary()) for name in _COLUMNS)])
SUM = "number long, account binary, found binary, part binary"
# Bytes of rows that are handed to Python at a time.
_BATCH = 1 << 26


class Spark:
    """The engine of a Spark session, classic or Connect."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        # Whether the executors see the files of this machine, as far as is known from what was read.
        self.shares_disk = False

    @staticmethod
    @contextmanager
    def start() -> Iterator[Spark]:
        """Return the present Spark session, or start one: on the master of the environment, or on this machine."""
        try:
            from pyspark.sql import SparkSession
        except ModuleNotFoundError:
            raise InputError(
                f"--engine spark needs PySpark; install it with: {installing('spark')}"
            ) from None
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        running = SparkSession.getActiveSession()
        arrow = "spark.sql.execution.arrow"
        options: dict[str, Any] = {f"{arrow}.maxRecordsPerBatch": CHUNK, f"{arrow}.maxBytesPerBatch": _BATCH}
        master = os.environ.get("SPARK_MASTER_URL")
        if master is not None:
            options["spark.master"] = master
        if running is None and (master is None or "127.0.0.1" in master):
            options |= dict.fromkeys(("spark.driver.bindAddress", "spark.driver.host"), "127.0.0.1")
        session = SparkSession.builder.appName("ldptrace").config(map=options).getOrCreate()
        try:
            yield Spark(session)
        finally:
            if running is None:
                session.stop()

    def write(self, draw: Draw, target: Path, labels: Mapping[str, Any], format: str | None = None) -> None:
        """Write one Parquet file per task to the folder `target`. Each task draws its own blocks."""
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
        """Write rows with Spark's own writer, to any place that Spark can write to."""
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
    """Return the name of a file as Spark needs it. A path from the command line knows the address that was typed."""
    return str(getattr(path, "address", path))


@contextmanager
def known_to_spark(source: str) -> Iterator[None]:
    """Turn an error of Spark's reader into an `InputError` with the first sentence of the message."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise InputError(f"{source}: Spark cannot read it: {str(error).splitlines()[0]}") from None


def mapped(frame: DataFrame, task: Callable[..., Iterator[pa.RecordBatch]], columns: str) -> DataFrame:
    """Apply a task to the record batches of each partition."""
    with warnings.catch_warnings():
        # It is about data frames of pandas, which are not used here.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return frame.mapInArrow(task, columns)


def partition() -> int:
    """Return the number of the partition of this task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def sum_row(number: int, **entries: object) -> pa.RecordBatch:
    """Return the row with the sum that a task has `found` and the `account` of what it read, or with one `part` of its
    results. `number` is the place among the other rows."""
    values = {name: [None if entries.get(name) is None else pickle.dumps(entries[name])] for name in _COLUMNS}
    return pa.RecordBatch.from_pydict({"number": [number]} | values, _SUM)


def groups_of(files: int) -> int:
    """Return the number of groups in which the sums of tasks are added up, or 0 if there are few tasks.

    >>> groups_of(7), groups_of(70), groups_of(7000)
    (0, 2, 16)
    """
    return 0 if files <= _FEW else min(_GROUPS, 1 + files // _FILES)


def summed(frame: DataFrame, nothing: T, groups: int) -> tuple[T, Any]:
    """Add up rows of sums, by groups in the executors and then on the driver. Also returns what was read.

    The order is always the same, so that rounding errors are the same.
    """
    from pyspark.sql import functions

    if groups:
        group = functions.shiftright("number", 20) % groups
        grouped = frame.withColumn("group", group).repartition(groups, "group")
        frame = mapped(grouped.sortWithinPartitions("group", "number"), _sum_groups, SUM)
    total, account = nothing, None
    for row in sorted(frame.collect(), key=lambda row: row.number):
        total, account = _plus(total, row.found), _plus(account, row.account)
    return total, account


def _plus(sum: Any, pickled: bytes | None) -> Any:
    """Add what a row holds to a sum. Either may be None."""
    one = None if pickled is None else pickle.loads(pickled)
    return sum + one if sum is not None and one is not None else sum if one is None else one


def _sum_groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield one row for each group of rows. The rows come in order."""
    rows = (row for batch in batches for row in batch.to_pylist())
    for _, group in groupby(rows, key=lambda row: row["group"]):
        number, account, total = -1, None, None
        for row in group:
            number = row["number"] if number < 0 else number
            total, account = _plus(total, row["found"]), _plus(account, row["account"])
        yield sum_row(number, found=total, account=account)


def _write_parts(
    draw: Draw,
    parts: list[tuple[int, int]],
    folder: Path,
    labels: Mapping[str, Any],
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Write the files with these numbers. A task that runs again writes the same file again."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            with atomic_path(folder / part_name(number)) as temporary:
                start, stop = parts[int(number)]
                write_parquet(draw, start, stop, temporary, labels)
            yield pa.RecordBatch.from_pydict({"number": [number]})


def _draw(draw: Draw, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the blocks with these numbers as rows of a table."""
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


# Bytes of files that a task reads, about.
BYTES = 1 << 25


def shared_files(addresses: Sequence[str]) -> list[Path] | None:
    """Return the files at these addresses in the order of their names, if this machine can read all of them.

    >>> shared_files(["s3a://bucket/trips.parquet"]) is None
    True
    """
    split = [urlsplit(address) for address in addresses]
    if not split or any(parts.scheme != "file" or parts.netloc for parts in split):
        return None
    files = sorted(Path(unquote(parts.path)) for parts in split)
    return files if all(path.is_file() for path in files) else None


# A file, and which of how many pieces of it; and what each task reads.
Piece = tuple[Path, int, int]
Tasks = tuple[tuple[Piece, ...], ...]


def split(files: Sequence[Path], most: int = BYTES) -> tuple[Tasks, int]:
    """Divide files into tasks: one task for each piece of a large file, and one task for several small files. Also
    returns the number of rows."""
    tasks: list[tuple[Piece, ...]] = []
    small: list[Piece] = []
    rows, room = 0, most
    for path, (size, groups, held) in zip(files, map_ordered(_measured, files), strict=True):
        rows += held
        pieces = max(1, min(-(-size // most), groups))
        if pieces > 1:
            tasks += [((path, k, pieces),) for k in range(pieces)]
            continue
        if small and size > room:
            tasks.append(tuple(small))
            small, room = [], most
        small.append((path, 0, 1))
        room -= size
    return ((*tasks, tuple(small)) if small else tuple(tasks)), rows


def _measured(path: Path) -> tuple[int, int, int]:
    """Return the bytes, row groups and rows of a file."""
    footer = pq.read_metadata(path)
    return path.stat().st_size, footer.num_row_groups, footer.num_rows
