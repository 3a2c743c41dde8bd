"""Group trips by the hour, the part of the day or the day in which they begin."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, get_args

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.times import DAY, to_local
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.protocol.questions.times import DAYS, PART_OF_HOUR

By = Literal["hour", "period", "weekday", "day"]
# Names of the parts of the day, in the order of `PART_OF_HOUR`.
PERIODS = ("night", "morning", "midday", "evening")
WEEKDAYS = tuple(name.lower() for name in DAYS)
HOUR = 3600.0


# The names of periods, such as `hour_08`, `morning`, `monday` or `day_2026_03_01`, and for each trip the number of its
# period.
Slots = tuple[tuple[str, ...], Ints]


def slots_of(trips: Trajectories, by: By | None) -> Slots:
    """Find the periods in which trips begin, each of which has at least one point; without `by`, one for all trips.

    >>> trips = Trajectories([0, 1], [0, 0], [0, 1, 2], t=[8.5 * HOUR, 17 * HOUR])
    >>> slots, place = slots_of(trips, "period")
    >>> [slots[k] for k in place]
    ['morning', 'evening']
    """
    if by is None:
        return ("trips",), np.zeros(len(trips), dtype=np.int64)
    clock = to_local(checked_times(trips, by)[trips.offsets[:-1]], trips.timezone)
    if not np.isfinite(clock).all():
        raise InputError(f"{np.count_nonzero(~np.isfinite(clock)):,} trips have no departure time")
    return slots_at(clock, by)


def slots_at(clock: Floats, by: By) -> Slots:
    """Find the periods of moments, in seconds of local time."""
    if by == "weekday":
        # The first of January 1970 was a Thursday.
        return WEEKDAYS, (np.floor(clock / DAY).astype(np.int64) + 3) % len(WEEKDAYS)
    if by == "day":
        days, place = np.unique(np.floor(clock / DAY), return_inverse=True)
        return tuple(datetime.fromtimestamp(day * DAY, UTC).strftime("day_%Y_%m_%d") for day in days), place
    hours = np.floor(clock % DAY / HOUR).astype(np.int64)
    if by == "hour":
        return tuple(f"hour_{hour:02d}" for hour in range(24)), hours
    return PERIODS, np.array(PART_OF_HOUR)[hours]


def checked_by(by: str | None) -> By | None:
    """Return the checked option that says how numbers are divided by time."""
    if by is not None and by not in get_args(By):
        raise InputError(f"by must be one of {', '.join(get_args(By))}, got {by!r}")
    return by  # type: ignore[return-value]


def checked_times(trips: Trajectories, by: str) -> Floats:
    """Return the times of trips, or raise an error if they do not tell the periods."""
    if trips.t is None:
        raise InputError(
            f"the trips have no times, so they cannot be counted by {by}; collect with times, or omit --by"
        )
    if by in ("day", "weekday") and not trips.has_dates:
        raise InputError(
            f"the trips have times of day but no dates, so they cannot be counted by {by}; `ldptrace synthesize` "
            "gives dates with --date, and learns the days of the week with --week"
        )
    return trips.t
