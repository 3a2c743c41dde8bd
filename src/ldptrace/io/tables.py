"""A table of points as a reader's finding, with what was left out."""

from __future__ import annotations

import pyarrow as pa

from ldptrace.core.points import gather
from ldptrace.core.trajectories import Trajectories
from ldptrace.io.account import Parsed
from ldptrace.io.reading import Reading


def from_points(table: pa.Table, reading: Reading, *, place: str = "row", first: int = 1) -> Parsed:
    """Trajectories of a table with one row per point; a complaint names the `place`, counted from `first`."""
    found = gather(
        table,
        names=reading.names,
        timezone=reading.timezone,
        single=reading.single,
        place=place,
        first=first,
    )
    trajectories = Trajectories.from_gathered(found, timezone=reading.timezone)
    left_out = {"no trajectory id": found.without_id} if found.without_id else {}
    return Parsed(trajectories, table.num_rows, dropped_points=left_out, notes=found.notes)
