"""The clock of a trial: weeks in minutes, the same for server and fleet, and after a restart."""

from __future__ import annotations

import time
from dataclasses import dataclass

from ldptrace.errors import InputError
from ldptrace.server.about import moment


@dataclass(frozen=True)
class TrialClock:
    """Shows `start`, a Unix time, when the system's clock shows `since`, and then runs `rate` times as fast.

    >>> clock = TrialClock(1_000_000.0, 3600.0, since=0.0)
    >>> clock.at(1.0)
    1003600.0
    """

    start: float
    rate: float
    since: float

    def __call__(self) -> float:
        return self.at(time.time())

    def at(self, real: float) -> float:
        """What it shows when the system's clock shows this."""
        return self.start + (real - self.since) * self.rate

    def real_seconds(self, seconds: float) -> float:
        """How long some of its seconds take."""
        return seconds / self.rate

    @staticmethod
    def of(text: str) -> TrialClock:
        """A clock as an option says it: START,RATE or START,RATE,SINCE; now where SINCE is absent.

        >>> TrialClock.of("2027-03-01,3600,5")
        TrialClock(start=1803859200, rate=3600.0, since=5.0)
        """
        parts = text.split(",")
        try:
            if len(parts) not in (2, 3):
                raise ValueError
            start, rate = moment(parts[0]), float(parts[1])
            since = float(parts[2]) if len(parts) == 3 else time.time()
        except ValueError:
            raise InputError(f"a trial clock is START,RATE or START,RATE,SINCE, got {text!r}") from None
        if not 0 < rate <= 1e7:
            raise InputError(f"a trial clock runs up to 10,000,000 times as fast, got {parts[1]}")
        return TrialClock(start, rate, since)
