from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.times import epoch_unit, iso, to_local, to_utc
from ldptrace.errors import InputError

SUMMER, WINTER = 1_720_000_000.0, 1_700_000_000.0


def test_clocks_of_a_zone_follow_the_seasons() -> None:
    t = np.array([SUMMER, WINTER])
    local = to_local(t, "Europe/Berlin")
    assert (local - t).tolist() == [7200, 3600]
    np.testing.assert_array_equal(to_utc(local, "Europe/Berlin"), t)
    assert to_local(t, None) is t


def test_times_of_the_day_have_no_zone() -> None:
    t = np.array([3600.0, 100_000.0])
    assert to_local(t, "Asia/Tokyo") is t


def test_half_hours_and_missing_times() -> None:
    t = np.array([WINTER, np.nan])
    local = to_local(t, "Asia/Kathmandu")
    assert local[0] - t[0] == 5.75 * 3600
    assert np.isnan(local[1])


@pytest.mark.parametrize(
    ("value", "unit"),
    [(1.7e9, None), (1.7e12, "milliseconds"), (1.7e15, "microseconds"), (1.7e18, "nanoseconds"), (5.0, None)],
)
def test_the_unit_of_large_numbers(value: float, unit: str | None) -> None:
    found = epoch_unit(np.array([value, np.nan]))
    assert (found and found[0]) == unit
    if found:
        assert value / found[1] == 1.7e9


def test_a_date_that_cannot_be() -> None:
    assert iso(1e15) is None
    assert iso(WINTER, "Asia/Tokyo") == "2023-11-15T07:13:20+09:00"
    with pytest.raises(InputError, match="no time zone"):
        iso(WINTER, "../etc/passwd")
