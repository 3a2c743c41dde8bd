from __future__ import annotations

import pyarrow as pa
import pytest

from ldptrace.core.gathered import is_number, split_ids


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
