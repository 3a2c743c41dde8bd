from __future__ import annotations

import pytest

from ldptrace.protocol.questions import CutEnd, End, Question, Start, Terminals
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip

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
