"""Times: seconds since 1970 in UTC, or seconds of the local day if all are below two days.

This module decides whether numbers are dates, in which unit they are, and what local time is. It reads times in the
usual forms: numbers in several units, ISO dates with or without a zone, days, and clock times.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Floats
from ldptrace.core.values import NUMBER, is_list, numbers_of, pc
from ldptrace.errors import InputError

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
# Zones of types of columns that say when, but not where.
NOWHERE = frozenset({"UTC", "Etc/UTC", "GMT", "Z", "+00:00", "-00:00"})


def are_dates(t: Floats | None) -> bool:
    """Whether times count from 1970, not from midnight.

    >>> are_dates(np.array([0.0, 90_000.0])), are_dates(np.array([1.7e9])), are_dates(None)
    (False, True, False)
    """
    return t is not None and bool((t >= FIRST_DATE).any())


def epoch_unit(values: Floats) -> tuple[str, float] | None:
    """Return the unit of numbers of this size and how many make a second, or None for seconds.

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
def zone(name: str) -> tzinfo:
    """Return the time zone with this name, or the one that is this far ahead of UTC.

    >>> str(zone("Europe/Berlin")), str(zone("+05:30"))
    ('Europe/Berlin', 'UTC+05:30')
    """
    # Few clocks say a zone.
    from zoneinfo import ZoneInfo

    try:
        if re.fullmatch(r"[+-]\d{2}:\d{2}", name):
            ahead = datetime.strptime(name, "%z").tzinfo
            assert ahead is not None
            return ahead
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InputError(
            f"there is no time zone {name!r}; names are such as Europe/Berlin, America/New_York or UTC"
        ) from None


def stated_zone(kind: pa.DataType) -> str | None:
    """Return the time zone that the type of a column states. UTC names no place, so it counts as none.

    >>> stated_zone(pa.timestamp("ns", "America/Los_Angeles")), stated_zone(pa.timestamp("ns", "UTC"))
    ('America/Los_Angeles', None)
    """
    if is_list(kind) or pa.types.is_dictionary(kind):
        return stated_zone(kind.value_type)
    name = kind.tz if pa.types.is_timestamp(kind) else None
    return None if name in NOWHERE else name


def zone_words(timezone: str | None, *, dates: bool) -> str:
    """Return the sentence that stands where hours are shown: whose hours they are.

    >>> zone_words("Europe/Berlin", dates=True)
    'Hours are those of Europe/Berlin.'
    """
    if timezone is not None:
        return f"Hours are those of {timezone}."
    if dates:
        return "Hours are those of UTC, which is assumed because no time zone is stated; --timezone names another."
    return (
        "Hours are those of the clocks of the input (UTC for dates), because no time zone was stated for it."
    )


def to_local(t: Floats, timezone: str | None) -> Floats:
    """Convert seconds since 1970 in UTC to seconds since 1970 on the clocks of a zone (None: UTC).

    Times of the local day are not changed.

    >>> (to_local(np.array([1.7e9]), "Europe/Berlin") - 1.7e9).tolist()
    [3600.0]
    """
    if timezone is None or not are_dates(t):
        return t
    return t + _offsets(t, timezone, local=False)


def to_utc(clock: Floats, timezone: str | None) -> Floats:
    """Convert clock times of a zone to seconds since 1970 in UTC. An hour that occurs twice is taken as the first."""
    if timezone is None or not are_dates(clock):
        return clock
    return clock - _offsets(clock, timezone, local=True)


def iso(second: float, timezone: str | None = None) -> str | None:
    """Return a time as an ISO date, or None if it is out of range.

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
    """Return how many seconds the clocks of a zone are ahead of UTC at each time."""
    where, start = zone(timezone), datetime(1970, 1, 1, tzinfo=None if local else UTC)
    known = np.clip(np.nan_to_num(t), FIRST_SECOND + DAY, LAST_SECOND - DAY)
    quarters, place = np.unique(np.floor(known / QUARTER), return_inverse=True)

    def ahead(quarter: float) -> float:
        moment = start + timedelta(seconds=quarter * QUARTER)
        shown = moment.replace(tzinfo=where) if local else moment.astimezone(where)
        offset = shown.utcoffset()
        return 0.0 if offset is None else offset.total_seconds()

    return np.array([ahead(float(quarter)) for quarter in quarters])[place]


# Beside ISO 8601; those that could be read either way are tried in pairs (day first, month first).
PATTERNS = (
    ("%Y/%m/%d %H:%M:%S",),
    ("%Y/%m/%d %H:%M",),
    ("%d.%m.%Y %H:%M:%S",),
    ("%d.%m.%Y %H:%M",),
    ("%d.%m.%Y",),
    ("%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M:%S"),
    ("%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M"),
    ("%m/%d/%Y %I:%M:%S %p",),
    ("%d/%m/%Y", "%m/%d/%Y"),
    ("%a %b %d %H:%M:%S %z %Y",),
)
# Numbers that are dates without signs between: 20240501 and 20240501083000.
COMPACT = {8: "%Y%m%d", 14: "%Y%m%d%H%M%S"}
CLOCK = r"^\s*\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*$"
# A zone after a time of the day.
ZONE = r"(:\d{2}|[T ]\d{2}(\d{2}){0,2})([.,]\d+)?\s*([zZ]|[+-]\d{2}(:?\d{2}){0,2})$"


@dataclass(frozen=True, eq=False)
class Times:
    """Times of a column in seconds since 1970 in UTC, or in seconds of the day, and how the column was read.

    `seconds` is None if the column could not be read. `unzoned` counts times without a zone if others have one.
    """

    seconds: Floats | None
    # Whether they are in UTC, whatever the clocks of the place are.
    zoned: bool = False
    notes: tuple[str, ...] = ()
    unzoned: int = 0


def read_times(
    column: pa.ChunkedArray, timezone: str | None = None, date: pa.ChunkedArray | None = None
) -> Times:
    """Read the times of a column. Times without a zone are local times of `timezone`.

    >>> read_times(pa.chunked_array([["1970-01-01T01:01:00+01:00", None]])).seconds.tolist()
    [60.0, nan]
    >>> read_times(pa.chunked_array([[1700000000000]])).notes
    ('times read as milliseconds since 1970',)
    """
    found = _clock(column, timezone)
    clock = found.seconds
    if clock is None or found.zoned:
        return found
    if date is not None:
        day = _clock(date, timezone)
        known = clock[np.isfinite(clock)]
        if day.seconds is not None and not day.zoned and len(known) and known.max() < DAY:
            clock = np.floor(day.seconds / DAY) * DAY + clock
    return replace(found, seconds=to_utc(clock, timezone), zoned=True)


def _clock(column: pa.ChunkedArray, timezone: str | None) -> Times:
    """Return date-times as seconds. The zone is used only if some of the times name a zone."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _clock(column.cast(kind.value_type), timezone)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _of_texts(column, timezone)
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        zoned = pa.types.is_timestamp(kind) and kind.tz is not None
        ticks = _ticks(column)
        return Times(ticks, zoned, _days(ticks) if pa.types.is_timestamp(kind) else ())
    if pa.types.is_date(kind):
        days = _ticks(column.cast(pa.timestamp("s")))
        return Times(days, notes=_days(days))
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind):
        return _of_numbers(column)
    return Times(None)


def _of_numbers(column: pa.ChunkedArray) -> Times:
    values: Floats = numbers_of(column.cast(pa.float64(), safe=False)).copy()
    if pa.types.is_integer(column.type) and (compact := _compact(column)) is not None:
        return Times(compact, notes=_days(compact))
    unit = epoch_unit(values)
    if unit is None:
        # Seconds of 1970 are in UTC; those of a day have no zone.
        return Times(values, zoned=True)
    return Times(values / unit[1], True, (f"times read as {unit[0]} since 1970",))


def _compact(column: pa.ChunkedArray) -> Floats | None:
    """Read whole numbers such as 20260301, if all are dates from 1900 to 2100."""
    low, high = (pc.min(column).as_py(), pc.max(column).as_py())
    if low is None:
        return None
    for digits, pattern in COMPACT.items():
        scale = 10 ** (digits - 8)
        if 19000101 * scale <= low and high <= 21001231 * scale + scale - 1:
            texts = column.cast(pa.string())
            parsed = pc.strptime(texts, format=pattern, unit="s", error_is_null=True)
            if parsed.null_count == column.null_count:
                return _ticks(parsed)
    return None


def _of_texts(column: pa.ChunkedArray, timezone: str | None) -> Times:
    column = pc.utf8_trim_whitespace(column)
    column = pc.if_else(pc.equal(column, ""), None, column)
    if column.null_count == len(column):
        return Times(np.full(len(column), np.nan), zoned=True)
    if _all(pc.match_substring_regex(column, NUMBER)):
        return _of_numbers(column.cast(pa.float64()))
    if _all(pc.match_substring_regex(column, CLOCK)):
        return Times(_of_clocks(column))
    for kind, zoned in ((pa.timestamp("us", "UTC"), True), (pa.timestamp("us"), False)):
        try:
            ticks = _ticks(column.cast(kind))
        except pa.ArrowInvalid:
            continue
        return Times(ticks, zoned, _days(ticks))
    for patterns in PATTERNS:
        readings = {}
        for pattern in patterns:
            times = pc.strptime(column, format=pattern, unit="us", error_is_null=True)
            if times.null_count == column.null_count:
                readings[pattern] = _ticks(times)
        if readings:
            return _likelier(readings, "%z" in patterns[0])
    named = pc.match_substring_regex(column, ZONE)
    if 0 < (pc.sum(named).as_py() or 0) < len(column) - column.null_count:
        return _mixed(column, named, timezone)
    return _one_by_one(column)


def _mixed(column: pa.ChunkedArray, named: pa.ChunkedArray, timezone: str | None) -> Times:
    """Read times of which only some name a zone. Times without a zone are local times of `timezone`."""
    parts = [read_times(pc.if_else(chosen, column, None), timezone) for chosen in (named, pc.invert(named))]
    if any(part.seconds is None for part in parts):
        return Times(None)
    zoned, local = (np.asarray(part.seconds) for part in parts)
    has_zone = named.fill_null(False).to_numpy()
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    return Times(np.where(has_zone, zoned, local), True, notes, int(np.isfinite(local).sum()))


def _likelier(readings: dict[str, Floats], zoned: bool) -> Times:
    """Return the reading of ambiguous dates that spans the shorter time, because the days of a log follow each
    other."""
    spans = {pattern: float(np.nanmax(t) - np.nanmin(t)) for pattern, t in readings.items()}
    chosen = min(spans, key=lambda pattern: spans[pattern])
    first = "day" if chosen.startswith("%d") else "month"
    said = (f"dates read as {first} first",) if len(readings) > 1 else ()
    return Times(readings[chosen], zoned, said + _days(readings[chosen]))


def _of_clocks(column: pa.ChunkedArray) -> Floats:
    """Return seconds of the day from clock times such as 8:05 or 08:05:30."""
    parts = pc.split_pattern(column, ":").to_pylist()
    return np.array(
        [
            np.nan
            if part is None
            else sum(float(value) * 60**power for value, power in zip(part, (2, 1, 0), strict=False))
            for part in parts
        ],
        dtype=np.float64,
    )


def _one_by_one(column: pa.ChunkedArray) -> Times:
    """Read dates of several formats in one column, each by Python's own parser. All dates or none must name a zone."""
    texts = pc.unique(column).to_pylist()
    try:
        known = {text: datetime.fromisoformat(text) for text in texts if text is not None}
    except ValueError:
        return Times(None)
    zoned = {moment.tzinfo is not None for moment in known.values()}
    if len(zoned) > 1:
        return Times(None)
    seconds = {
        text: moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() for text, moment in known.items()
    }
    values = np.array([seconds.get(text, np.nan) for text in column.to_pylist()], dtype=np.float64)
    return Times(values, zoned == {True}, _days(values))


def _days(t: Floats) -> tuple[str, ...]:
    """Return a note if the times are days without a time of day."""
    known = t[np.isfinite(t)]
    if len(known) and not np.any(np.mod(known, DAY)):
        return ("the times are days, without a time of the day",)
    return ()


def _ticks(column: pa.ChunkedArray) -> Floats:
    kind = column.type
    per_second = {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e6}[kind.unit]
    whole = column.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
    if kind.unit == "ns":
        # As nanoseconds since 1970 they are more than a double can hold exactly.
        whole = pc.divide(whole, 1000)
    values: Floats = numbers_of(whole.cast(pa.float64(), safe=False)) / per_second
    return values


def _all(matches: pa.ChunkedArray) -> bool:
    return bool(pc.all(matches, skip_nulls=True).as_py())
