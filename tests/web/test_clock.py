"""Times that operators write, and clocks for trials."""

from __future__ import annotations

import time

import pytest

from ldptrace.errors import InputError
from ldptrace.web.limits import moment, trial_clock


def test_a_trial_clock_is_the_same_after_a_restart() -> None:
    text = f"2027-03-01,1000,{time.time() - 10}"
    assert trial_clock(text)() == pytest.approx(1_803_859_200 + 10_000, abs=500)
    one, two = (trial_clock(text, lambda: 2e9) for _ in range(2))
    assert one() == two()
    assert trial_clock("2027-03-01,1000")() == pytest.approx(1_803_859_200, abs=500)


@pytest.mark.parametrize(
    "text", ["", "2027-03-01", "x,1", "2027-03-01,x", "2027-03-01,0", "2027-03-01,1e9", "2027-03-01,1,2,3"]
)
def test_what_is_no_clock_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        trial_clock(text)


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2027-02-30", "2027-03-01T25:00", "inf", "0001-01-01T00:00+14:00x"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="a time is a moment"):
        moment(text)
