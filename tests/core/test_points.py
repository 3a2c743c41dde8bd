from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.columns import Names
from ldptrace.core.points import gather, numbers
from ldptrace.errors import FormatError, NothingUsable


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), min_size=1, max_size=30))
def test_points_are_gathered_by_trip_and_sorted_by_time(rows: list[tuple[int, int]]) -> None:
    trips, times = zip(*rows, strict=True)
    found = gather(pa.table({"trip": trips, "x": range(len(rows)), "y": range(len(rows)), "t": times}))
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
    found = gather(table)
    assert np.diff(found.offsets).tolist() == [2, 1]
    assert found.x.tolist() == [0, 2, 1]
    assert found.ids is None
    assert found.extra is not None
    assert found.extra.to_pydict() == {"trip": [1, 1], "user": ["a", "b"]}
    assert found.user == "user"


def test_points_are_sorted_by_their_numbers_where_there_are_no_times() -> None:
    found = gather(pa.table({"shape_id": [1, 1, 1], "x": [0, 1, 2], "y": [0] * 3, "seq": [3, 1, 2]}))
    assert found.x.tolist() == [1, 2, 0]
    assert found.notes == ("points sorted by seq",)


def test_points_without_a_trip_are_counted() -> None:
    found = gather(pa.table({"trip": [1, None, 1], "x": [0, 1, 2], "y": [0, 1, 2]}))
    assert (found.x.tolist(), found.without_id) == ([0, 2], 1)


def test_further_columns_pass_where_they_are_of_the_trip() -> None:
    found = gather(pa.table({"trip": [2, 2], "x": [0, 1], "y": [0, 1], "mode": ["a", "a"], "v": [1, 2]}))
    assert found.extra is not None
    assert found.extra.to_pydict() == {"mode": ["a"]}
    assert found.notes == ("columns left out, because they change within a trajectory: v",)


def test_one_log_is_one_trip_only_when_said() -> None:
    table = pa.table({"x": [0, 1], "y": [0, 1]})
    assert gather(table, single=True).offsets.tolist() == [0, 2]
    with pytest.raises(FormatError, match="no column says which trajectory a point belongs to"):
        gather(table)


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
    found = gather(pa.table({"id": [1, 1], "geometry": texts}))
    assert (found.x.tolist(), found.y.tolist(), found.crs) == ([1, 3], [2, 4], crs)


def test_geometries_that_are_no_points() -> None:
    for values in (["LINESTRING (0 0, 1 1)"], [b"\x01\x01"]):
        with pytest.raises(FormatError, match="column geometry must hold points as WKT or GeoJSON"):
            gather(pa.table({"id": [1], "geometry": values}))


def test_a_zone_says_what_the_clocks_mean() -> None:
    table = pa.table({"id": [1], "x": [0], "y": [0], "t": ["2024-07-01 12:00:00"]})
    found = gather(table, timezone="Europe/Berlin")
    assert found.t is not None
    assert found.t.tolist() == [1_719_828_000.0]


def test_numbers_with_a_decimal_comma_and_a_few_bad_ones() -> None:
    found = numbers(pa.chunked_array([["1,5", "2,25", " 3,0 ", "oops", None]]), "x")
    np.testing.assert_array_equal(found, [1.5, 2.25, 3.0, np.nan, np.nan])


def test_words_where_numbers_belong_name_their_place() -> None:
    with pytest.raises(NothingUsable, match="line 3: column x holds 'a', not a number"):
        numbers(pa.chunked_array([["1", "a", "b"]]), "x", "line", 2)
    with pytest.raises(NothingUsable, match="column x must hold numbers, it holds bool"):
        numbers(pa.chunked_array([[True]]), "x")


def test_columns_can_be_named() -> None:
    found = gather(pa.table({"who": [4], "a": [1], "b": [2]}), names=Names(x="b", y="a", id="who"))
    assert (found.x.tolist(), found.y.tolist()) == ([2], [1])
    assert found.ids is not None
    assert found.ids.tolist() == [4]
