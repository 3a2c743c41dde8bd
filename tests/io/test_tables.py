from __future__ import annotations

import pyarrow as pa
import pytest

from ldptrace.core.columns import Names
from ldptrace.errors import NothingUsable
from ldptrace.io.reading import Reading
from ldptrace.io.tables import from_points


def test_rows_points_and_what_was_left_out() -> None:
    table = pa.table({"trip": [1, None, 1], "x": [0, 1, 2], "y": [5, 6, 7], "t": [9, 8, 7]})
    parsed = from_points(table, Reading())
    assert parsed.rows == 3
    assert parsed.dropped_points == {"no trajectory id": 1}
    assert parsed.trajectories.x.tolist() == [2, 0]
    assert parsed.notes == ("points sorted by time",)
    assert from_points(table.slice(2), Reading()).dropped_points == {}


def test_what_the_user_said_counts() -> None:
    table = pa.table({"a": [1, 2], "b": [3, 4], "t": ["2024-07-01 12:00:00"] * 2})
    parsed = from_points(table, Reading(names=Names(x="b", y="a"), timezone="Europe/Berlin", split_gap=900))
    trips = parsed.trajectories
    assert (len(trips), trips.x.tolist(), trips.timezone) == (1, [3, 4], "Europe/Berlin")
    assert trips.t is not None
    assert trips.t.tolist() == [1_719_828_000.0] * 2


def test_a_complaint_names_the_line() -> None:
    with pytest.raises(NothingUsable, match="line 2: column x holds 'a', not a number"):
        from_points(pa.table({"trip": [1], "x": ["a"], "y": [1]}), Reading(), place="line", first=2)
