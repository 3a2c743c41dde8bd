from __future__ import annotations

import pytest

from ldptrace.errors import PlanError
from ldptrace.protocol.lattice import link_count, move_count
from ldptrace.protocol.questions import Links, Moves
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip
from statistics_kit import assert_proportion


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
