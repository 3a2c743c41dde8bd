"""What people hold in memory as a reader's finding: data frames, Arrow tables, and whatever speaks Arrow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa

from ldptrace.core import frames
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io.account import Parsed
from ldptrace.io.reading import Reading
from ldptrace.io.tables import from_points

KINDS = (
    "Trajectories, a pandas DataFrame, a GeoDataFrame, a movingpandas TrajectoryCollection, an Arrow table, or the "
    "name of a file"
)


def held(data: Any, reading: Reading) -> Parsed:
    """Trajectories of something in memory."""
    if isinstance(data, Trajectories):
        return Parsed(data, len(data))
    kind = frames.is_frame(data)
    names = reading.names
    if kind == "GeoDataFrame":
        found = Trajectories.from_geopandas(
            data, t=names.t, id=names.id, user=names.user, timezone=reading.timezone
        )
        return Parsed(found, len(data))
    if kind in {"TrajectoryCollection", "Trajectory"}:
        found = Trajectories.from_movingpandas(data)
        return Parsed(found, len(found))
    if kind == "DataFrame":
        table = frames.table_of(data)
    elif isinstance(data, pa.Table | pa.RecordBatch) or hasattr(data, "__arrow_c_stream__"):
        table = pa.table(data)
    else:
        raise InputError(f"trajectories are needed ({KINDS}), got {type(data).__name__}")
    parsed = from_points(table, reading)
    return replace(parsed, trajectories=replace(parsed.trajectories, provenance=frames.promised(data)))
