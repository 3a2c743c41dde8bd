from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import PlanError
from ldptrace.protocol.lattice import district
from ldptrace.protocol.questions import CutEnd, End, Pairs, Question, Start, Terminals, Visits
from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.trips import NO_TRIP, Occasion, Trip
from statistics_kit import assert_proportion

PATH = Trip([4, 5, 8, 7])


@pytest.mark.parametrize(
    ("question", "items"),
    [
        (Start(3), [4]),
        (End(3), [7]),
        (CutEnd(3, 2), [5]),
        (CutEnd(3, 9), [7]),
        (Terminals(3), [4, 7]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_ends_of_a_path(question: Question, items: list[int]) -> None:
    assert question.answer(Occasion(PATH), Source()) == [items]
    assert question.answer(Occasion(Trip([])), Source()) == [[]]
    assert question.domain == 9


def test_a_loop_names_one_cell() -> None:
    assert Terminals(3).answer(Occasion(Trip([4, 5, 4])), Source()) == [[4]]
    assert Terminals(3).answer(Occasion(Trip([4])), Source()) == [[4]]


def test_short_paths_name_all_their_cells_once() -> None:
    assert Visits(3, 9).answer(Occasion(Trip([4, 5, 4, 3])), Source()) == [[3, 4, 5]]
    assert Visits(3, 2).answer(Occasion(Trip([])), Source()) == [[]]


def test_positions_are_drawn_before_repeats_are_removed() -> None:
    """Of the positions 4 5 4 two are drawn: both 4s one time in three, and then one cell is named."""
    source, question = Source(), Visits(3, 2)
    alone = sum(question.answer(Occasion(Trip([4, 5, 4])), source) == [[4]] for _ in range(6000))
    assert_proportion(alone, 6000, 1 / 3)


NOTHING = Source(BytesReader(b""))


def test_start_and_end_are_one_item() -> None:
    there, back = (
        Pairs(4, 2).answer(Occasion(Trip(path)), NOTHING) for path in ([0, 5, 10, 15], [15, 10, 5, 0])
    )
    assert (there, back) == ([[3]], [[12]])
    assert Pairs(4, 2).words(3) == "from district 0,0 to district 1,1"
    assert Pairs(4, 2).answer(Occasion(Trip([15])), NOTHING) == [[15]]


def test_no_trip_is_a_null_answer() -> None:
    assert Pairs(4, 2).answer(NO_TRIP, NOTHING) == [[]]


@given(st.integers(2, 40), st.integers(2, 32))
def test_districts_are_rectangles_of_nearly_equal_sides(n: int, districts: int) -> None:
    k = min(n, districts)
    columns = [district(cell, n, k) // k for cell in range(0, n * n, n)]
    rows = [district(cell, n, k) % k for cell in range(n)]
    for found in (columns, rows):
        sizes = [found.count(number) for number in range(k)]
        assert found == sorted(found)
        assert sum(sizes) == n
        assert max(sizes) - min(sizes) <= 1
    assert district((n - 1) * n, n, k) == (k - 1) * k


@pytest.mark.parametrize("districts", [1, 5, 33, 2.0, True])
def test_districts_hold_whole_cells(districts: int) -> None:
    with pytest.raises(PlanError, match="districts must be an integer from 2 to 4"):
        Pairs(4, districts)


def test_the_most_districts_are_as_many_pairs_as_a_report_may_be_about() -> None:
    assert Pairs(100, 32).domain == 1 << 20
    with pytest.raises(PlanError, match="2 to 32"):
        Pairs(100, 33)
