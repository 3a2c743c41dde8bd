"""Files that the tasks of a cluster read by themselves: Parquet on a disk that all its machines share.

Spark's own reader makes rows of what is stored in columns, and columns again for Python; that takes several times as
long as all the rest. Which task reads what follows from the files alone, so results do not depend on the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from ldptrace.core.parallel import CHUNK, map_ordered
from ldptrace.io import parquet

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
