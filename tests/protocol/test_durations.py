"""Durations as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.errors import InputError
from ldptrace.protocol.durations import duration_text, duration_words, seconds_of


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
