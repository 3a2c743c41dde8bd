from __future__ import annotations

import pytest

from ldptrace.protocol.lattice import move_count, move_item
from ldptrace.protocol.questions import CombinedSteps, Steps
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip

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
