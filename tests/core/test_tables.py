from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.reading import Names
from ldptrace.core.tables import RaggedTable, read_table
from ldptrace.errors import FormatError, InputError


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), min_size=1, max_size=30))
def test_points_are_gathered_by_trip_and_sorted_by_time(rows: list[tuple[int, int]]) -> None:
    trips, times = zip(*rows, strict=True)
    found = read_table(pa.table({"trip": trips, "x": range(len(rows)), "y": range(len(rows)), "t": times}))
    # The trips in the order they appear, each one's points by time, equal times as in the table.
    wanted = [
        row
        for trip in dict.fromkeys(trips)
        for row in sorted((k for k in range(len(rows)) if trips[k] == trip), key=lambda k: times[k])
    ]
    assert found.x.tolist() == wanted
    assert found.ids is not None
    assert found.ids.tolist() == list(dict.fromkeys(trips))
    assert found.t is not None
    assert found.t.tolist() == [times[k] for k in wanted]


def test_a_trip_is_known_by_its_user_and_its_number() -> None:
    table = pa.table({"user": ["a", "b", "a"], "trip": [1, 1, 1], "x": [0, 1, 2], "y": [0, 1, 2]})
    found = read_table(table)
    assert np.diff(found.offsets).tolist() == [2, 1]
    assert found.x.tolist() == [0, 2, 1]
    assert found.ids is None
    assert found.extra is not None
    assert found.extra.to_pydict() == {"trip": [1, 1], "user": ["a", "b"]}
    assert found.user == "user"


def test_points_are_sorted_by_their_numbers_where_there_are_no_times() -> None:
    found = read_table(pa.table({"shape_id": [1, 1, 1], "x": [0, 1, 2], "y": [0] * 3, "seq": [3, 1, 2]}))
    assert found.x.tolist() == [1, 2, 0]
    assert found.notes == ("points sorted by seq",)


def test_points_without_a_trip_are_counted() -> None:
    found = read_table(pa.table({"trip": [1, None, 1], "x": [0, 1, 2], "y": [0, 1, 2]}))
    assert (found.x.tolist(), found.without_id) == ([0, 2], 1)


def test_further_columns_pass_where_they_are_of_the_trip() -> None:
    found = read_table(pa.table({"trip": [2, 2], "x": [0, 1], "y": [0, 1], "mode": ["a", "a"], "v": [1, 2]}))
    assert found.extra is not None
    assert found.extra.to_pydict() == {"mode": ["a"]}
    assert found.notes == ("columns omitted, because they change within a trajectory: v",)


def test_one_log_is_one_trip_only_when_said() -> None:
    table = pa.table({"x": [0, 1], "y": [0, 1]})
    assert read_table(table, single=True).offsets.tolist() == [0, 2]
    with pytest.raises(FormatError, match="no column says which trajectory a point belongs to"):
        read_table(table)


@pytest.mark.parametrize(
    ("texts", "crs"),
    [
        (["POINT (1 2)", "point(3 4)"], None),
        (["SRID=25833;POINT Z (1 2 9)", "SRID=25833;POINT Z (3 4 9)"], "EPSG:25833"),
        (
            ['{"type":"Point","coordinates":[1,2]}', '{"type":"Point","coordinates": [ 3 , 4.0 ]}'],
            "EPSG:4326",
        ),
    ],
)
def test_points_as_text(texts: list[str], crs: str | None) -> None:
    found = read_table(pa.table({"id": [1, 1], "geometry": texts}))
    assert (found.x.tolist(), found.y.tolist(), found.crs) == ([1, 3], [2, 4], crs)


def test_geometries_that_are_neither_points_nor_lines() -> None:
    for values in (["POLYGON ((0 0, 1 1, 0 1))"], [b"\x01\x01"], [7]):
        with pytest.raises(FormatError, match="column geometry must hold points or lines as WKT or GeoJSON"):
            read_table(pa.table({"id": [1], "geometry": values}))


def test_a_zone_says_what_the_clocks_mean() -> None:
    table = pa.table({"id": [1], "x": [0], "y": [0], "t": ["2024-07-01 12:00:00"]})
    found = read_table(table, timezone="Europe/Berlin")
    assert found.t is not None
    assert found.t.tolist() == [1_719_828_000.0]


def test_columns_can_be_named() -> None:
    found = read_table(pa.table({"who": [4], "a": [1], "b": [2]}), names=Names(x="b", y="a", id="who"))
    assert (found.x.tolist(), found.y.tolist()) == ([2], [1])
    assert found.ids is not None
    assert found.ids.tolist() == [4]


@given(st.lists(st.lists(st.floats(-9, 9), max_size=3) | st.none(), max_size=6), st.integers(0, 6))
def test_rows_become_columns_whatever_the_chunks(rows: list[list[float] | None], cut: int) -> None:
    kind = pa.list_(pa.float64())
    column = pa.chunked_array([pa.array(rows[:cut], kind), pa.array(rows[cut:], kind)])
    found = read_table(pa.table({"x": column, "y": column}))
    assert found.x.tolist() == [value for row in rows for value in row or []]
    assert np.diff(found.offsets).tolist() == [len(row or []) for row in rows]
    assert found.offsets[0] == 0


def test_times_of_each_start_are_added() -> None:
    table = pa.table({"x": [[0, 1], [2]], "y": [[0, 1], [2]], "t": [[0, 5], [7]], "t0": [100, 200]})
    found = read_table(table)
    assert found.t is not None
    assert found.t.tolist() == [100, 105, 207]
    assert found.extra is None


def test_numbers_of_trips_that_repeat_between_users_are_no_ids() -> None:
    table = pa.table({"trip_id": [1, 1], "user": ["a", "b"], "x": [[0], [1]], "y": [[0], [1]]})
    found = read_table(table)
    assert found.ids is None
    assert found.extra is not None
    assert found.extra.to_pydict() == {"trip_id": [1, 1], "user": ["a", "b"]}
    assert found.notes == ("trip_id repeats between users, so user and trip together identify a trajectory",)


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"x": [[0], [1]], "y": [[0], [1, 2]]}, "row 2 has 1 values in x and 2 in y"),
        ({"x": [[0]], "y": [["a"]]}, "value 1: column y holds 'a', not a number"),
        ({"x": [[0]], "y": [[0]], "t": [[1, 2]]}, "row 1 has 1 values in x and 2 in t"),
    ],
)
def test_lists_that_do_not_fit(columns: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read_table(pa.table(columns))


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.float32()), pa.large_list(pa.float64()), pa.list_(pa.float64(), 2)]
)
@pytest.mark.parametrize("missing", [False, True])
def test_lists_of_all_kinds_whole_or_in_pieces(kind: pa.DataType, missing: bool) -> None:
    rows = [[1.0, 2.0], None if missing else [5.0, 6.0], [3.0, 4.0]]
    column = pa.array(rows, kind)
    pieces = pa.chunked_array([column[1:], column[:0], column[:1]])
    found = read_table(pa.table({"x": pieces, "y": pieces}))
    assert found.x.tolist() == ([3, 4, 1, 2] if missing else [5, 6, 3, 4, 1, 2])
    assert np.diff(found.offsets).tolist() == ([0, 2, 2] if missing else [2, 2, 2])


def layouts(rows: list[dict[str, object]]) -> list[RaggedTable]:
    """The same points, one row for each, and one row for each trip."""
    points = pa.Table.from_pylist(rows)
    trips = points.group_by("trip", use_threads=False).aggregate(
        [("x", "list"), ("y", "list"), ("t", "list"), ("t0", "min"), ("user", "min")]
    )
    trips = trips.rename_columns(["trip", "x", "y", "t", "t0", "user"])
    return [read_table(table, timezone="Asia/Tokyo") for table in (points, trips)]


@pytest.mark.parametrize("start", ["2024-05-01 09:00:00", "2024-05-01 00:00:00Z"])
def test_a_start_is_on_the_clocks_of_the_zone_in_both_layouts(start: str) -> None:
    rows = [{"trip": 7, "x": k, "y": k, "t": 60.0 * k, "t0": start, "user": "a"} for k in range(3)]
    for found in layouts(rows):
        assert found.t is not None
        # Nine in the morning in Tokyo is midnight in Greenwich.
        assert found.t.tolist() == [1_714_521_600.0, 1_714_521_660.0, 1_714_521_720.0]
        assert (found.offsets.tolist(), found.user) == ([0, 3], "user")
        assert found.extra is not None
        assert found.extra.to_pydict() == {"user": ["a"]}


def test_times_that_are_not_understood_are_said_alike_in_both_layouts() -> None:
    rows = [{"trip": 7, "x": 1, "y": 1, "t": "noon", "t0": 0, "user": "a"}]
    for found in layouts(rows):
        np.testing.assert_equal(found.t, [np.nan])
        assert "column t: no value is understood as a time, such as 'noon'" in found.notes


def test_a_trip_without_some_times_keeps_its_order_whoever_else_is_sorted() -> None:
    own = [(1, 5.0), (1, None), (1, 3.0)]
    for other in ([(2, 1.0), (2, 2.0)], [(2, 2.0), (2, 1.0)]):
        table = pa.table(
            {
                "trip": [trip for trip, _ in own + other],
                "x": [0, 1, 2, 3, 4],
                "y": [0] * 5,
                "t": [t for _, t in own + other],
            }
        )
        assert read_table(table).x[:3].tolist() == [0, 1, 2]


def test_points_of_a_user_without_a_trip_are_not_lost() -> None:
    table = pa.table(
        {
            "user": ["a", "b", None],
            "trip": pa.array([1, None, None], pa.int64()),
            "x": [0, 1, 2],
            "y": [0, 1, 2],
        }
    )
    found = read_table(table)
    assert (found.offsets.tolist(), found.without_id) == ([0, 1, 2], 1)


def test_the_one_column_of_moments_counts_in_both_layouts() -> None:
    moments = [datetime(2024, 5, 1, tzinfo=UTC)]
    one = pa.table({"trip": [1], "x": [0], "y": [0], "logged": moments})
    lists = pa.table({"trip": [1], "x": [[0]], "y": [[0]], "logged": [moments], "date": [moments[0].date()]})
    for table in (one, lists):
        found = read_table(table)
        assert found.t is not None
        assert found.t.tolist() == [1_714_521_600.0]
        assert "times taken from column logged" in found.notes


def test_a_column_that_repeats_in_runs_is_suggested_for_the_trip() -> None:
    runs = {
        "ride": np.repeat([5, 9, 3, 4], 3),
        "speed": [1, 2, 1, 1, 2, 2] * 2,
        "x": range(12),
        "y": range(12),
    }
    found = read_table(pa.table({"user": ["a"] * 6 + ["b"] * 6, **runs}))
    assert len(found.offsets) == 3
    assert "column ride repeats in runs: does it name trips? (--id ride)" in found.notes
    assert not any("speed" in note and "--id" in note for note in found.notes)
    with pytest.raises(FormatError, match=r"name it with id \(--id ride, which repeats in runs\)"):
        read_table(pa.table(runs))
    # Users have longer runs than their trips.
    with pytest.raises(FormatError, match=r"--id ride, which repeats in runs"):
        read_table(pa.table({"cab": [1] * 6 + [2] * 6, **runs}))
    with pytest.raises(FormatError, match=r"name it with id \(--id\)"):
        read_table(pa.table({name: runs[name] for name in ("speed", "x", "y")}))
