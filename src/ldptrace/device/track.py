"""Turn the points of a trip into cells of the public grid (sections 5.2 and 5.4 of the paper) and times.
`ldptrace.core.paths.CellPaths` computes the same for many trajectories at once; tests compare the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Sized
from typing import Any

from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import axis_cell, towards
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.records import Record
from ldptrace.protocol.trips import NO_TRIP, Occasion, Trip, clock, kept_places

# Values that Python would read as numbers, and that are none.
NO_NUMBERS = (bool, str, bytes, bytearray)

# x and y, and where it is known t: seconds since the beginning of 1970 on the device's own clock.
Point = Sequence[float]
Points = Iterable[Point]


class Recording(Record):
    """A trajectory that the device recorded. `arrival` is the Unix time at which the trip ended, recorded once and
    never changed, or None if it is unknown. It decides to which window of a standing plan the trip belongs.
    """

    points: Points
    arrival: float | None = None


# What a device is asked about: one trip, or a list of trips.
Trips = Recording | Points | Iterable[Recording | Points]


def recordings_of(trips: Trips) -> list[Recording]:
    """Return the trips as recordings. A list that holds at least one point is one trip, any other is a list of trips.

    >>> [one.points for one in recordings_of([(1, 2), (3, 4)])]
    [[(1, 2), (3, 4)]]
    >>> [one.points for one in recordings_of([[(1, 2)], Recording([(3, 4)], arrival=1.7e9)])]
    [[(1, 2)], [(3, 4)]]
    """
    if isinstance(trips, Recording):
        return [trips]
    items: list[object] = listed(trips)
    if any(_is_point(item) for item in items):
        return [Recording(items)]  # type: ignore[arg-type]
    return [item if isinstance(item, Recording) else Recording(item) for item in items]  # type: ignore[arg-type]


def _is_point(item: object) -> bool:
    """Whether this begins with a number. NaN is one."""
    first = part(item, 0)
    try:
        return first is not None and not isinstance(first, NO_NUMBERS) and float(first) is not None  # type: ignore[arg-type]
    except OverflowError:
        return True
    except Exception:
        return False


def occasion_among(recordings: Sequence[Recording], grid: Grid, source: Source | None = None) -> Occasion:
    """Draw one of the trips, each with equal probability, and count the trips. A recording without points is not a
    trip.

    >>> occasion_among([Recording([]), Recording([(0.5, 0.5)])], Grid((0, 0, 3, 3), 3))
    Occasion(trip=Trip(path=[0], points=[(0.5, 0.5)], departure=None, arrival=None), trips=1)
    """
    trips = [points for points in map(_sized, recordings) if len(points) > 0]
    if not trips:
        return NO_TRIP
    return Occasion(trip_of(trips[(source or Source()).below(len(trips))], grid), len(trips))


def occasion_of(points: Iterable[Point], grid: Grid) -> Occasion:
    """Return the occasion of a device with one trajectory."""
    return occasion_among([Recording(points)], grid)


def trip_of(points: Iterable[Point], grid: Grid) -> Trip:
    """Return the part of a trajectory that questions can use. If the time of the first or last point is missing or
    invalid, times are unknown.

    At most 4,096 points are kept. A trajectory without readable points gives an empty trip, never an error.

    >>> trip_of([(0.5, 0.5, 30.0), (2.5, 2.5, 90.0)], Grid((0, 0, 3, 3), 3)).seconds
    60.0
    >>> trip_of([(0.5, 0.5), (0.6, 0.5), (2.5, 2.5), (99, 2.5)], Grid((0, 0, 3, 3), 3)).path
    [0, 4, 8]
    >>> trip_of([(0.5, 0.5), (2.5, 2.5)], Grid((0, 0, 3, 3), 3)).seconds is None
    True
    """
    everything = listed(points)
    track = [everything[place] for place in kept_places(len(everything))]
    times = [clock(part(point, 2)) for point in (track[:1] + track[-1:])]
    departure, arrival = times if times and None not in times else (None, None)
    places = [(coordinate(part(point, 0)), coordinate(part(point, 1))) for point in track]
    return Trip(_cells(places, grid), places, departure, arrival)


def coordinate(value: object) -> float:
    """Return a coordinate as a double: NaN if it is not a number, and infinity if it is too large.

    >>> coordinate(3), coordinate(None), coordinate("3"), coordinate(-(10**400))
    (3.0, nan, nan, -inf)
    """
    if isinstance(value, NO_NUMBERS):
        return math.nan
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    except Exception:  # whatever it is, it is no number
        return math.nan


def listed(points: Iterable[Any]) -> list[Any]:
    """Return the items as a list, or an empty list if they cannot be read, so that the device always answers."""
    try:
        return list(points)
    except Exception:
        return []


def _sized(recording: Recording) -> Sequence[Point]:
    """Return the points of a recording, without a copy if their number is known."""
    points = recording.points
    try:
        return points if isinstance(points, Sized) and len(points) >= 0 else listed(points)  # type: ignore[return-value]
    except Exception:
        return []


def part(point: object, place: int) -> object:
    """Return x, y or t of a point, or None if it is missing."""
    try:
        return point[place]  # type: ignore[index]
    except Exception:
        return None


def _cells(places: list[tuple[float, float]], grid: Grid) -> list[int]:
    """Return the cells of the points, and between distant cells those of the shortest way."""
    (ox, oy), (sx, sy), n = grid.origin, grid.step, grid.n
    path: list[int] = []
    i = j = -1
    for x, y in places:
        i2, j2 = axis_cell(x, ox, sx, n), axis_cell(y, oy, sy, n)
        if not path:
            i, j = i2, j2
            path.append(i * n + j)
        while i != i2 or j != j2:
            i, j = towards(i, i2), towards(j, j2)
            path.append(i * n + j)
    return path
