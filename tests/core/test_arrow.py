"""Numbers between Arrow and numpy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.core.arrow import column_of, numbers_of
from ldptrace.core.trajectories import Trajectories


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "int32", "uint8"])
def test_numbers_come_back(kind: str) -> None:
    values = np.arange(7).astype(kind)
    column = column_of(values)
    assert column.type == pa.from_numpy_dtype(values.dtype)
    assert numbers_of(column).dtype == values.dtype
    assert numbers_of(column[2:5]).tolist() == [2, 3, 4]
    assert column_of(values[::2]).to_pylist() == [0, 2, 4, 6]


def test_pieces_are_joined_and_what_is_missing_is_no_number() -> None:
    assert numbers_of(pa.chunked_array([[1, 2], [], [3]], pa.int64())).tolist() == [1, 2, 3]
    assert numbers_of(pa.chunked_array([], pa.int32())).dtype == np.int32
    assert np.isnan(numbers_of(pa.array([1.0, None]))[1])


def test_memory_is_shared() -> None:
    values = np.arange(5.0)
    assert np.shares_memory(numbers_of(column_of(values)), values)


def test_no_trip_through_files_loads_pandas(tmp_path: Path) -> None:
    """It takes longer than the run, and pyarrow loads it for any conversion of its own."""
    trips = Trajectories.from_lists([[(0, 0), (1, 1)], [], [(5, 5)]])
    program = (
        "import sys; import ldptrace as lt; trips = lt.read(sys.argv[1]); lt.write(trips, sys.argv[2]);"
        "assert trips.sizes.tolist() == [2, 0, 1]; assert 'pandas' not in sys.modules"
    )
    from ldptrace.io import write

    write(trips, tmp_path / "in.parquet")
    subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet")],
        check=True,
    )
