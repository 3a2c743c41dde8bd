"""What each task of a cluster reads by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldptrace.engines.spark_files import Piece, Split, shared_files, split


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Files of 1 to 4 row groups, the second with a name that an address has to spell."""
    made = []
    for number, name in enumerate(("a", "b c", "d", "e")):
        rows = 100 * (number + 1)
        table = pa.table({"x": np.arange(rows), "y": np.full(rows, number)})
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=100)
        made.append(tmp_path / f"{name}.parquet")
    return made


@pytest.mark.parametrize("most", [1, 1000, 5000, 1 << 30])
def test_every_row_is_read_once(files: list[Path], most: int) -> None:
    found_split = split(files, most)
    tasks = found_split.tasks
    assert found_split.rows == 1000
    found = pa.concat_tables([table for task in tasks for piece in task for table in piece.tables()])
    assert sorted(zip(found["y"].to_pylist(), found["x"].to_pylist(), strict=True)) == [
        (number, row) for number in range(4) for row in range(100 * (number + 1))
    ]


def test_small_files_are_read_together_and_large_ones_in_pieces(files: list[Path]) -> None:
    assert split(files, 1 << 30) == Split((tuple(Piece(path) for path in files),), 1000)
    # A row group is never cut.
    assert split(files[:2], 1).tasks == (
        (Piece(files[1], 0, 2),),
        (Piece(files[1], 1, 2),),
        (Piece(files[0]),),
    )
    assert split([], 10) == Split((), 0)


def test_files_are_read_by_tasks_only_if_this_machine_sees_all_of_them(files: list[Path]) -> None:
    addresses = [path.as_uri() for path in reversed(files)]
    assert shared_files(addresses) == files
    assert shared_files([*addresses, "hdfs://name/trips.parquet"]) is None
    assert shared_files([*addresses, files[0].with_name("gone.parquet").as_uri()]) is None
    assert shared_files([]) is None
