"""Files of reports on a cluster: Spark reads them, its executors count them, and the driver gets tallies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldptrace.core.parallel import Each
from ldptrace.curator.receive import Receiver
from ldptrace.curator.tally import Tally
from ldptrace.engines.spark import (
    BLOCKS,
    SUM,
    Spark,
    groups_of,
    known_to_spark,
    mapped,
    partition,
    sum_row,
    summed,
)
from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import ID_AT, report_bytes

# Where the id of a report is, after version, plan, round and group.
_REPORT = "file string, place long, id binary, report binary"
# Reports that are handed on at a time.
_ROWS = 1 << 15
# Bytes of a file at most: Spark reads it as one value.
_MOST = (1 << 31) - 1


def receive_files(
    spark: Spark,
    sources: Sequence[str],
    plan: Plan,
    round_number: int = 0,
    known: bytes | None = None,
    window: int | None = None,
) -> tuple[Tally, Counter[int], bytes]:
    """Count the reports in files, folders or patterns that Spark can read, each report once.

    Of several reports with the same id, the first by file name and place in the file is counted. For a standing plan,
    only reports about `window` are counted. Returns the tally, the number of reports with each problem (0: counted),
    and, if the ids of reports that were counted before are `known`, the ids of all that were counted, each once.
    """
    receiver = partial(Receiver, plan, round_number, known or b"", window)
    receiver()
    nothing: Each[Any] = Each((Tally.zero(plan, round_number), Counter[int](), list[bytes]()))
    with known_to_spark(", ".join(sources)):
        reader = spark.session.read.format("binaryFile").option("recursiveFileLookup", "true")
        files = reader.load(list(sources))
        for large in files.filter(f"length > {_MOST}").select("path", "length").take(1):
            raise InputError(
                f"{large.path}: a file of reports on a cluster may have {_MOST:,} bytes, this has {large.length:,}: "
                "cut it between reports"
            )
    size = report_bytes(plan.rounds[round_number])
    reports = mapped(files.select("path", "content"), partial(_cut, size), _REPORT)
    together = reports.repartition("id").sortWithinPartitions("file", "place")
    counted = mapped(together, partial(_count, receiver, size, known is not None), SUM)
    (tally, codes, ids), _ = summed(counted, nothing, max(1, groups_of(len(files.inputFiles()))))
    every = np.frombuffer(b"".join([known or b"", *ids]), dtype=np.uint64).reshape(-1, 2)
    return tally, codes, np.unique(every, axis=0).tobytes()


def _cut(size: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Cut files into reports, with their ids. The rest at the end of a file is a report that is too short."""
    for batch in batches:
        for path, content in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            for first in range(0, len(content), _ROWS * size):
                piece = content[first : first + _ROWS * size]
                whole = len(piece) // size
                data = np.frombuffer(piece, dtype=np.uint8, count=whole * size).reshape(whole, size)
                reports, ids = _binary(data), _binary(data[:, ID_AT])
                if rest := piece[whole * size :]:
                    reports = pa.concat_arrays([reports, pa.array([rest], pa.binary())])
                    ids = pa.concat_arrays([ids, pa.array([rest[ID_AT]], pa.binary())])
                many = len(reports)
                places = pa.array(first // size + np.arange(many))
                names = pa.repeat(path, many)
                yield pa.RecordBatch.from_arrays(
                    [names, places, ids, reports], ["file", "place", "id", "report"]
                )


def _binary(rows: NDArray[np.uint8]) -> pa.Array:
    """Return rows of bytes as values."""
    many, width = rows.shape
    buffers = [None, pa.py_buffer(np.ascontiguousarray(rows))]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), many, buffers).cast(pa.binary())


def _count(
    begin: Callable[[], Receiver], size: int, with_ids: bool, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Return the tally of the reports in one partition. Each report has this many bytes."""
    receiver, codes = begin(), Counter[int]()
    for batch in batches:
        reports = batch.column(3).to_pylist()
        codes.update(receiver.receive(b"".join(report for report in reports if len(report) == size)).tolist())
        for report in reports:
            if len(report) != size:
                codes.update(receiver.receive(report).tolist())
    if codes:
        sums = Each((receiver.tally, codes, [receiver.ids] if with_ids else []))
        yield sum_row(BLOCKS * partition(), found=sums)
