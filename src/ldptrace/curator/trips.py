"""Estimate how many trips people make, from the question `trips`, and the number of trips in a given population. The
classes "4 to 5" and "6 or more" need an assumption, which is stated with the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace.curator.estimates import Estimate, Estimates
from ldptrace.errors import InputError
from ldptrace.protocol.questions.times import CLASSES, Trips

# Trips of those in the open class, on average.
OPEN = 7.0
# Trips that stand for those of the last class but one.
MIDDLE = (CLASSES[-2] + CLASSES[-1] - 1) / 2
# Standard errors of an interval: nineteen in twenty hold the truth.
WIDE = 1.96
PEOPLE = "One trip of each person was drawn, so that shares are of people who had a trip, not of trips."


@dataclass(frozen=True)
class TripsPerPerson:
    """Mean number of trips of the people who were asked, in the time that they were asked about.

    >>> found = TripsPerPerson(1.5, 0.1, 0.25)
    >>> found.interval, found.words(100)[1].partition(",")[0]
    ((1.304, 1.696), 'That is 150 trips (130 to 170) of 100 people')
    """

    value: float
    std_error: float
    # Share of people without a trip, and the fewest trips per person that are possible: everybody else had at least
    # one.
    none: float
    least: float = 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """An interval that contains the truth in nineteen of twenty collections."""
        half = WIDE * self.std_error
        return round(max(self.value - half, self.least), 12), round(self.value + half, 12)

    def words(self, people: float | None = None) -> list[str]:
        """Return the result in words, with its assumption about the last two classes, and how many trips that is in a
        population, if the people who were asked represent it."""
        low, high = self.interval
        said = [
            f"{self.value:.2f} trips per person ({low:.2f} to {high:.2f}; assumed: {CLASSES[-1]} or more trips are "
            f"{OPEN:g} on average, {CLASSES[-2]} to {CLASSES[-1] - 1} are {MIDDLE:g})."
        ]
        if people is not None:
            if not (math.isfinite(people) and people > 0):
                raise InputError(f"a population is a positive number of people, got {people!r}")
            said.append(
                f"That is {self.value * people:,.0f} trips ({low * people:,.0f} to {high * people:,.0f}) of "
                f"{people:,.0f} people, if those who were asked are typical of them."
            )
        return [*said, PEOPLE]


def trips_per_person(
    estimates: Estimates, without: tuple[float, float] | None = None
) -> TripsPerPerson | None:
    """Estimate the mean number of trips, or return None if nobody was asked. `without` is the share of people without a
    trip with its standard error, as the answers to the other questions tell it: then the result agrees with it.
    """
    found = estimates.get("trips")
    if found is None or found.users == 0:
        return None
    numbers = np.array([*map(float, CLASSES[:-2]), MIDDLE, OPEN])
    value, total = float(numbers @ found.frequencies), float(found.frequencies.sum())
    error = _error(found, numbers)
    if without is None:
        return TripsPerPerson(value, error, 1 - total)
    # The classes add up to the share of people with a trip. Both are known with an error, and the difference is
    # divided between them by their variances, as in a Kalman filter. The error of the result stays as it was, which is
    # rather too large.
    share, share_error = without
    variance = float((found.std_errors**2).mean())
    part = variance / (len(numbers) * variance + share_error**2)
    apart = (1 - share) - total
    none = min(max(1 - total - part * len(numbers) * apart, 0.0), 1.0)
    value = max(value + part * apart * float(numbers.sum()), 1 - none)
    return TripsPerPerson(value, error, none, max(1 - none - WIDE * share_error, 0.0))


def _error(found: Estimate, numbers: Floats) -> float:
    """Return the standard error, from the noise of the reports and the random choice of people."""
    assert isinstance(found.question, Trips)
    outputs = len(numbers) + 1
    spread = float((numbers**2).sum() - numbers.sum() ** 2 / outputs) * outputs / (outputs - 1)
    noise = float((found.std_errors**2).mean()) * spread
    shares = np.clip(found.frequencies, 0, 1)
    sampled = max(float(numbers**2 @ shares) - float(numbers @ shares) ** 2, 0.0) / found.users
    return math.sqrt(noise + sampled)
