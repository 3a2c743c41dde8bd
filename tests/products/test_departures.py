"""Hours, parts of the day and days in which trips begin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.products.departures import HOUR, Slots, checked_by, slots_of


def trips(*starts: float, timezone: str | None = None) -> Trajectories:
    many = len(starts)
    return Trajectories(
        np.zeros(many), np.zeros(many), np.arange(many + 1), t=np.array(starts), timezone=timezone
    )


def names(found: Slots) -> list[str]:
    slots, place = found
    return [slots[k] for k in place]


def test_hours_and_periods_are_those_of_local_clocks() -> None:
    of_day = trips(0.5 * HOUR, 5 * HOUR, 12 * HOUR, 19.9 * HOUR, 25 * HOUR)
    assert names(slots_of(of_day, "hour")) == ["hour_00", "hour_05", "hour_12", "hour_19", "hour_01"]
    assert names(slots_of(of_day, "period")) == ["night", "morning", "midday", "evening", "night"]
    # 2023-11-14T22:13:20Z
    assert names(slots_of(trips(1.7e9), "hour")) == ["hour_22"]
    assert names(slots_of(trips(1.7e9, timezone="Asia/Tokyo"), "hour")) == ["hour_07"]


def test_days_are_dates() -> None:
    assert names(slots_of(trips(1.7e9, 1.7e9 + 86_400), "day")) == ["day_2023_11_14", "day_2023_11_15"]
    assert names(slots_of(trips(1.7e9, timezone="Asia/Tokyo"), "day")) == ["day_2023_11_15"]


def test_without_times_there_is_nothing_to_tell_apart() -> None:
    plain = replace(trips(1.0), t=None)
    assert names(slots_of(plain, None)) == ["trips"]
    with pytest.raises(InputError, match="the trips have no times"):
        slots_of(plain, "hour")
    with pytest.raises(InputError, match="times of day but no dates"):
        slots_of(trips(1.0), "day")
    with pytest.raises(InputError, match="1 trips have no departure time"):
        slots_of(trips(1.0, np.nan), "hour")
    with pytest.raises(InputError, match="by must be one of hour, period, weekday, day, got 'week'"):
        checked_by("week")


def test_days_of_the_week() -> None:
    # 100 weeks after the first of January 1970, a Thursday; the last trip begins on the Monday after it.
    found = slots_of(trips(*(86_400 * (700 + day) for day in (0.5, 1.5, 4.1))), "weekday")
    assert names(found) == ["thursday", "friday", "monday"]
    assert len(found[0]) == 7
    with pytest.raises(InputError, match=r"no dates, so they cannot be counted by weekday.*--week"):
        slots_of(trips(1.0), "weekday")
