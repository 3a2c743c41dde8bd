"""How many trips there were."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ldptrace.protocol.questions import Trips
from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.trips import NO_TRIP, Occasion, Trip

NOTHING = Source(BytesReader(b""))


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
