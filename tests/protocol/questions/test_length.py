from __future__ import annotations

import pytest

from ldptrace.errors import PlanError
from ldptrace.protocol.questions import Length
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip


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
