"""Read the values of columns: numbers, lists of numbers, identifiers. Numbers are passed
between Arrow and NumPy without a copy. The conversions of pyarrow are not used because they load pandas, which takes
long.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.errors import InputError, NothingUsable

V = TypeVar("V")
NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$|^\s*[+-]?(?i:nan|inf|infinity)\s*$"


class _Functions:
    """The module `pyarrow.compute`, loaded when it is first used because loading takes long."""

    def __getattr__(self, name: str) -> Any:
        import pyarrow.compute

        return getattr(pyarrow.compute, name)


pc: Any = _Functions()


def without_rows(schema: pa.Schema) -> pa.Table:
    """Return an empty table; `Schema.empty_table` loads pandas."""
    return pa.Table.from_batches([], schema)


def common(values: Sequence[V]) -> V | None:
    """Return the value of all, or None if they differ.

    >>> common(["UTC", "UTC"]), common(["UTC", None])
    ('UTC', None)
    """
    return values[0] if all(value == values[0] for value in values) else None


def text_of(value: object) -> str | None:
    """Return a number or a text of a document as a text, a date as its ISO form, and None for anything else.

    >>> text_of(60), text_of("60"), text_of(True)
    ('60.0', '60', None)
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float | date):
        return None
    if isinstance(value, str | date):
        return value if isinstance(value, str) else value.isoformat()
    try:
        return repr(float(value))
    except OverflowError:
        return "inf" if value > 0 else "-inf"


def values_of(values: list[Any], *, texts: bool = False) -> pa.Array:
    """Return values of documents as a column. Values that have no type in common become texts, also those of lists.

    >>> values_of([1, "a", None]).to_pylist(), values_of([[1, "a"], 7]).to_pylist()
    (['1', 'a', None], [['1.0', 'a'], None])
    """
    if not texts:
        with suppress(pa.ArrowException, OverflowError):
            return pa.array(values)
    if any(isinstance(value, list) for value in values):
        lists = [list(map(text_of, value)) if isinstance(value, list) else None for value in values]
        return pa.array(lists, pa.list_(pa.string()))
    return _texts(values)


def names_of(values: list[Any]) -> pa.Array:
    """Return names of documents as a column: texts, or whole numbers if all are such. Other values never change
    which names are equal; a number equals the text that is written alike.

    >>> names_of([7, 7.0, None]).to_pylist(), names_of([7, 7.0, True, ["a"]]).to_pylist()
    ([7, 7, None], ['7', '7', 'true', '["a"]'])
    """
    whole = [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]
    if all(value is None or type(value) is int for value in whole):
        with suppress(OverflowError):
            return pa.array(whole, pa.int64())
    return _texts(whole)


def _texts(values: list[Any]) -> pa.Array:
    return pa.array([one if isinstance(one, str | None) else json.dumps(one) for one in values], pa.string())


def whole_of(texts: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return whole numbers if all texts are written as such."""
    with suppress(pa.ArrowInvalid):
        numbers = texts.cast(pa.int64())
        if pc.all(pc.equal(numbers.cast(pa.string()), texts)).as_py():
            return numbers
    return None


def column_of(values: NDArray[Any]) -> pa.Array:
    """Return an Arrow array of the same numbers, without a copy if they are contiguous.

    >>> column_of(np.array([1.5, 2.5])).to_pylist()
    [1.5, 2.5]
    """
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def numbers_of(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return the numbers of an Arrow array, without a copy and read-only if the array has one chunk. Missing values
    become NaN, and whole numbers then become floats.

    >>> numbers_of(pa.chunked_array([[1, 2], [3]])).tolist(), numbers_of(pa.array([1, None])).tolist()
    ([1, 2, 3], [1.0, nan])
    """
    if isinstance(column, pa.ChunkedArray):
        parts = [numbers_of(chunk) for chunk in column.chunks]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty(0, dtype=column.type.to_pandas_dtype())
    if column.null_count or not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return column.to_numpy(zero_copy_only=False)
    return np.from_dlpack(column)


DECIMAL_COMMA = r"^\s*([+-]?\d+),(\d+)\s*$"


def is_list(kind: pa.DataType) -> bool:
    """Whether an Arrow type is a list of some kind."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def is_number(kind: pa.DataType) -> bool:
    """Whether an Arrow type is a type of numbers, or the type null."""
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind))


def is_text(kind: pa.DataType) -> bool:
    """Whether an Arrow type is a type of texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def numbers(column: pa.ChunkedArray, name: str, place: str = "row", first: int = 1) -> Floats:
    """Return values as floats. Missing values and texts become NaN, unless most of the column is not numbers.

    An error message names the `place` (row or line), counted from `first`.
    """
    kind = column.type
    if is_text(kind):
        comma = pc.match_substring_regex(column, DECIMAL_COMMA).fill_null(False)
        if pc.any(comma).as_py():
            column = pc.if_else(comma, pc.replace_substring(column, ",", "."), column)
        good = pc.match_substring_regex(column, NUMBER).fill_null(True)
        if 2 * (pc.sum(good).as_py() or 0) < len(column):
            row = pc.index(good, False).as_py()
            raise NothingUsable(
                f"{place} {row + first}: column {name} holds {column[row].as_py()!r}, not a number"
            )
        column = pc.utf8_trim_whitespace(pc.if_else(good, column, None))
    elif not (is_number(kind) or pa.types.is_decimal(kind)):
        raise NothingUsable(f"column {name} must hold numbers, it holds {kind}")
    values: Floats = column.cast(pa.float64()).to_numpy()
    return values


def lists_of_numbers(column: pa.ChunkedArray, name: str) -> Floats:
    """Return the numbers of all lists of a column."""
    if is_list(column.type) and is_text(column.type.value_type):
        return numbers(flat_lists(column), name, "value")
    if not is_list(column.type) or not is_number(column.type.value_type):
        raise InputError(f"column {name!r} must hold lists of numbers, it holds {column.type}")
    return np.asarray(numbers_of(flat_lists(column)), dtype=np.float64)


def list_offsets(column: pa.ChunkedArray) -> Ints:
    """Return the offsets of the lists of a column. A null counts as an empty list."""
    return ragged.offsets_of(np.nan_to_num(numbers_of(pc.list_value_length(column))).astype(np.int64))


def flat_lists(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of all lists of a column, as a column."""
    return pa.chunked_array([chunk.flatten() for chunk in column.chunks], column.type.value_type)


def codes(column: pa.ChunkedArray) -> Ints:
    """Return a whole number for each value; equal values have equal numbers, and a missing value counts as a value."""
    if not pa.types.is_integer(column.type) or column.null_count:
        column = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode").indices
    return column.to_numpy()


def split_ids(column: pa.ChunkedArray, name: str) -> tuple[Ints | None, dict[str, pa.ChunkedArray]]:
    """Return identifiers as numbers. Identifiers that are not numbers become an extra column."""
    if is_number(column.type) and not column.null_count:
        # The cast refuses fractions and what is too large.
        with suppress(pa.ArrowInvalid):
            return numbers_of(column if column.type == pa.int64() else column.cast(pa.int64())), {}
    return None, {"traj_name" if name == "traj_id" else name: column}
