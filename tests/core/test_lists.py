from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.columns import find_columns
from ldptrace.core.gathered import Gathered
from ldptrace.core.lists import gather_lists, is_list
from ldptrace.errors import InputError


def gathered(table: pa.Table) -> Gathered:
    return gather_lists(table, find_columns(table.column_names), None)


@pytest.mark.parametrize("kind", [pa.list_(pa.int8()), pa.large_list(pa.float64()), pa.list_(pa.int8(), 2)])
def test_lists_of_every_kind(kind: pa.DataType) -> None:
    assert is_list(kind)
    assert not is_list(kind.value_type)


@given(st.lists(st.lists(st.floats(-9, 9), max_size=3) | st.none(), max_size=6), st.integers(0, 6))
def test_rows_become_columns_whatever_the_chunks(rows: list[list[float] | None], cut: int) -> None:
    kind = pa.list_(pa.float64())
    column = pa.chunked_array([pa.array(rows[:cut], kind), pa.array(rows[cut:], kind)])
    found = gathered(pa.table({"x": column, "y": column}))
    assert found.x.tolist() == [value for row in rows for value in row or []]
    assert np.diff(found.offsets).tolist() == [len(row or []) for row in rows]
    assert found.offsets[0] == 0


def test_times_of_each_start_are_added() -> None:
    table = pa.table({"x": [[0, 1], [2]], "y": [[0, 1], [2]], "t": [[0, 5], [7]], "t0": [100, 200]})
    found = gathered(table)
    assert found.t is not None
    assert found.t.tolist() == [100, 105, 207]
    assert found.extra is None


def test_numbers_of_trips_that_repeat_between_users_are_no_ids() -> None:
    table = pa.table({"trip_id": [1, 1], "user": ["a", "b"], "x": [[0], [1]], "y": [[0], [1]]})
    found = gathered(table)
    assert found.ids is None
    assert found.extra is not None
    assert found.extra.to_pydict() == {"trip_id": [1, 1], "user": ["a", "b"]}
    assert found.notes == ("trip_id repeats between users, so a trajectory is known by both",)


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"x": [[0], [1]], "y": [[0], [1, 2]]}, "row 2 has 1 values in x and 2 in y"),
        ({"x": [[0]], "y": [["a"]]}, "column 'y' must hold lists of numbers, it holds list"),
        ({"x": [[0]], "y": [[0]], "t": [[1, 2]]}, "column t has other list lengths than x"),
        ({"x": [[0]], "y": [[0]], "t": [["noon"]]}, "column t must hold lists of seconds or of times"),
    ],
)
def test_lists_that_do_not_fit(columns: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        gathered(pa.table(columns))


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.float32()), pa.large_list(pa.float64()), pa.list_(pa.float64(), 2)]
)
@pytest.mark.parametrize("missing", [False, True])
def test_lists_of_all_kinds_whole_or_in_pieces(kind: pa.DataType, missing: bool) -> None:
    rows = [[1.0, 2.0], None if missing else [5.0, 6.0], [3.0, 4.0]]
    column = pa.array(rows, kind)
    pieces = pa.chunked_array([column[1:], column[:0], column[:1]])
    found = gathered(pa.table({"x": pieces, "y": pieces}))
    assert found.x.tolist() == ([3, 4, 1, 2] if missing else [5, 6, 3, 4, 1, 2])
    assert np.diff(found.offsets).tolist() == ([0, 2, 2] if missing else [2, 2, 2])
