from __future__ import annotations

import datetime
from typing import Any

import pytest

from ldptrace.core.drawing import Drawing, Points, Ways
from ldptrace.errors import InputError


def test_what_is_given_goes_before_what_is_saved() -> None:
    saved = Drawing(interval=10, date="2026-03-01", timezone="Europe/Berlin")
    assert saved.day == datetime.date(2026, 3, 1)
    assert Drawing().or_else(saved) == saved
    assert Drawing(spacing=5).or_else(saved) == Drawing(5, None, saved.date, saved.timezone)
    assert Drawing(**saved.document()) == saved


@pytest.mark.parametrize(
    ("record", "wrong", "words"),
    [
        (Points, {"spacing": 0}, "spacing must be a positive number, got 0"),
        (Points, {"spacing": float("nan")}, "spacing must be a number, got 'nan'"),
        (Points, {"interval": -1}, "interval must be at least 0.001, got -1"),
        (Points, {"spacing": 1, "interval": 1}, "a spacing or an interval, not both"),
        (Drawing, {"date": "March"}, "a date is written as 2026-03-01, got 'March'"),
        (Drawing, {"timezone": "Mars/Olympus"}, "no time zone 'Mars/Olympus'"),
        (Ways, {"off_streets": "maybe"}, "off_streets must be auto or never, got 'maybe'"),
    ],
)
def test_what_cannot_be(record: type, wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        record(**wrong)
