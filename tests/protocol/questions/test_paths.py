from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import PlanError
from ldptrace.protocol.lattice import bend_count, bend_of, district, link_count, move_count, move_item
from ldptrace.protocol.questions import (
    Bends,
    CombinedSteps,
    CutEnd,
    End,
    Length,
    Links,
    Moves,
    Pairs,
    Question,
    Start,
    Steps,
    Terminals,
    Turns,
    Visits,
)
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


@pytest.mark.parametrize(("cells", "item"), [(1, 0), (2, 1), (5, 4), (6, 4), (99, 4)])
def test_long_paths_count_as_the_longest(cells: int, item: int) -> None:
    assert Length(9, cap=5).answer(Occasion(Trip(([0, 1] * 50)[:cells])), Source()) == [[item]]


def test_no_path_is_a_null_answer() -> None:
    assert Length(9, cap=5).answer(Occasion(Trip([])), Source()) == [[]]


def test_words_name_the_last_item_as_open() -> None:
    assert [Length(9, cap=3).words(item) for item in range(3)] == ["1 cell", "2 cells", "3 cells or more"]


@pytest.mark.parametrize("cap", [1, 0, -1, 2.0, True, "3", 1 << 17])
def test_a_cap_is_a_whole_number(cap: object) -> None:
    with pytest.raises(PlanError, match="cap must be"):
        Length(9, cap=cap)  # type: ignore[arg-type]


def test_a_step_back_is_another_move_and_the_same_link() -> None:
    there_and_back = Trip([0, 1, 0])
    assert len(Moves(2, 3).answer(Occasion(there_and_back), Source())[0]) == 2
    assert len(Links(2, 3).answer(Occasion(there_and_back), Source())[0]) == 1


def test_one_cell_makes_no_move() -> None:
    assert (
        Moves(3, 2).answer(Occasion(Trip([4])), Source())
        == Links(3, 2).answer(Occasion(Trip([])), Source())
        == [[]]
    )


def test_each_step_is_as_likely_to_be_drawn() -> None:
    source, path = Source(), Trip([0, 1, 2, 5, 8])
    first = Moves(3, 4).answer(Occasion(Trip([0, 1])), source)[0][0]
    named = sum(first in Moves(3, 1).answer(Occasion(path), source)[0] for _ in range(6000))
    assert_proportion(named, 6000, 1 / 4)


@pytest.mark.parametrize("kind", [Moves, Links])
def test_a_set_is_no_larger_than_its_domain(kind: type[Moves | Links]) -> None:
    most = {Moves: move_count(2), Links: link_count(2)}[kind]
    assert kind(2, most).domain == most
    with pytest.raises(PlanError, match="most must be"):
        kind(2, most + 1)


def test_words_name_both_cells() -> None:
    assert Moves(2, 1).words(0) == "from cell A1 to cell A2"
    assert len({Links(3, 1).words(item) for item in range(link_count(3))}) == link_count(3)


@pytest.mark.parametrize(
    ("path", "item"),
    [([0, 1, 2], 0), ([0, 1, 5], 1), ([0, 1, 4], 2), ([1, 5, 4], 3), ([0, 1, 0], 4)],
)
def test_a_bend_is_named_by_its_angle(path: list[int], item: int) -> None:
    assert Turns(3).answer(Occasion(Trip(path)), Source()) == [[item]]


def test_two_cells_have_no_bend() -> None:
    assert Turns(3).answer(Occasion(Trip([0, 1])), Source()) == [[]]


def test_one_bend_is_drawn_at_random() -> None:
    straight = sum(Turns(4).answer(Occasion(Trip([0, 1, 2, 6, 10])), Source()) == [[0]] for _ in range(6000))
    assert_proportion(straight, 6000, 2 / 3)


def test_a_path_and_its_reverse_have_the_same_bends() -> None:
    path = [0, 1, 4, 8, 5, 8]
    there, back = (
        Bends(3, 9).answer(Occasion(Trip(cells)), Source()) for cells in (path, list(reversed(path)))
    )
    assert there == back
    assert {(*sorted({a, c}), b) for a, b, c in (bend_of(item, 3) for item in there[0])} == {
        (0, 4, 1),
        (1, 8, 4),
        (4, 5, 8),
        (8, 5),
    }


@pytest.mark.parametrize("path", [[], [4], [4, 5]])
def test_two_cells_have_no_cell_between_others(path: list[int]) -> None:
    assert Bends(3, 2).answer(Occasion(Trip(path)), Source()) == [[]]


def test_each_inner_cell_is_as_likely_to_be_drawn() -> None:
    source, path = Source(), Trip([0, 1, 2, 5, 8])
    first = Bends(3, 4).answer(Occasion(Trip([0, 1, 2])), source)[0][0]
    named = sum(first in Bends(3, 1).answer(Occasion(path), source)[0] for _ in range(6000))
    assert_proportion(named, 6000, 1 / 3)


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_every_bend_has_words_of_its_own(n: int) -> None:
    words = {Bends(n, 1).words(item) for item in range(Bends(n, 1).domain)}
    assert len(words) == bend_count(n)


def test_a_set_of_bends_is_no_larger_than_its_domain() -> None:
    assert Bends(2, 24).domain == 24
    with pytest.raises(PlanError, match="most must be"):
        Bends(2, 25)


MOVES = [move_item(a, b, 3) for a, b in ((0, 1), (1, 2), (2, 5))]


@pytest.mark.parametrize(
    ("count", "slots"),
    [(2, [[MOVES[0]], [MOVES[1]]]), (4, [[MOVES[0]], [MOVES[1]], [MOVES[2]], []])],
)
def test_the_first_moves_in_order_then_empty_slots(count: int, slots: list[list[int]]) -> None:
    assert Steps(3, count).answer(Occasion(Trip([0, 1, 2, 5])), Source()) == slots
    assert Steps(3, count).slots == count
    assert Steps(3, count).answer(Occasion(Trip([])), Source()) == [[]] * count


def test_beginning_and_end_share_the_domain_of_the_moves() -> None:
    question = CombinedSteps(3, 3)
    begin, end = move_count(3) + 0, move_count(3) + 9 + 2
    assert question.answer(Occasion(Trip([0, 1, 2])), Source()) == [
        [begin],
        [MOVES[0]],
        [MOVES[1]],
        [],
        [end],
    ]
    assert question.answer(Occasion(Trip([])), Source()) == [[]] * 5
    assert (question.words(begin), question.words(end)) == ("beginning in cell A1", "end in cell A3")
