"""Tables as a reader's finding: data frames, Arrow tables, and everything that speaks Arrow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa

from ldptrace.core import frames
from ldptrace.core.tables import read_table
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.io.account import Parsed
from ldptrace.io.reading import Reading

KINDS = (
    "Trajectories, a pandas DataFrame, a GeoDataFrame, a movingpandas TrajectoryCollection, an Arrow table, or the "
    "name of a file"
)


def of_table(table: pa.Table, reading: Reading, *, place: str = "row", first: int = 1) -> Parsed:
    """Trajectories of a table with one row per point or per trajectory.

    A complaint names the `place`, counted from `first`.
    """
    found = read_table(
        table,
        names=reading.names,
        timezone=reading.timezone,
        single=reading.single,
        place=place,
        first=first,
    )
    trajectories = Trajectories.from_table(found, timezone=reading.timezone)
    omitted = {"no trajectory id": found.without_id} if found.without_id else {}
    return Parsed(
        trajectories,
        table.num_rows,
        dropped_points=omitted,
        notes=found.notes,
        doubts=unzoned(found.unzoned, reading),
    )


def unzoned(times: int, reading: Reading) -> dict[str, int]:
    """Times without a zone in a column where others name one, as a doubt."""
    what = f"times without a zone, read on the clocks of {reading.timezone or 'UTC'}, beside times with one"
    return {what: times} if times else {}


def in_memory(data: Any, reading: Reading) -> Parsed:
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
    parsed = of_table(table, reading)
    return replace(parsed, trajectories=replace(parsed.trajectories, provenance=frames.promised(data)))
