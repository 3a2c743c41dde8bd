"""What a question may look at: a trip (cells, points and the clock), and among how many trips it was drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ldptrace.protocol.limits import MAX_POINTS
from ldptrace.protocol.records import Record

# Clocks beyond this many seconds, some thirty thousand years, are broken or tell another unit.
LAST_CLOCK = 10**12


class Trip(Record):
    """A trajectory on its device: the cells of its path, its points, and what the device's clock showed.

    `departure` and `arrival` are in seconds since the beginning of 1970 on the device's own clock, None where
    unknown.

    >>> Trip((7, 8), departure=8 * 3600.0, arrival=8 * 3600.0 + 90).seconds
    90.0
    """

    path: Sequence[int]
    points: Sequence[tuple[float, float]] = ()
    departure: float | None = None
    arrival: float | None = None

    @property
    def seconds(self) -> float | None:
        """How long it took, where that is known and makes sense."""
        if self.departure is None or self.arrival is None or not self.arrival > self.departure:
            return None
        return self.arrival - self.departure

    @property
    def hour(self) -> int | None:
        """Full hours since the beginning of 1970 when it left."""
        return None if self.departure is None else math.floor(self.departure) // 3600


class Occasion(Record):
    """What an answer is about: one trip, drawn from `trips` of them. Without a trip the path is empty.

    >>> Occasion(Trip((7, 8)), 3).trip.path, NO_TRIP.trips
    ((7, 8), 0)
    """

    trip: Trip
    trips: int = 1


NO_TRIP = Occasion(Trip(()), 0)


def kept_places(points: int) -> Sequence[int]:
    """Return the places of the points that a device looks at: all, or 4,096 from the first to the last, evenly.

    >>> kept_places(3), kept_places(8191)[:3], kept_places(10**6)[-1]
    (range(0, 3), [0, 2, 4], 999999)
    """
    if points <= MAX_POINTS:
        return range(points)
    return [i * (points - 1) // (MAX_POINTS - 1) for i in range(MAX_POINTS)]


def clock(value: object) -> float | None:
    """Return a time as the device's clock showed it; None for what cannot be one.

    >>> clock(12.5), clock(float("nan")), clock(None), clock(1.7e12)  # the last is in milliseconds
    (12.5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -LAST_CLOCK < value < LAST_CLOCK else None
