"""Times: seconds since 1970 in UTC, or seconds of the local day if they are below two days.

This module decides whether numbers are dates, in which unit they are, and what local time is. It reads times in the
usual forms: numbers in several units, ISO dates with or without a zone, days, and clock times. Each time is read by
itself: one person's times do not change how another person's are understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Flags, Floats
from ldptrace.core.values import DECIMAL_COMMA, NUMBER, is_list, is_number, is_text, numbers_of, pc
from ldptrace.errors import InputError, NothingUsable
from ldptrace.protocol.units import iso_moment

DAY = 86_400.0
# Times below this are of the local day (a trip may pass midnight); the others count from 1970.
FIRST_DATE = 2 * DAY
# Zones change their clocks on a quarter of an hour.
QUARTER = 900
# A number above the bound is too large for the unit before it: 1e11 s is the year 5138, 1e11 ms is 1973.
UNITS = ((1e17, "nanoseconds", 1e9), (1e14, "microseconds", 1e6), (1e11, "milliseconds", 1e3))
# Seconds of the years 1 and 9999, which is what a date can say.
FIRST_SECOND, LAST_SECOND = -62_135_596_800.0, 253_402_300_799.0
# Zones of types of columns that say when, but not where.
NOWHERE = frozenset({"UTC", "Etc/UTC", "GMT", "Z", "+00:00", "-00:00"})
# Whose hours real devices answer about.
OWN_CLOCKS = "Hours are those of each device's own clock, where it was."
# Why UTC is assumed; an offset such as +02:00 in a date says when, but not where.
UNNAMED = "no time zone such as Europe/Berlin is stated; --timezone names one"


def are_dates(t: Floats | None) -> bool:
    """Whether some times count from 1970, not from midnight.

    >>> are_dates(np.array([0.0, 90_000.0])), are_dates(np.array([1.7e9])), are_dates(None)
    (False, True, False)
    """
    return t is not None and bool((t >= FIRST_DATE).any())


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


def zone_words(timezone: str | None, *, dates: bool, promise: Mapping[str, Any] | None = None) -> str:
    """Return the sentence that stands where hours are shown: whose hours they are. `promise` is that of synthetic
    trips; real devices answer about their own clocks.

    >>> zone_words("Europe/Berlin", dates=True)
    'Hours are those of Europe/Berlin.'
    >>> zone_words(None, dates=True, promise={"plan": {"method": "single-report"}})
    "Hours are those of each device's own clock, where it was."
    """
    if timezone is not None:
        return f"Hours are those of {timezone}."
    if promise and promise.get("plan") and not promise.get("simulated"):
        return OWN_CLOCKS
    if dates:
        return f"Hours are those of UTC, which is assumed because {UNNAMED}."
    return (
        "Hours are those of the clocks of the input (UTC for dates), because no time zone was stated for it."
    )


def to_local(t: Floats, timezone: str | None) -> Floats:
    """Convert seconds since 1970 in UTC to seconds since 1970 on the clocks of a zone (None: UTC).

    Times of the local day are not changed.

    >>> (to_local(np.array([1.7e9, 60.0]), "Europe/Berlin") - [1.7e9, 0.0]).tolist()
    [3600.0, 60.0]
    """
    if timezone is None or not are_dates(t):
        return t
    return np.where(t >= FIRST_DATE, t + _offsets(t, timezone, local=False), t)


def to_utc(clock: Floats, timezone: str | None) -> Floats:
    """Convert clock times of a zone to seconds since 1970 in UTC. An hour that occurs twice is taken as the first."""
    if timezone is None or not are_dates(clock):
        return clock
    return np.where(clock >= FIRST_DATE, clock - _offsets(clock, timezone, local=True), clock)


def iso(second: float, timezone: str | None = None) -> str | None:
    """Return a time as an ISO date, or None if it is out of range.

    >>> iso(1.7e9, "Europe/Berlin"), iso(1e14)
    ('2023-11-14T23:13:20+01:00', None)
    """
    if not FIRST_SECOND + DAY <= second <= LAST_SECOND - DAY:
        return None
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    return moment.astimezone(UTC if timezone is None else zone(timezone)).isoformat(timespec="seconds")


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


# Beside ISO 8601, in the order in which they are tried.
PATTERNS = (
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y",
    "%m/%d/%Y %I:%M:%S %p",
    "%a %b %d %H:%M:%S %z %Y",
)
# Dates with slashes do not say whether the day or the month is first: an option does.
SLASHES = ("%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d/%m/%Y")
# Numbers that are dates without signs between: 20240501 and 20240501083000.
COMPACT = {8: "%Y%m%d", 14: "%Y%m%d%H%M%S"}
CLOCK = r"^\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?$"
SLASHED = r"^\d{1,2}/\d{1,2}/\d{4}( \d{1,2}:\d{2}(:\d{2})?)?$"
ISO = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}(:\d{2}(:\d{2}(\.\d{1,6})?)?)?)?"


@dataclass(frozen=True, eq=False)
class Times:
    """Times of a column in seconds since 1970 in UTC, or in seconds of the day, and how the column was read.

    `seconds` is None without a column, and NaN where a value is none. The type of the column does not matter.
    `unzoned` counts times without a zone if others have one. `unread` counts values that are not understood as times.
    """

    seconds: Floats | None
    notes: tuple[str, ...] = ()
    unzoned: int = 0
    unread: int = 0


# Date-times of texts or numbers as they are written, in seconds; where they are in UTC, not on local clocks; and notes.
_Clocks = tuple[Floats, Flags, tuple[str, ...]]


def read_times(
    column: pa.ChunkedArray,
    timezone: str | None = None,
    date: pa.ChunkedArray | None = None,
    *,
    month_first: bool = False,
) -> Times:
    """Read the times of a column. Times without a zone are local times of `timezone`.

    Each value is read by itself, so that no value changes how another one is read. `month_first` says how dates such as
    05/04/2026 are written.

    >>> read_times(pa.chunked_array([["1970-01-01T01:01:00+01:00", None]])).seconds.tolist()
    [60.0, nan]
    >>> read_times(pa.chunked_array([[1700000000000]])).notes
    ('times read as milliseconds since 1970',)
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    clocks = _clocks(column, month_first)
    if clocks is None:
        return Times(np.full(len(column), np.nan), unread=len(column) - column.null_count)
    clock, zoned, notes = clocks
    if date is not None and (of_date := _clocks(date, month_first)) is not None:
        day, day_zoned, _ = of_date
        with np.errstate(invalid="ignore"):
            alone = ~zoned & ~day_zoned & (clock < DAY) & np.isfinite(day)
        clock = np.where(alone, np.floor(day / DAY) * DAY + clock, clock)
    known = np.isfinite(clock)
    local = known & ~zoned & (np.nan_to_num(clock) >= FIRST_DATE)
    if timezone is not None and local.any():
        clock = np.where(local, to_utc(clock, timezone), clock)
    if not is_text(column.type):
        return Times(clock, notes)
    written = pc.not_equal(pc.utf8_trim_whitespace(column), "").fill_null(False).to_numpy()
    unzoned = int(local.sum()) if (known & zoned).any() else 0
    return Times(clock, notes, unzoned, int(np.count_nonzero(written & ~known)))


def _clocks(column: pa.ChunkedArray, month_first: bool) -> _Clocks | None:
    """Return date-times as they are written, or None if the type of the column holds no times."""
    kind = column.type
    if is_text(kind):
        return _of_texts(column, month_first)
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        zoned = pa.types.is_timestamp(kind) and kind.tz is not None
        return _marked(_ticks(column), zoned, days=pa.types.is_timestamp(kind))
    if pa.types.is_date(kind):
        return _marked(_ticks(column.cast(pa.timestamp("s"))), False)
    if is_number(kind) or pa.types.is_decimal(kind):
        return _of_numbers(numbers_of(column.cast(pa.float64(), safe=False)))
    return None


def _marked(seconds: Floats, zoned: bool, *, days: bool = True) -> _Clocks:
    return seconds, np.full(len(seconds), zoned), _days(seconds) if days else ()


def _of_numbers(values: Floats) -> _Clocks:
    """Read numbers by their size: seconds of the day or since 1970, larger units since 1970, or dates without signs."""
    seconds, compact = values.copy(), _compact(values)
    size = np.abs(np.nan_to_num(values))
    notes = []
    for number, (bound, name, per_second) in enumerate(UNITS):
        below = UNITS[number - 1][0] if number else np.inf
        large = (size >= bound) & (size < below) & np.isfinite(values) & np.isnan(compact)
        if large.any():
            seconds[large] /= per_second
            notes.append(f"times read as {name} since 1970")
    dates = ~np.isnan(compact)
    # Seconds of 1970 are in UTC; those of a day have no zone.
    return np.where(dates, compact, seconds), ~dates, (*notes, *_days(compact))


def _compact(values: Floats) -> Floats:
    """Read whole numbers such as 20260301 as dates from 1900 to 2100; others become NaN."""
    seconds = np.full(len(values), np.nan)
    for digits, pattern in COMPACT.items():
        scale = 10 ** (digits - 8)
        with np.errstate(invalid="ignore"):
            possible = (
                (values >= 19000101 * scale) & (values < 21010101 * scale) & (np.floor(values) == values)
            )
        if possible.any():
            texts = pa.array(values[possible].astype(np.int64)).cast(pa.string())
            parsed = pc.strptime(texts, format=pattern, unit="s", error_is_null=True)
            seconds[possible] = _ticks(pa.chunked_array([parsed]))
    return seconds


def _of_texts(column: pa.ChunkedArray, month_first: bool) -> _Clocks:
    """Read texts, each by the first of the usual forms that it has."""
    column = pc.utf8_trim_whitespace(column).cast(pa.string())
    for kind, zone_known in ((pa.timestamp("us", "UTC"), True), (pa.timestamp("us"), False)):
        # Most columns have one form.
        with suppress(pa.ArrowInvalid):
            return _marked(_ticks(column.cast(kind)), zone_known)
    for form, other in ((DECIMAL_COMMA, r"\1.\2"), (r"(:\d{2}(?:\.\d+)?) ?(?:UTC|GMT)$", r"\1Z")):
        column = pc.replace_substring_regex(column, form, other)
    reader = _Reader(column)
    for form, read in FORMS:
        reader.take(pc.match_substring_regex(reader.left, form), read)
    for pattern in PATTERNS:
        reader.parse(pattern)
    reader.slashes(month_first)
    reader.rest()
    return reader.seconds, reader.zoned, (*reader.notes, *_days(reader.seconds))


class _Reader:
    """Texts that are read one form after the other: what is left, and what was read."""

    def __init__(self, column: pa.ChunkedArray) -> None:
        self.left = pc.if_else(pc.equal(column, ""), None, column)
        self.seconds = np.full(len(column), np.nan)
        self.zoned = np.zeros(len(column), dtype=np.bool_)
        self.notes: list[str] = []

    def take(self, these: pa.ChunkedArray, read: Callable[[pa.ChunkedArray], _Clocks]) -> int:
        """Read these texts, and return how many they are."""
        chosen = these.fill_null(False).to_numpy()
        if chosen.any():
            self.seconds[chosen], self.zoned[chosen], notes = read(self.left.filter(pa.array(chosen)))
            self.left = pc.if_else(pa.chunked_array([pa.array(chosen)]), None, self.left)
            self.notes += notes
        return int(np.count_nonzero(chosen))

    def parse(self, pattern: str) -> int:
        """Read the texts that have a pattern of `strptime`. Returns how many have it."""
        if self.left.null_count == len(self.left):
            return 0
        parsed = pc.strptime(self.left, format=pattern, unit="us", error_is_null=True)
        ticks = _ticks(parsed.drop_null())
        return self.take(pc.is_valid(parsed), lambda _: _marked(ticks, "%z" in pattern, days=False))

    def slashes(self, month_first: bool) -> None:
        """Read dates with slashes. That most of them are no dates is an error: then the option is wrong."""
        slashed = pc.match_substring_regex(self.left, SLASHED).fill_null(False)
        many = int(pc.sum(slashed).as_py() or 0)
        if not many:
            return
        sample = self.left.filter(slashed)[0].as_py()
        patterns = [pattern.replace("%d/%m", "%m/%d") if month_first else pattern for pattern in SLASHES]
        read = sum(self.parse(pattern) for pattern in patterns)
        first = "month" if month_first else "day"
        if 2 * read < many:
            cure = "read them without --month-first" if month_first else "say month_first (--month-first)"
            raise NothingUsable(f"most dates such as {sample} are no dates with the {first} first: {cure}")
        self.notes.append(f"dates such as {sample} read as {first} first")

    def rest(self) -> None:
        """Read what is left by Python's own parser."""
        known = {text: iso_moment(text) for text in pc.unique(self.left).to_pylist() if text is not None}
        if not known:
            return
        for number, text in enumerate(self.left.to_pylist()):
            moment = known.get(text)
            if moment is not None:
                self.seconds[number], self.zoned[number] = moment


def _of_iso(column: pa.ChunkedArray, zone: str | None = None) -> _Clocks:
    try:
        seconds = _ticks(column.cast(pa.timestamp("us", zone)))
    except pa.ArrowInvalid:
        # Some are no dates, such as the 31st of February.
        moments = map(iso_moment, column.to_pylist())
        seconds = np.array([np.nan if moment is None else moment[0] for moment in moments])
    return _marked(seconds, zone is not None, days=False)


def _of_clocks(column: pa.ChunkedArray) -> _Clocks:
    """Return seconds of the day from clock times such as 8:05 or 08:05:30."""
    parts = (text.split(":") for text in column.to_pylist())
    clocks = (zip(map(float, part), (3600, 60, 1), strict=False) for part in parts)
    seconds = np.array([sum(value * unit for value, unit in clock) for clock in clocks], dtype=np.float64)
    return _marked(seconds, False, days=False)


FORMS: tuple[tuple[str, Callable[[pa.ChunkedArray], _Clocks]], ...] = (
    (NUMBER, lambda texts: _of_numbers(numbers_of(texts.cast(pa.float64())))),
    (CLOCK, _of_clocks),
    (ISO + "$", _of_iso),
    (ISO + r"([zZ]|[+-]\d{2}(:?\d{2})?)$", partial(_of_iso, zone="UTC")),
)


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
