from __future__ import annotations

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ldptrace.protocol.questions import Departure, Pace, Tides, Trips
from ldptrace.protocol.questions.times import edge
from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.trips import NO_TRIP, Occasion, Trip

NOTHING = Source(BytesReader(b""))


def test_hours_are_those_of_the_clock_and_days_begin_on_monday() -> None:
    monday = 4 * 86_400.0  # 5 January 1970
    week = Departure(4, 7, 0)
    for hour in range(168):
        trip = Trip([0], departure=monday + hour * 3600.0 + 3599.9)
        assert week.answer(Occasion(trip), Source()) == [[hour]]
        assert Departure(4, 1, 0).answer(Occasion(trip), Source()) == [[hour % 24]]
    assert week.words(0) == "Monday, from 0 to 1 o'clock"
    assert week.words(167) == "Sunday, from 23 to 24 o'clock"
    assert Departure(4, 1, 0).answer(Occasion(Trip([0], departure=-0.5)), Source()) == [[23]]


def test_hours_nearby_go_round_the_clock() -> None:
    late = Trip([0], departure=23 * 3600.0)
    assert Departure(4, 1, 2).answer(Occasion(late), Source()) == [[0, 1, 21, 22, 23]]
    assert Departure(4, 7, 1).answer(Occasion(Trip([0], departure=(4 * 24 - 1) * 3600.0)), Source()) == [
        [0, 166, 167]
    ]
    assert len(Departure(4, 1, 11).answer(Occasion(late), Source())[0]) == Departure(4, 1, 11).capacity == 23


SPEEDS = Pace(4, 1000, 1000, 2000, 26, 0)


def test_speed_classes_begin_at_their_edges() -> None:
    edges = [edge(k, 2000) for k in range(25)]
    assert all(math.isclose(b / a, 2**0.25) for a, b in pairwise(edges))
    for k, metres in enumerate(edges):
        for way, item in ((metres, k + 1), (math.nextafter(metres, 0.0), k)):
            # 3.6 * way in millimetres over 3600 seconds is the speed in metres per hour.
            trip = Trip([0], [(0.0, 0.0), (way, 0.0)], 0.0, 3600.0)
            assert abs(SPEEDS.answer(Occasion(trip), Source())[0][0] - item) <= (
                0 if k % 4 == 0 and item == k + 1 else 1
            )
    assert SPEEDS.answer(Occasion(Trip([0], [(5.0, 5.0)], 0.0, 60.0)), Source()) == [[0]]
    assert SPEEDS.answer(Occasion(Trip([0], [(0.0, 0.0), (1e7, 0.0)], 0.0, 60.0)), Source()) == [[25]]
    assert SPEEDS.words(0) == "slower than 2 km/h"
    assert SPEEDS.words(25) == "128 km/h or faster"


def test_scales_stretch_each_axis() -> None:
    degrees = Pace(4, 88_000_000, 111_195_000, 2000, 26, 0)
    east, north = (Trip([0], [(0.0, 0.0), step], 0.0, 360.0) for step in ((0.01, 0.0), (0.0, 0.01)))
    assert degrees.way(east) == 880_000.0
    assert math.isclose(degrees.way(north), 1_111_950.0)


def test_tides_compare_the_two_ends_with_the_centre() -> None:
    tides, morning = Tides(4, 5), 7 * 3600.0
    assert tides.answer(Occasion(Trip([15, 10, 5], departure=morning)), Source()) == [[2]]
    assert tides.answer(Occasion(Trip([5, 10, 15], departure=morning)), Source()) == [[3]]
    assert tides.answer(Occasion(Trip([4, 5, 6], departure=morning)), Source()) == [[]]
    assert [
        tides.answer(Occasion(Trip([0, 5], departure=h * 3600.0)), Source())[0][0] // 2
        for h in (0, 4, 5, 10, 15, 20)
    ] == [*(0, 0, 1, 2, 3, 0)]
    assert tides.words(7) == "away from the centre in the evening"


@given(st.integers(1, 10**9))
def test_every_number_is_in_the_class_that_says_so(count: int) -> None:
    [[item]] = Trips(6).answer(Occasion(Trip([1]), count), NOTHING)
    words = Trips(6).words(item)
    if count >= 6:
        assert words == "6 trips or more"
    elif count >= 4:
        assert words == "4 to 5 trips"
    else:
        assert words == f"{count} trip{'' if count == 1 else 's'}"


def test_no_trip_is_a_null_answer() -> None:
    assert Trips(6).answer(NO_TRIP, NOTHING) == [[]]
    assert Trips(6).answer(Occasion(Trip([]), 3), NOTHING) == [[]]
    assert Trips(6).answer(Occasion(Trip([1]), 0), NOTHING) == [[]]
