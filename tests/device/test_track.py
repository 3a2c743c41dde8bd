from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.device.track import coordinate, trip_of
from ldptrace.protocol.grid import Grid

GRID = Grid((0.0, 0.0, 4.0, 4.0), 4)


@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=8))
def test_paths_are_king_walks_on_the_grid(points: list[tuple[float, float]]) -> None:
    path = trip_of(points, GRID).path
    assert (path == []) == (points == [])
    for here, there in pairwise(path):
        assert max(abs(here // 4 - there // 4), abs(here % 4 - there % 4)) == 1
    assert all(0 <= cell < 16 for cell in path)


def test_gaps_are_filled_diagonally_first_and_repeats_are_removed() -> None:
    assert trip_of([(0.5, 0.5), (0.9, 0.9), (3.5, 1.5)], GRID).path == [0, 5, 9, 13]
    # Outside counts for the nearest cell.
    assert trip_of([(-9, 2.5), (99, 2.5)], GRID).path == [2, 6, 10, 14]


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0),
        (Fraction(1, 2), 0.5),
        (True, math.nan),
        ("3", math.nan),
        (b"3", math.nan),
        (None, math.nan),
        (10**400, math.inf),
    ],
)
def test_numbers_are_numbers_and_nothing_else_is(value: object, number: float) -> None:
    assert coordinate(value) == pytest.approx(number, nan_ok=True)


class Broken:
    """Raises whatever is asked of it."""

    def __iter__(self) -> object:
        raise RuntimeError

    def __getitem__(self, place: int) -> float:
        raise RuntimeError

    def __float__(self) -> float:
        raise RuntimeError


@pytest.mark.parametrize("points", [None, 7, Broken(), [Broken()], [(Broken(), 1)], [()], [None], "ab"])
def test_whatever_a_trajectory_is_it_has_a_trip(points: object) -> None:
    trip = trip_of(points, GRID)  # type: ignore[arg-type]
    assert trip.seconds is None
    assert all(0 <= cell < 16 for cell in trip.path)


@pytest.mark.parametrize(
    ("first", "last", "seconds"),
    [(30.0, 90.0, 60.0), (90.0, 30.0, None), (30.0, None, None), (math.nan, 90.0, None), (30.0, 1e13, None)],
)
def test_times_need_both_ends(first: float, last: float | None, seconds: float | None) -> None:
    trip = trip_of([(0.5, 0.5, first), (1.5, 0.5, last)], GRID)  # type: ignore[list-item]
    assert trip.seconds == seconds
