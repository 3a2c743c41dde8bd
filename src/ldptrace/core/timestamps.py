"""Read times as people write them: numbers in several units, ISO dates with zones, days, clocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Floats
from ldptrace.core.arrow import numbers_of, pc
from ldptrace.core.times import DAY, epoch_unit, to_utc

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
NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$|^\s*[+-]?(?i:nan|inf|infinity)\s*$"


@dataclass(frozen=True, eq=False)
class Times:
    """Seconds since 1970 UTC (or of the day, where no day is given), and how a column was understood.

    `seconds` is None where it is not understood. `unzoned` counts the times that name no zone where others do.
    """

    seconds: Floats | None
    # Whether they are in UTC, whatever the clocks of the place are.
    zoned: bool = False
    notes: tuple[str, ...] = ()
    unzoned: int = 0


def read_times(
    column: pa.ChunkedArray, timezone: str | None = None, date: pa.ChunkedArray | None = None
) -> Times:
    """The times of a column; what says no zone is the clock of `timezone`.

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
    """What the clocks show; the zone matters where some of the times name one."""
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
    """Whole numbers that all read as dates of 1900 to 2100."""
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
    """Times of which some name a zone: each kind is read by itself, those without on the clocks of `timezone`."""
    parts = [read_times(pc.if_else(chosen, column, None), timezone) for chosen in (named, pc.invert(named))]
    if any(part.seconds is None for part in parts):
        return Times(None)
    zoned, local = (np.asarray(part.seconds) for part in parts)
    has_zone = named.fill_null(False).to_numpy()
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    return Times(np.where(has_zone, zoned, local), True, notes, int(np.isfinite(local).sum()))


def _likelier(readings: dict[str, Floats], zoned: bool) -> Times:
    """Of two readings of the same dates the one with the shorter span: a log is of days in a row."""
    spans = {pattern: float(np.nanmax(t) - np.nanmin(t)) for pattern, t in readings.items()}
    chosen = min(spans, key=lambda pattern: spans[pattern])
    first = "day" if chosen.startswith("%d") else "month"
    said = (f"dates read as {first} first",) if len(readings) > 1 else ()
    return Times(readings[chosen], zoned, said + _days(readings[chosen]))


def _of_clocks(column: pa.ChunkedArray) -> Floats:
    """Seconds of the day from clocks such as 8:05 or 08:05:30."""
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
    """Dates of several kinds in one column, each as Python understands it; zones are on all or on none."""
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
    """A word where the times are days without a time of the day."""
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
