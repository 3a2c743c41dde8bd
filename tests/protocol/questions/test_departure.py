"""The hour of departure, by the device's own clock."""

from __future__ import annotations

from ldptrace.protocol.questions import Departure
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip


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
