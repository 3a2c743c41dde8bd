"""Types of arrays, with the names that the whole package uses, and columns of records."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Flags = NDArray[np.bool_]


def make_columns(record: object, kind: Any, *names: str) -> None:
    """Turn these columns of a frozen record into contiguous arrays of one type. A column that is None stays None."""
    for name in names:
        if (column := getattr(record, name)) is not None:
            object.__setattr__(record, name, np.ascontiguousarray(column, dtype=kind))
