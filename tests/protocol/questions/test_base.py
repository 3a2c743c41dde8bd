from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import PlanError
from ldptrace.protocol.questions import QUESTIONS, Departure, Pace, Question, Tides, Visits
from ldptrace.protocol.questions.base import at_random_positions, cell_words, move_items, move_words
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import LAST_CLOCK, Occasion, Trip
from statistics_kit import assert_frequencies


def test_all_items_are_named_where_there_is_room_and_each_once() -> None:
    assert at_random_positions([5, 3, 5], 3, Source()) == [3, 5]
    assert at_random_positions([], 3, Source()) == []


def test_positions_are_chosen_evenly() -> None:
    source = Source(random.Random(1).randbytes)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(12_000):
        drawn = tuple(at_random_positions([10, 20, 30, 40], 2, source))
        counts[drawn] = counts.get(drawn, 0) + 1
    assert len(counts) == 6
    assert_frequencies(list(counts.values()), [1 / 6] * 6)


def test_moves_in_words_lead_from_cell_to_cell() -> None:
    path = [0, 4, 8, 7]
    items = move_items(path, 3)
    assert len(items) == 3
    assert [move_words(item, 3) for item in items] == [
        f"from {cell_words(here, 3)} to {cell_words(there, 3)}" for here, there in pairwise(path)
    ]
    assert cell_words(7, 3) == "cell C2"


@pytest.mark.parametrize("value", [0, 10, 1.0, True, "3", None])
def test_parameters_are_whole_numbers_in_their_range(value: Any) -> None:
    with pytest.raises(PlanError, match="most must be an integer from 1 to 9"):
        Visits(3, value)
    assert Visits(3, 9).capacity == 9


def test_every_question_has_a_name_and_words_of_its_own() -> None:
    assert all(name == kind.name for name, kind in QUESTIONS.items())
    assert len({kind.about for kind in QUESTIONS.values()}) == len(QUESTIONS)


TIMED: list[Question] = [
    Departure(4, 1, 0),
    Departure(4, 7, 2),
    Pace(4, 1000, 1000, 2000, 26, 0),
    Tides(4, 5),
]


@given(
    st.lists(st.integers(0, 15), max_size=3),
    st.lists(st.tuples(st.floats(), st.floats()), max_size=4),
    st.none() | st.floats(-LAST_CLOCK, LAST_CLOCK, exclude_min=True, exclude_max=True),
    st.none() | st.floats(-LAST_CLOCK, LAST_CLOCK, exclude_min=True, exclude_max=True),
)
def test_every_trip_has_an_answer_about_time_in_the_domain(
    path: list[int],
    points: list[tuple[float, float]],
    departure: float | None,
    arrival: float | None,
) -> None:
    trip = Trip(path, points, departure, arrival)
    for question in TIMED:
        (items,) = question.answer(Occasion(trip), Source())
        assert len(set(items)) == len(items) <= question.capacity
        assert all(0 <= item < question.domain for item in items)
        if not path or departure is None:
            assert items == []


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (Departure, {"days": 2, "reach": 0}),
        (Departure, {"days": True, "reach": 0}),
        (Departure, {"days": 1, "reach": 12}),
        (Pace, {"x_scale": 0, "y_scale": 1, "slowest": 1, "classes": 2, "reach": 0}),
        (Pace, {"x_scale": 1, "y_scale": 10**12 + 1, "slowest": 1, "classes": 2, "reach": 0}),
        (Pace, {"x_scale": 1, "y_scale": 1, "slowest": 1, "classes": 65, "reach": 0}),
        (Pace, {"x_scale": 1, "y_scale": 1, "slowest": 1, "classes": 4, "reach": 2}),
        (Tides, {"centre": 16}),
        (Tides, {"centre": -1}),
    ],
)
def test_parameters_out_of_range_are_refused(kind: type[Question], parameters: dict[str, int]) -> None:
    with pytest.raises(PlanError):
        kind(4, **parameters)
