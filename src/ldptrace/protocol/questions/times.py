"""When a trip begins, how fast it is, how its direction goes with the time of day, and among how many it was drawn."""

from __future__ import annotations

import math
from bisect import bisect_right

from ldptrace.errors import PlanError
from ldptrace.protocol.canonical import integer_in
from ldptrace.protocol.questions.base import Question, Slots, nearby
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip

HOURS = 24
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Four classes of speed to a doubling.
ROOTS = (1.0, 1.189207115002721, 1.4142135623730951, 1.681792830507429)
MOST_CLASSES = 64
MOST_SCALE = 10**12
MOST_SPEED = 10**9
# Part of the day of each hour: night, morning, midday, evening.
PART_OF_HOUR = (0,) * 5 + (1,) * 5 + (2,) * 5 + (3,) * 5 + (0,) * 4
PARTS = ("at night", "in the morning", "around noon", "in the evening")
# Trips from which each class begins; the last is open. Nobody's trip at all is a null answer.
CLASSES = (1, 2, 3, 4, 6)


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

    name = "departure"
    about = "the hour at which it begins"
    about_time = True

    def __post_init__(self) -> None:
        if type(self.days) is not int or self.days not in (1, len(DAYS)):
            raise PlanError(f"days must be 1 or {len(DAYS)}, got {str(self.days)[:40]!r}")
        integer_in(self.reach, 0, HOURS // 2 - 1, "reach")

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


class Pace(Question):
    """Mean speed along the points, in `classes` that grow by a fourth root of two.

    Class 0 is slower than `slowest` metres per hour, the last class is open. `x_scale` and `y_scale` say how many
    millimetres a unit of x and of y is: public facts of the map.

    With a `reach`, that many classes below and above belong to the answer, as with `Departure`; the first class follows
    the last, so that all answers have the same size.

    >>> walk = Trip([0], points=[(0.0, 0.0), (300.0, 400.0)], departure=0.0, arrival=360.0)  # 500 m, 5 km/h
    >>> pace = Pace(6, 1000, 1000, 2000, 26, reach=1)
    >>> pace.answer(Occasion(walk), Source()), pace.words(6)
    ([[5, 6, 7]], 'from 4.76 to 5.66 km/h')
    """

    x_scale: int
    y_scale: int
    slowest: int
    classes: int
    reach: int

    name = "pace"
    about = "its mean speed"
    about_time = True

    def __post_init__(self) -> None:
        integer_in(self.x_scale, 1, MOST_SCALE, "x_scale")
        integer_in(self.y_scale, 1, MOST_SCALE, "y_scale")
        integer_in(self.slowest, 1, MOST_SPEED, "slowest")
        integer_in(self.classes, 2, MOST_CLASSES, "classes")
        integer_in(self.reach, 0, (self.classes - 1) // 2, "reach")

    @property
    def domain(self) -> int:
        return self.classes

    @property
    def capacity(self) -> int:
        return 2 * self.reach + 1

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        trip = occasion.trip
        seconds = trip.seconds
        if not trip.path or seconds is None:
            return [[]]
        item = speed_class(self.way(trip) * 3.6 / seconds, self.slowest, self.classes)
        return [[]] if item < 0 else [nearby(item, self.reach, self.classes)]

    def way(self, trip: Trip) -> float:
        """Add up the length of the trip in millimetres, in the order of the points."""
        total = 0.0
        for (x0, y0), (x1, y1) in zip(trip.points, trip.points[1:], strict=False):
            x, y = (x1 - x0) * self.x_scale, (y1 - y0) * self.y_scale
            total += math.sqrt(x * x + y * y)
        return total

    def words(self, item: int) -> str:
        edges = [f"{edge(k, self.slowest) / 1000:.3g}" for k in range(self.classes - 1)]
        if item == 0:
            return f"slower than {edges[0]} km/h"
        if item + 1 == self.classes:
            return f"{edges[-1]} km/h or faster"
        return f"from {edges[item - 1]} to {edges[item]} km/h"


def edge(number: int, slowest: int) -> float:
    """Return the lower end of class `number` + 1, in metres per hour."""
    return slowest * ROOTS[number % 4] * 2 ** (number // 4)


def speed_class(speed: float, slowest: int, classes: int) -> int:
    """Return the number of edges at or below a speed in metres per hour; -1 for what is not a speed.

    >>> speed_class(1999.0, 2000, 26), speed_class(2000.0, 2000, 26), speed_class(1e9, 2000, 26)
    (0, 1, 25)
    """
    if not 0.0 <= speed < math.inf:
        return -1
    return bisect_right(range(classes - 1), speed, key=lambda number: edge(number, slowest))


class Tides(Question):
    """Part of the day, and whether the trip ends nearer to a public `centre` cell than it began, or farther.

    A trip that does neither is a null answer. Few items, so that even little interplay of space and time can be
    learned from few people.

    >>> from ldptrace.protocol.trips import Trip
    >>> Tides(3, centre=4).answer(Occasion(Trip([0, 4], departure=8 * 3600.0)), Source()), Tides(3, centre=4).words(2)
    ([[2]], 'towards the centre in the morning')
    """

    centre: int

    name = "tides"
    about = "the part of the day in which it leads towards the centre or away from it"
    about_time = True

    def __post_init__(self) -> None:
        integer_in(self.centre, 0, self.n * self.n - 1, "centre")

    @property
    def domain(self) -> int:
        return 2 * len(PARTS)

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        trip = occasion.trip
        if not trip.path or trip.hour is None:
            return [[]]
        before, after = (self.distance(trip.path[at]) for at in (0, -1))
        if before == after:
            return [[]]
        return [[2 * PART_OF_HOUR[trip.hour % 24] + (after > before)]]

    def distance(self, cell: int) -> int:
        """Return the square of the distance of a cell from the centre, in cells."""
        (i, j), (ci, cj) = divmod(cell, self.n), divmod(self.centre, self.n)
        return (i - ci) ** 2 + (j - cj) ** 2

    def words(self, item: int) -> str:
        return f"{'away from' if item % 2 else 'towards'} the centre {PARTS[item // 2]}"


class Trips(Question):
    """Number of trips that the drawn one was drawn from: 1, 2, 3, 4 to 5, 6 or more.

    >>> trips = Trips(6)
    >>> [trips.answer(Occasion(Trip([3]), count), Source())[0] for count in (1, 3, 5, 60)]
    [[0], [2], [3], [4]]
    >>> trips.words(3)
    '4 to 5 trips'
    """

    name = "trips"
    about = "how many trips there were"

    @property
    def domain(self) -> int:
        return len(CLASSES)

    def answer(self, occasion: Occasion, source: Source) -> Slots:
        if not occasion.trip.path or occasion.trips < 1:
            return [[]]
        return [[bisect_right(CLASSES, occasion.trips) - 1]]

    def words(self, item: int) -> str:
        if item + 1 == len(CLASSES):
            return f"{CLASSES[item]} trips or more"
        first, last = CLASSES[item], CLASSES[item + 1] - 1
        return f"{first} trip{'' if first == 1 else 's'}" if first == last else f"{first} to {last} trips"
