from __future__ import annotations

import pytest

from ldptrace.errors import PlanError
from ldptrace.protocol.lattice import bend_count, bend_of, link_count, move_count, move_item
from ldptrace.protocol.questions import Bends, CombinedSteps, Length, Links, Moves, Steps, Turns
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip
from statistics_kit import assert_proportion


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
