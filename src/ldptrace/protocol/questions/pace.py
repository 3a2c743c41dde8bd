"""How fast a trip is."""

from __future__ import annotations

import math
from typing import ClassVar

from ldptrace.protocol.questions.base import Question, Slots, nearby, whole
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.trips import Occasion, Trip

# Four classes to a doubling of the speed.
ROOTS = (1.0, 1.189207115002721, 1.4142135623730951, 1.681792830507429)
MOST_CLASSES = 64
MOST_SCALE = 10**12
MOST_SPEED = 10**9


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

    name: ClassVar[str] = "pace"
    about: ClassVar[str] = "its mean speed"
    about_time: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole("x_scale", self.x_scale, 1, MOST_SCALE)
        whole("y_scale", self.y_scale, 1, MOST_SCALE)
        whole("slowest", self.slowest, 1, MOST_SPEED)
        whole("classes", self.classes, 2, MOST_CLASSES)
        whole("reach", self.reach, 0, (self.classes - 1) // 2)

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
    item = 0
    while item < classes - 1 and speed >= slowest * ROOTS[item % 4] * 2.0 ** (item // 4):
        item += 1
    return item
