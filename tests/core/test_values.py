from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.core.values import column_of, is_list, is_number, numbers, numbers_of, split_ids
from ldptrace.errors import NothingUsable


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


@pytest.mark.parametrize(
    ("kind", "number"),
    [(pa.int8(), True), (pa.float32(), True), (pa.null(), True), (pa.string(), False), (pa.bool_(), False)],
)
def test_what_is_a_number(kind: pa.DataType, number: bool) -> None:
    assert is_number(kind) is number


@pytest.mark.parametrize("values", [[3, 2**62], [3.0, 5.0]])
def test_whole_numbers_are_ids(values: list[float]) -> None:
    ids, extra = split_ids(pa.chunked_array([values]), "trip")
    assert ids is not None
    assert ids.tolist() == values
    assert extra == {}


@pytest.mark.parametrize("values", [[1.5, 2.0], ["a", "b"], [1, None], [1e300, 2.0]])
def test_everything_else_is_kept_as_a_name(values: list[object]) -> None:
    column = pa.chunked_array([values])
    assert split_ids(column, "trip") == (None, {"trip": column})
    # The name of the ids that are written belongs to numbers.
    assert split_ids(column, "traj_id") == (None, {"traj_name": column})


@pytest.mark.parametrize("kind", [pa.list_(pa.int8()), pa.large_list(pa.float64()), pa.list_(pa.int8(), 2)])
def test_lists_of_every_kind(kind: pa.DataType) -> None:
    assert is_list(kind)
    assert not is_list(kind.value_type)


def test_numbers_with_a_decimal_comma_and_a_few_bad_ones() -> None:
    found = numbers(pa.chunked_array([["1,5", "2,25", " 3,0 ", "oops", None]]), "x")
    np.testing.assert_array_equal(found, [1.5, 2.25, 3.0, np.nan, np.nan])


def test_words_where_numbers_belong_name_their_place() -> None:
    with pytest.raises(NothingUsable, match="line 3: column x holds 'a', not a number"):
        numbers(pa.chunked_array([["1", "a", "b"]]), "x", "line", 2)
    with pytest.raises(NothingUsable, match="column x must hold numbers, it holds bool"):
        numbers(pa.chunked_array([[True]]), "x")
