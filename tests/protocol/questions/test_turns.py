from __future__ import annotations

import pytest

from ldptrace.protocol.questions import Turns
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip
from statistics_kit import assert_proportion


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
