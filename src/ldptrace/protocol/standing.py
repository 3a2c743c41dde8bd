"""A plan that is answered again and again: once in every window of time, until its lifetime is spent.

A device draws one phase and keeps it. Window k ends at start + k every + phase, and is answered once, at or after
that instant, about one of the trips that arrived within `recent` before it, or about none (section 9.2 of the text).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from ldptrace.protocol import limits
from ldptrace.protocol.canonical import integer_in, object_in, text_in
from ldptrace.protocol.exact import budget_fraction, decimal_text, plan_fraction
from ldptrace.protocol.records import Record
from ldptrace.protocol.trips import clock

# Monday 1970-01-05T00:00Z: windows of a week begin on Mondays.
START = 345_600
# A lifetime is this many answers unless it is given, and reports may be a day late.
ANSWERS = 10
GRACE = 86_400
# Arrivals below this are times of a day without a date.
UNDATED = 172_800


class Standing(Record):
    """Windows of a standing plan: exact integers, in seconds.

    >>> week = Standing.of(7 * 86_400, epsilon=1)
    >>> week.recent == week.every, week.lifetime, week.end(2913, phase=5)
    (True, Fraction(10, 1), 1762128005)
    >>> week.latest(1762128004, phase=5), week.latest(1762128005, phase=5)
    (2912, 2913)
    """

    every: int
    recent: int
    start: int
    lifetime: Fraction
    grace: int

    def __post_init__(self) -> None:
        integer_in(self.every, limits.MIN_EVERY, limits.MAX_EVERY, "every, in seconds,")
        integer_in(self.recent, 1, self.every, "recent, in seconds and never more than every,")
        integer_in(self.start, 0, limits.MAX_START, "start, a Unix time,")
        integer_in(self.grace, 0, self.every, "grace, in seconds and never more than every,")
        object.__setattr__(self, "lifetime", plan_fraction(self.lifetime, limits.MAX_LIFETIME, "a lifetime"))

    @staticmethod
    def of(
        every: int,
        *,
        epsilon: float | str | Fraction,
        recent: int | None = None,
        start: int = START,
        lifetime: float | str | Fraction | None = None,
        grace: int | None = None,
    ) -> Standing:
        """Fill in the usual values where none are given: recent = every, ten answers, a day of grace."""
        budget = budget_fraction(epsilon, limits.MAX_LIFETIME, "epsilon")
        usual = min(ANSWERS * budget, Fraction(limits.MAX_LIFETIME))
        whole = usual if lifetime is None else budget_fraction(lifetime, limits.MAX_LIFETIME, "a lifetime")
        late = min(GRACE, every) if grace is None else grace
        return Standing(every, every if recent is None else recent, start, whole, late)

    def answers(self, epsilon: Fraction) -> int:
        """Return how many windows a device answers at most."""
        return self.lifetime // epsilon

    def begin(self, window: int) -> int:
        """Return the Unix time at which this window begins for the curator."""
        return self.start + window * self.every

    def end(self, window: int, phase: int) -> int:
        """Return the Unix time at which this window of a device ends."""
        return self.begin(window) + phase

    def latest(self, now: float | None, phase: int) -> int:
        """Return the last window that has ended at the time `now`; -1 where none has, or for a broken clock."""
        shown = clock(now)
        if shown is None:
            return -1
        window = (int(shown // 1) - self.start - phase) // self.every
        return window if 0 <= window <= limits.MAX_WINDOW else -1

    def eligible(self, arrivals: Iterable[object], window: int, phase: int, accepted: int) -> list[int]:
        """Return which arrivals (Unix times) this window may be answered about, as places in the list.

        Intervals of different windows do not overlap, so each arrival belongs to one window at most.

        >>> Standing.of(100, epsilon=1, start=10**6).eligible([1_000_000, 1_000_001, 1_000_100, None], 1, 0, 0)
        [1, 2]
        """
        end = self.end(window, phase)
        first = max(end - self.recent, accepted)
        return [place for place, value in enumerate(arrivals) if _within(dated(value), first, end)]

    def counted(self, window: int) -> tuple[int, int]:
        """Return from when until when a curator counts reports of this window, by its own clock."""
        begin = self.begin(window)
        return begin - GRACE, begin + 2 * self.every + self.grace

    def document(self) -> dict[str, Any]:
        return self.values() | {"lifetime": decimal_text(self.lifetime)}

    @staticmethod
    def from_document(entry: object) -> Standing:
        data = object_in(entry, Standing.fields, "standing")
        pattern = rf"[0-9]{{1,3}}(\.[0-9]{{1,{limits.EPSILON_DIGITS}}})?"
        return Standing(**data | {"lifetime": Fraction(text_in(data["lifetime"], pattern, "lifetime"))})


def dated(value: object) -> float | None:
    """Return a recorded arrival as a Unix time; None for what cannot be one, and for times of a day without a date.

    >>> dated(1.7e9), dated(8 * 3600.0), dated(None)
    (1700000000.0, None, None)
    """
    arrival = clock(value)
    return None if arrival is None or abs(arrival) < UNDATED else arrival


def _within(arrival: float | None, after: int, until: int) -> bool:
    return arrival is not None and after < arrival <= until
