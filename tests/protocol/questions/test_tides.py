"""Towards the centre or away from it, by the time of day."""

from __future__ import annotations

from ldptrace.protocol.questions import Tides
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip


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
