"""Times: seconds since 1970 UTC, or of the local day where all are below two days; time zones and units.

The one place that knows when numbers are dates, how large they are in other units, and what local means.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.errors import InputError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


DAY = 86_400.0
# Times below this are of the local day (a trip may pass midnight); the others count from 1970.
FIRST_DATE = 2 * DAY
# Zones change their clocks on a quarter of an hour.
QUARTER = 900
# A number above the bound is too large for the unit before it: 1e11 s is the year 5138, 1e11 ms is 1973.
UNITS = ((1e17, "nanoseconds", 1e9), (1e14, "microseconds", 1e6), (1e11, "milliseconds", 1e3))
# Values that are looked at to tell their unit.
SAMPLE = 100_000
# Seconds of the years 1 and 9999, which is what a date can say.
FIRST_SECOND, LAST_SECOND = -62_135_596_800.0, 253_402_300_799.0


def are_dates(t: Floats | None) -> bool:
    """Whether the times count from 1970, rather than from midnight.

    >>> are_dates(np.array([0.0, 90_000.0])), are_dates(np.array([1.7e9])), are_dates(None)
    (False, True, False)
    """
    return t is not None and bool((t >= FIRST_DATE).any())


def epoch_unit(values: Floats) -> tuple[str, float] | None:
    """The unit that numbers this large must be in, with how many make a second; None: seconds.

    >>> epoch_unit(np.array([1.7e12])), epoch_unit(np.array([1.7e9]))
    (('milliseconds', 1000.0), None)
    """
    some = values[:: max(1, len(values) // SAMPLE)]
    known = np.abs(some[np.isfinite(some)])
    if len(known) == 0:
        return None
    typical = float(np.median(known))
    return next(((name, per_second) for bound, name, per_second in UNITS if typical >= bound), None)


@lru_cache
def zone(name: str) -> ZoneInfo:
    """The time zone of that name.

    >>> zone("Europe/Berlin").key
    'Europe/Berlin'
    """
    # Few clocks say a zone.
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InputError(
            f"there is no time zone {name!r}; names are such as Europe/Berlin, America/New_York or UTC"
        ) from None


def to_local(t: Floats, timezone: str | None) -> Floats:
    """Seconds since 1970 UTC as seconds since 1970 on the clocks of a zone (None: UTC).

    Times of the local day stay as they are.

    >>> (to_local(np.array([1.7e9]), "Europe/Berlin") - 1.7e9).tolist()
    [3600.0]
    """
    if timezone is None or not are_dates(t):
        return t
    return t + _offsets(t, timezone, local=False)


def to_utc(clock: Floats, timezone: str | None) -> Floats:
    """The reverse: what the clocks of a zone showed, as seconds since 1970 UTC; the first of two equal hours."""
    if timezone is None or not are_dates(clock):
        return clock
    return clock - _offsets(clock, timezone, local=True)


def iso(second: float, timezone: str | None = None) -> str | None:
    """A date for people; None where no date can say it.

    >>> iso(1.7e9, "Europe/Berlin"), iso(1e14)
    ('2023-11-14T23:13:20+01:00', None)
    """
    if not FIRST_SECOND + DAY <= second <= LAST_SECOND - DAY:
        return None
    where = UTC if timezone is None else zone(timezone)
    return (
        (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second))
        .astimezone(where)
        .isoformat(timespec="seconds")
    )


def _offsets(t: Floats, timezone: str, *, local: bool) -> Floats:
    """Seconds that the clocks of a zone are ahead of UTC at each time."""
    where, start = zone(timezone), datetime(1970, 1, 1, tzinfo=None if local else UTC)
    known = np.clip(np.nan_to_num(t), FIRST_SECOND + DAY, LAST_SECOND - DAY)
    quarters, place = np.unique(np.floor(known / QUARTER), return_inverse=True)

    def ahead(quarter: float) -> float:
        moment = start + timedelta(seconds=quarter * QUARTER)
        shown = moment.replace(tzinfo=where) if local else moment.astimezone(where)
        offset = shown.utcoffset()
        return 0.0 if offset is None else offset.total_seconds()

    return np.array([ahead(float(quarter)) for quarter in quarters])[place]
