"""Names of coordinates, and what a unit of them is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import InputError
from ldptrace.protocol.units import (
    DEGREE,
    METRE,
    duration_text,
    duration_words,
    millimetres,
    plan_crs,
    seconds_of,
)


def test_degrees_shrink_towards_the_pole() -> None:
    assert millimetres((0, -1, 1, 1), "EPSG:4326") == (DEGREE, DEGREE)
    assert millimetres((0, 59, 1, 61), "epsg:4326")[0] == round(DEGREE / 2)
    assert millimetres((0, 59, 1, 61), "EPSG:3857") == (METRE, METRE)


def test_a_small_map_without_a_name_is_one_of_degrees() -> None:
    assert millimetres((0, -1, 1, 1), None) == (DEGREE, DEGREE)
    assert millimetres((0, -1, 11, 1), None) == (METRE, METRE)
    assert millimetres((0, 89, 1, 91), None) == (METRE, METRE)


def test_only_short_names_are_in_a_plan() -> None:
    assert plan_crs(None) is None
    assert plan_crs("EPSG:25832") == "EPSG:25832"
    assert plan_crs("x" * 65) is None


@given(st.integers(1, 10**10))
def test_what_is_written_is_read_again(seconds: int) -> None:
    assert seconds_of(duration_text(seconds)) == seconds


@pytest.mark.parametrize(
    "text", ["", "7", "d", "-1d", "0s", "1w", "1 d", "1e3s", "0.5s", "7 days", "٣d", "1.5"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="a duration is"):
        seconds_of(text)


def test_words() -> None:
    assert [duration_words(s) for s in (1, 90, 5400, 86_400, 0)] == [
        *("1 second", "90 seconds", "90 minutes", "1 day", "0 seconds"),
    ]
    assert duration_text(0) == "0s"
