from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.protocol.trips import LAST_CLOCK, Trip, clock


@given(st.floats(-1e11, 1e11), st.floats(-1e11, 1e11))
def test_a_trip_takes_time_only_where_it_ends_after_it_began(departure: float, arrival: float) -> None:
    seconds = Trip([0], (), departure, arrival).seconds
    assert seconds == (arrival - departure if arrival > departure else None)


@pytest.mark.parametrize(
    ("departure", "hour"), [(0.0, 0), (3599.999, 0), (3600.0, 1), (-0.5, -1), (-3600.0, -1), (None, None)]
)
def test_hours_are_full_hours_since_1970(departure: float | None, hour: int | None) -> None:
    assert Trip([0], (), departure).hour == hour


@given(st.floats(-LAST_CLOCK, LAST_CLOCK, exclude_min=True, exclude_max=True))
def test_a_clock_shows_a_number(value: float) -> None:
    assert clock(value) == value


@pytest.mark.parametrize("value", [None, "7", True, math.nan, math.inf, LAST_CLOCK, -LAST_CLOCK, 10**400])
def test_what_no_clock_shows(value: object) -> None:
    assert clock(value) is None


@pytest.mark.parametrize("value", [None, "7", True, math.nan, math.inf, -math.inf, 1e12, -1e12, 1.7e15])
def test_what_is_no_time_is_unknown(value: object) -> None:
    assert clock(value) is None
