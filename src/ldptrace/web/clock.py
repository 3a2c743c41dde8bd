"""Times that operators write, and clocks for trials."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from ldptrace.errors import InputError
from ldptrace.protocol import units


def moment(text: str, *, end: bool = False) -> int:
    """Return a date or time, or Unix seconds, as Unix time; in UTC unless it names a zone. A date stands for its
    beginning, or with `end` for its end.

    >>> moment("2027-03-01"), moment("2027-03-01", end=True), moment("2027-03-01T08:00+01:00"), moment("1803859200")
    (1803859200, 1803945600, 1803884400, 1803859200)
    """
    is_day = re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None
    return int(units.moment("a time", text[:40], zoned=False)) + (86_400 if end and is_day else 0)


def trial_clock(text: str, system: Callable[[], float] = time.time) -> Callable[[], float]:
    """Return a clock for trials from START,RATE or START,RATE,SINCE: it shows START when the clock of the system shows
    SINCE (by default now), and runs RATE times as fast.

    >>> trial_clock("2027-03-01,3600,5", lambda: 6.0)() - moment("2027-03-01")
    3600.0
    """
    parts = text.split(",")
    try:
        if len(parts) not in (2, 3):
            raise ValueError
        start, rate = moment(parts[0]), float(parts[1])
        since = float(parts[2]) if len(parts) == 3 else system()
    except ValueError:
        raise InputError(f"a trial clock is START,RATE or START,RATE,SINCE, got {text!r}") from None
    if not 0 < rate <= 1e7:
        raise InputError(f"a trial clock runs up to 10,000,000 times as fast, got {parts[1]}")
    return lambda: start + (system() - since) * rate
