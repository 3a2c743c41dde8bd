"""When a trip begins."""

from __future__ import annotations

from typing import ClassVar

from ldptrace.errors import PlanError
from ldptrace.protocol.questions.base import Question, Slots, nearby, whole
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion

HOURS = 24
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Departure(Question):
    """Hour of the day at which the trip begins, by the device's own clock; with 7 `days` also the day of the week.

    With a `reach`, that many hours before and after it belong to the answer, round the clock: then a randomizer of sets
    names hours near the truth rather than far ones, which says more about a smooth day (docs/explanation/time.md).

    >>> from ldptrace.protocol.trips import Trip
    >>> Departure(6, days=1, reach=1).answer(Occasion(Trip([3], departure=86_400.0 + 23.5 * 3600)), Source())
    [[0, 22, 23]]
    >>> week = Departure(6, days=7, reach=0)
    >>> week.words(week.answer(Occasion(Trip([3], departure=0.0)), Source())[0][0])
    "Thursday, from 0 to 1 o'clock"
    """

    days: int
    reach: int

    name: ClassVar[str] = "departure"
    about: ClassVar[str] = "the hour at which it begins"
    about_time: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if type(self.days) is not int or self.days not in (1, len(DAYS)):
            raise PlanError(f"days must be 1 or {len(DAYS)}, got {str(self.days)[:40]!r}")
        whole("reach", self.reach, 0, HOURS // 2 - 1)

    @property
    def domain(self) -> int:
        return HOURS * self.days

    @property
    def capacity(self) -> int:
        return 2 * self.reach + 1

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        trip = occasion.trip
        if not trip.path or trip.hour is None:
            return [[]]
        # The first of January 1970 was a Thursday.
        day = (trip.hour // HOURS + 3) % len(DAYS) if self.days > 1 else 0
        return [nearby(HOURS * day + trip.hour % HOURS, self.reach, self.domain)]

    def words(self, item: int) -> str:
        day, hour = divmod(item, HOURS)
        return f"{DAYS[day] + ', ' if self.days > 1 else ''}from {hour} to {hour + 1} o'clock"
