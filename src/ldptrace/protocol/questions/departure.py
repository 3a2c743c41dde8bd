"""When a trip begins."""

from __future__ import annotations

from typing import ClassVar

from ldptrace.errors import PlanError
from ldptrace.protocol.questions.base import Question, Slots
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Trip

HOURS = 24
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Departure(Question):
    """Hour of the day at which the trip begins, by the device's own clock; with 7 `days` also the day of the week.

    >>> Departure(6, days=1).answer(Trip([3], departure=86_400.0 + 8.5 * 3600), Source())
    [[8]]
    >>> Departure(6, days=7).words(Departure(6, days=7).answer(Trip([3], departure=0.0), Source())[0][0])
    "Thursday, from 0 to 1 o'clock"
    """

    days: int

    name: ClassVar[str] = "departure"
    about: ClassVar[str] = "the hour at which it begins"

    def __post_init__(self) -> None:
        if type(self.days) is not int or self.days not in (1, len(DAYS)):
            raise PlanError(f"days must be 1 or {len(DAYS)}, got {str(self.days)[:40]!r}")

    @property
    def domain(self) -> int:
        return HOURS * self.days

    def answer(self, trip: Trip, source: Source) -> Slots:
        if not trip.path or trip.hour is None:
            return [[]]
        # The first of January 1970 was a Thursday.
        day = (trip.hour // HOURS + 3) % len(DAYS) if self.days > 1 else 0
        return [[HOURS * day + trip.hour % HOURS]]

    def words(self, item: int) -> str:
        day, hour = divmod(item, HOURS)
        return f"{DAYS[day] + ', ' if self.days > 1 else ''}from {hour} to {hour + 1} o'clock"
