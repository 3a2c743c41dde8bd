from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ldptrace.core.values import is_list, is_number, numbers, split_ids
from ldptrace.errors import NothingUsable


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
