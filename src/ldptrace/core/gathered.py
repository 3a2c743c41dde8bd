"""What was gathered from a table: ragged columns, as `Trajectories` takes them, and what is worth saying."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ldptrace.core.arrow import numbers_of


@dataclass(frozen=True)
class Gathered:
    """Ragged columns of the points of a table; `without_id` counts points that belong to no trajectory."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    offsets: NDArray[np.int64]
    t: NDArray[np.float64] | None
    ids: NDArray[np.int64] | None
    crs: str | None
    extra: pa.Table | None
    user: str | None
    without_id: int
    notes: tuple[str, ...]


def is_number(kind: pa.DataType) -> bool:
    """Whether an Arrow type is one of numbers (or of nothing at all)."""
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind))


def split_ids(
    column: pa.ChunkedArray, name: str
) -> tuple[NDArray[np.int64] | None, dict[str, pa.ChunkedArray]]:
    """Identifiers as numbers; where they are none, the column is an extra one."""
    if is_number(column.type) and not column.null_count:
        # The cast refuses fractions and what is too large.
        with suppress(pa.ArrowInvalid):
            return numbers_of(column if column.type == pa.int64() else column.cast(pa.int64())), {}
    return None, {"traj_name" if name == "traj_id" else name: column}
