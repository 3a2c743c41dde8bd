"""Numbers between Arrow and numpy, over the same memory; and pyarrow's functions, loaded when one is used.

pyarrow's own conversions load all of pandas first, where it is installed: longer than a whole run may take.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class _Functions:
    """`pyarrow.compute`, which makes hundreds of functions when it loads; most runs need none."""

    def __getattr__(self, name: str) -> Any:
        import pyarrow.compute

        return getattr(pyarrow.compute, name)


pc: Any = _Functions()


def column_of(values: NDArray[Any]) -> pa.Array:
    """An Arrow array of the same numbers, uncopied where they lie side by side.

    >>> column_of(np.array([1.5, 2.5])).to_pylist()
    [1.5, 2.5]
    """
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def numbers_of(column: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """The numbers of an Arrow array, uncopied and not to be written to where it is in one piece.

    What is missing is NaN, which makes whole numbers floating.

    >>> numbers_of(pa.chunked_array([[1, 2], [3]])).tolist(), numbers_of(pa.array([1, None])).tolist()
    ([1, 2, 3], [1.0, nan])
    """
    if isinstance(column, pa.ChunkedArray):
        parts = [numbers_of(chunk) for chunk in column.chunks]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty(0, dtype=column.type.to_pandas_dtype())
    if column.null_count or not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        found: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return found
    return np.from_dlpack(column)
