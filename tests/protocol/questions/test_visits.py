from __future__ import annotations

from ldptrace.protocol.questions import Visits
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip
from statistics_kit import assert_proportion


def test_short_paths_name_all_their_cells_once() -> None:
    assert Visits(3, 9).answer(Occasion(Trip([4, 5, 4, 3])), Source()) == [[3, 4, 5]]
    assert Visits(3, 2).answer(Occasion(Trip([])), Source()) == [[]]


def test_positions_are_drawn_before_repeats_are_removed() -> None:
    """Of the positions 4 5 4 two are drawn: both 4s one time in three, and then one cell is named."""
    source, question = Source(), Visits(3, 2)
    alone = sum(question.answer(Occasion(Trip([4, 5, 4])), source) == [[4]] for _ in range(6000))
    assert_proportion(alone, 6000, 1 / 3)
