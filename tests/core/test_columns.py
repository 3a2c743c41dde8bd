from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.columns import (
    GEOGRAPHIC,
    PLANAR,
    TIME_NAMES,
    TRIP_NAMES,
    USER_NAMES,
    Names,
    find_columns,
    refuse_repeats,
)
from ldptrace.errors import FormatError, InputError


@given(
    st.sampled_from([(x, y, None) for x in PLANAR[0] for y in PLANAR[1]])
    | st.sampled_from([(x, y, "EPSG:4326") for x in GEOGRAPHIC[0] for y in GEOGRAPHIC[1]]),
    st.sampled_from(TRIP_NAMES),
    st.sampled_from(USER_NAMES),
    st.sampled_from(TIME_NAMES),
    st.sampled_from([str.upper, str.title, lambda name: name.replace("_", " "), lambda name: f" {name}."]),
    st.randoms(use_true_random=False),
)
def test_usual_names_are_found_however_they_are_spelt(
    axes: tuple[str, str, str | None],
    trip: str,
    user: str,
    time: str,
    spell: Callable[[str], str],
    shuffler: Random,
) -> None:
    x, y, crs = axes
    names = [spell(name) for name in (x, y, trip, user, time)]
    wanted = (*names, crs)
    shuffler.shuffle(names)
    found = find_columns(names)
    assert (found.x, found.y, found.id, found.user, found.t, found.crs) == wanted


def test_a_column_that_is_named_wins_and_is_nothing_else() -> None:
    found = find_columns(["id", "x", "y", "lon", "lat", "t"], Names(x="lon", y="lat", id="t"))
    assert (found.x, found.y, found.id, found.t) == ("lon", "lat", "t", None)
    assert found.crs == "EPSG:4326"


def test_x_and_y_are_of_one_kind() -> None:
    found = find_columns(["x", "lat", "lon", "id"])
    assert (found.x, found.y, found.crs) == ("lon", "lat", "EPSG:4326")
    with pytest.raises(FormatError, match="x and y of one kind"):
        find_columns(["x", "lat", "id"])


def test_each_user_has_one_trajectory_where_no_trip_is_named() -> None:
    found = find_columns(["uid", "x", "y"])
    assert (found.id, found.user) == ("uid", "uid")


def test_the_day_counts_only_beside_a_clock() -> None:
    assert find_columns(["id", "x", "y", "date", "time"]).date == "date"
    assert find_columns(["id", "x", "y", "date", "timestamp"]).date is None
    assert find_columns(["id", "x", "y", "date"]).t == "date"


def test_points_as_text_count_only_where_there_is_no_x_and_y() -> None:
    assert find_columns(["id", "geom"]).geometry == "geom"
    assert find_columns(["id", "geom", "x", "y"]).geometry is None


def test_what_is_used_is_all_but_the_user() -> None:
    found = find_columns(["trip", "uid", "x", "y", "seq", "speed"])
    assert found.used == {"trip", "x", "y", "seq"}


def test_what_is_missing_is_named() -> None:
    with pytest.raises(FormatError, match=r"no column for y \(y, .*lat.*; the columns are x, speed"):
        find_columns(["x", "speed"])
    with pytest.raises(InputError, match="there is no column 'when' for t; the columns are id, x, y"):
        find_columns(["id", "x", "y"], Names(t="when"))
    with pytest.raises(FormatError, match=r"several columns named x, y$"):
        refuse_repeats(["x", "y", "x", "y", "z"])


def test_x_without_y_names_a_column_of_lines() -> None:
    found = find_columns(["trip", "driver", "route"], Names(x="route"))
    assert (found.geometry, found.x, found.y, found.id) == ("route", None, None, "trip")
    assert find_columns(["trip", "east", "y"], Names(x="east")).y == "y"
    with pytest.raises(FormatError, match=r"or with --x alone a column of points or lines"):
        find_columns(["trip", "route"])
