from __future__ import annotations

import pytest

from ldptrace.errors import PlanError
from ldptrace.protocol.lattice import bend_count, bend_of
from ldptrace.protocol.questions import Bends
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip
from statistics_kit import assert_proportion


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
def test_two_cells_have_no_bend(path: list[int]) -> None:
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


def test_a_set_is_no_larger_than_its_domain() -> None:
    assert Bends(2, 24).domain == 24
    with pytest.raises(PlanError, match="most must be"):
        Bends(2, 25)
