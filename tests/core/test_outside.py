from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.outside import (
    Crossings,
    Outside,
    fixes_outside,
    leak_of,
    missed,
    unwrap,
    within,
)
from ldptrace.core.trajectories import Trajectories

BOX = (0.0, 0.0, 10.0, 10.0)


def trips(*lines: list[float]) -> Trajectories:
    """Trips along a line, which are inside between 0 and 10."""
    return Trajectories.from_lists([[(x, 1.0) for x in line] for line in lines])


def pieces_of(line: list[float]) -> list[list[float]]:
    """The rule, point by point: strays go first, then runs of what is inside are pieces."""
    inside = [0 <= x <= 10 for x in line]
    stray = [
        not inside[k] and 0 < k < len(line) - 1 and inside[k - 1] and inside[k + 1] for k in range(len(line))
    ]
    found: list[list[float]] = [[]]
    for x, here, omitted in zip(line, inside, stray, strict=True):
        if omitted:
            continue
        if here:
            found[-1].append(x)
        elif found[-1]:
            found.append([])
    return [piece for piece in found if piece] or [[]]


FIX = st.sampled_from([1.0, 2.0, 3.0, 20.0, 30.0])


@given(st.lists(st.lists(FIX, max_size=9), min_size=1, max_size=6))
def test_cutting_follows_the_rule_point_by_point(lines: list[list[float]]) -> None:
    found, crossings = within(trips(*lines), BOX)
    wanted = [pieces_of(line) for line in lines]
    assert [piece.x.tolist() for piece in found] == [piece for pieces in wanted for piece in pieces]
    owners = [number for number, pieces in enumerate(wanted) for _ in pieces]
    assert (np.arange(len(found)) if found.trips is None else found.trips).tolist() == owners
    assert found.trip_count == len(lines)
    assert crossings.points == sum(x > 10 for line in lines for x in line)
    assert crossings.trips == sum(any(x > 10 for x in line) for line in lines)
    assert crossings.empty == sum(bool(line) and min(line) > 10 for line in lines)


@given(st.lists(st.lists(FIX, max_size=9), min_size=1, max_size=6), st.integers(0, 6))
def test_crossings_of_parts_add_up(lines: list[list[float]], cut: int) -> None:
    every = trips(*lines)
    for policy in get_args(Outside):
        whole = within(every, BOX, policy)[1]
        parts = [within(part, BOX, policy)[1] for part in (every[:cut], every[cut:])]
        assert parts[0] + parts[1] == whole


@pytest.mark.parametrize("policy", get_args(Outside))
def test_what_is_inside_is_untouched(policy: Outside) -> None:
    inside = trips([0, 10], [], [5])
    found, crossings = within(inside, BOX, policy)
    assert found is inside
    assert crossings == Crossings(policy)
    assert crossings.sentence == ""


@pytest.mark.parametrize("point", [(-0.1, 5.0), (10.1, 5.0), (5.0, -0.1), (5.0, 10.1)])
def test_every_side_of_the_bounds_counts(point: tuple[float, float]) -> None:
    found, _ = within(Trajectories.from_lists([[(5, 5), point]]), BOX)
    assert found.x.tolist() == [5]


def test_one_stray_fix_does_not_end_a_trip() -> None:
    found, crossings = within(trips([1, 0, 2, 500, 3, 4]), BOX)
    assert found.x.tolist() == [1, 0, 2, 3, 4]
    assert (len(found), found.trips, crossings.strays) == (1, None, 1)
    # Two in a row do, and so does one at either end.
    assert within(trips([1, 500, 501, 2]), BOX)[0].sizes.tolist() == [1, 1]
    assert within(trips([500, 1, 2, 500]), BOX)[1].strays == 0


def test_a_stray_of_one_trip_is_none_of_the_next() -> None:
    found, crossings = within(trips([1, 500], [2], [500, 3]), BOX)
    assert (found.sizes.tolist(), crossings.strays) == ([1, 1, 1], 0)


def test_times_ids_and_columns_go_with_the_pieces() -> None:
    whole = replace(
        trips([1, 20, 21, 2], [3]),
        t=np.arange(5.0),
        ids=np.array([7, 8]),
        extra=pa.table({"who": ["a", "b"]}),
        user="who",
    )
    found, _ = within(whole, BOX)
    assert found.t is not None
    assert found.t.tolist() == [0, 3, 4]
    assert found.ids is None
    assert found.extra is not None
    assert found.extra.to_pydict() == {"who": ["a", "a", "b"], "whole_id": [7, 7, 8]}
    assert found.users.tolist() == [0, 0, 1]
    # Without a second piece a trip keeps its name.
    kept, _ = within(whole[1:], (0, 0, 5, 5))
    assert kept.ids is not None


def test_pieces_of_pieces_belong_to_the_same_trip() -> None:
    once, _ = within(trips([1, 20, 21, 2, 4, 5, 3], [3]), BOX)
    twice, _ = within(once, (0.0, 0.0, 3.5, 10.0))
    assert twice.trips is not None
    assert (len(twice), twice.trips.tolist()) == (4, [0, 0, 0, 1])


def test_dropping_omits_whole_trips_and_clamping_moves_points() -> None:
    every = trips([1, 20], [], [3], [40])
    kept, crossings = within(every, BOX, "drop")
    assert (kept.sizes.tolist(), crossings.dropped) == ([0, 1], 2)
    moved, crossings = within(every, BOX, "clamp")
    assert (moved.x.tolist(), moved.sizes.tolist(), crossings.dropped) == ([1, 10, 3, 10], [2, 0, 1, 1], 0)
    assert every.x.tolist() == [1, 20, 3, 40]


def test_a_sentence_for_each_policy() -> None:
    every = Trajectories.from_lists([[(1, 1), (-1, -1), (2, 2)], [(50, 50)], [(3, 3), (0, 0), (4, 4)]])
    said = [within(every, (1.0, 1.0, 10.0, 10.0), policy)[1].sentence for policy in get_args(Outside)]
    assert said == [
        "3 points of 3 trips lie outside the bounds: omitted (2 single strays, 1 at 0,0), "
        "1 trip wholly outside counts as no trip",
        "3 trips leave the bounds and are omitted",
        "3 points of 3 trips moved to the border of the bounds",
    ]
    assert within(trips([1, 20]), BOX, "drop")[1].sentence == "1 trip leaves the bounds and is omitted"
    assert "the trips cut into 2 pieces" in within(trips([1, 20, 21, 2]), BOX)[1].sentence
    assert "2 trips wholly outside count as no trip" in within(trips([20], [21], [1]), BOX)[1].sentence


def test_silence_is_a_leak_whether_or_not_anybody_was_silent() -> None:
    assert [leak_of(policy) is None for policy in get_args(Outside)] == [True, False, True]


def test_longitudes_turn_only_where_the_bounds_pass_the_antimeridian() -> None:
    fiji = Trajectories.from_lists([[(179, -17), (-179, -16)]], crs="EPSG:4326")
    assert unwrap(fiji, (170, -20, 180, -12)) is fiji
    assert unwrap(replace(fiji, crs=None), (177, -20, 183, -12)).x.tolist() == [179, -179]
    assert fixes_outside(unwrap(fiji, (177, -20, 183, -12)), (177, -20, 183, -12)) is None


def test_bounds_that_miss_everything_name_the_cure() -> None:
    beijing = Trajectories.from_lists([[(116.3, 39.9), (116.4, 39.95)]])
    assert missed(beijing, BOX, "cut").startswith(
        "no point lies in the bounds 0,0,10,10: the data span 116.3,39.9"
    )
    assert missed(beijing, (39, 116, 41, 117), "drop").endswith(
        "give the bounds as 116,39,117,41, or name the columns the other way round with x and y (--x, --y)"
    )
