from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from trajectory_kit import assert_same, trajectory_sets


@given(trajectory_sets(min_points=0, extra=True), st.data())
def test_take_by_number_and_by_mask_agree(trajectories: Trajectories, data: st.DataObject) -> None:
    picked = data.draw(st.lists(st.booleans(), min_size=len(trajectories), max_size=len(trajectories)))
    mask = np.array(picked)
    by_mask, by_number = trajectories.take(mask), trajectories.take(np.flatnonzero(mask))
    numbered = by_number if by_number.ids is not None else None
    if numbered is not None:
        assert_same(by_mask, numbered)
    np.testing.assert_array_equal(by_mask.x, by_number.x)
    np.testing.assert_array_equal(by_mask.offsets, by_number.offsets)
    assert by_mask.sizes.tolist() == trajectories.sizes[mask].tolist()


def test_take_repeats_and_reorders() -> None:
    trajectories = Trajectories.from_lists([[(0, 0), (1, 1)], [], [(2, 2)]])
    taken = trajectories.take([2, 0, 2, 1])
    assert taken.x.tolist() == [2, 0, 1, 2]
    assert taken.sizes.tolist() == [1, 2, 1, 0]


@given(trajectory_sets(min_points=0, extra=True))
def test_arrow_and_back(trajectories: Trajectories) -> None:
    assert_same(Trajectories.from_arrow(trajectories.to_arrow(), crs=trajectories.crs), trajectories)


def test_slices_and_chunks_of_arrow() -> None:
    table = Trajectories.from_lists([[(0, 1)], [(2, 3), (4, 5)], [], [(6, 7)]]).to_arrow()
    chunks = pa.concat_tables([table.slice(1, 2), table.slice(3, 1)])
    found = Trajectories.from_arrow(chunks)
    assert found.x.tolist() == [2, 4, 6]
    assert found.y.tolist() == [3, 5, 7]
    assert found.sizes.tolist() == [2, 0, 1]


def test_concat_keeps_what_all_parts_have() -> None:
    first = Trajectories([0, 1], [0, 1], [0, 2], t=[0, 1], ids=[4])
    second = Trajectories([2], [2], [0, 1], ids=[5])
    joined = Trajectories.concat([first, second])
    assert joined.t is None
    assert joined.ids is not None
    assert joined.ids.tolist() == [4, 5]
    assert joined.offsets.tolist() == [0, 2, 3]
    with pytest.raises(InputError, match="different coordinate systems"):
        Trajectories.concat([first, Trajectories([0], [0], [0, 1], crs="EPSG:4326")])


@given(trajectory_sets(min_points=0, extra=True), st.floats(0, 1e9))
def test_split_cuts_at_every_gap_and_loses_nothing(trajectories: Trajectories, gap: float) -> None:
    if trajectories.t is None:
        with pytest.raises(InputError, match="no times"):
            trajectories.split(gap)
        return
    parts = trajectories.split(gap)
    np.testing.assert_array_equal(parts.x, trajectories.x)
    assert set(trajectories.offsets) <= set(parts.offsets)
    assert parts.extra is not None
    whole = parts.extra["whole_id"].to_numpy()
    ids = np.arange(len(trajectories)) if trajectories.ids is None else trajectories.ids
    assert list(dict.fromkeys(whole)) == ids.tolist()
    for k in range(len(parts)):
        times = parts.t[parts.offsets[k] : parts.offsets[k + 1]] if parts.t is not None else np.empty(0)
        assert np.all(np.diff(times) <= gap)
    np.testing.assert_array_equal(
        np.bincount(np.searchsorted(np.sort(ids), whole), parts.sizes, minlength=len(ids)),
        trajectories.sizes[np.argsort(ids)],
    )


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"x": [1, 2], "y": [1], "offsets": [0, 2]}, "column y has 1 points where x has 2"),
        ({"x": [1], "y": [1], "offsets": [0, 2]}, "offsets must run from 0 to the number of points, 1"),
        ({"x": [1, 2], "y": [1, 2], "offsets": [0, 3, 2]}, "offsets must not decrease"),
        ({"x": [1], "y": [1], "offsets": [0, 1], "ids": [1, 2]}, "there are 2 ids for 1 trajectories"),
        ({"x": [1], "y": [1], "offsets": [0, 1], "extra": pa.table({"a": []})}, "extra columns have 0 rows"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Trajectories(**columns)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        (pa.table({"x": [[1.0]]}), "no column for y .* the columns are x"),
        (pa.table({"x": [1.0], "y": [1.0]}), "no column says which trajectory"),
        (pa.table({"x": [[1.0]], "y": [[1.0]], "t": [[1.0, 2.0]]}), "row 1 has 1 values in x and 2 in t"),
        (pa.table({"x": [["a"]], "y": [[1.0]]}), "value 1: column x holds 'a', not a number"),
    ],
)
def test_tables_that_do_not_fit_are_refused(table: pa.Table, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Trajectories.from_arrow(table)


def test_a_set_without_points_has_no_bounds() -> None:
    with pytest.raises(InputError, match="without points has no bounds"):
        Trajectories.concat([]).bounds()


def test_users_are_counted_by_their_column() -> None:
    trips = Trajectories(
        [0] * 5, [0] * 5, range(6), extra=pa.table({"who": ["b", "a", None, "b", None]}), user="who"
    )
    assert len(np.unique(trips.users)) == 4
    assert trips.users[0] == trips.users[3]
    assert trips[3].user == "b"
    assert trips.take([3, 0]).users.tolist() == [0, 0]
    assert "of 4 users" in repr(trips)
    assert Trajectories.from_lists([[(0, 0)], [(1, 1)]]).users.tolist() == [0, 1]
    with pytest.raises(InputError, match="user column 'nobody'"):
        Trajectories([0], [0], [0, 1], user="nobody")


def test_parts_of_a_log_stay_one_persons() -> None:
    log = Trajectories([0, 1, 2], [0, 0, 0], [0, 2, 3], t=[0, 4000, 0])
    assert log.split(900).users.tolist() == [0, 0, 1]


def test_iteration_and_indexing() -> None:
    trips = Trajectories([0, 1, 2], [5, 6, 7], [0, 2, 3], t=[0, 1, 2], ids=[8, 9])
    assert [trip.id for trip in trips] == [8, 9]
    assert trips[-1].x.tolist() == [2]
    assert trips[0].t is not None
    assert repr(trips[0]) == "<Trajectory 8: 2 points>"
    assert trips[[True, False]].x.tolist() == [0, 1]
    assert len(trips[1:]) == 1
    with pytest.raises(IndexError, match="there is no trajectory 2"):
        trips[2]


def test_the_time_of_the_first_point_is_added() -> None:
    table = pa.table({"x": [[0.0, 1.0]], "y": [[0.0, 1.0]], "t": [[0.0, 15.0]], "t0": [1_700_000_000]})
    found = Trajectories.from_arrow(table)
    assert found.t is not None
    assert found.t.tolist() == [1_700_000_000, 1_700_000_015]
    assert found.extra is None
    assert found.has_dates


def test_joined_sets_keep_what_they_share() -> None:
    one = Trajectories([0], [0], [0, 1], extra=pa.table({"u": [1]}), user="u", provenance={"epsilon": "1"})
    both = Trajectories.concat([one, one])
    assert (both.user, both.provenance) == ("u", {"epsilon": "1"})
    assert Trajectories.concat([one, replace(one, provenance=None)]).provenance is None


def test_a_zone_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="no time zone 'Mars/Base'"):
        Trajectories([0], [0], [0, 1], timezone="Mars/Base")
