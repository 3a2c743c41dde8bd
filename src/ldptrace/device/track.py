"""From points to the cells of the public grid, as section 5.2 and 5.4 of the paper ask, and to the trip's times.

The same path that `ldptrace.core.paths.CellPaths` computes for many trajectories at once, tested to agree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Sized

from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import axis_cell, towards
from ldptrace.protocol.randomness import Source
from ldptrace.protocol.records import Record
from ldptrace.protocol.trips import NO_TRIP, Occasion, Trip, clock, kept_places

# Values that Python would read as numbers, and that are none.
NO_NUMBERS = (bool, str, bytes, bytearray)

# x and y, and where it is known t: seconds since the beginning of 1970 on the device's own clock.
Point = Sequence[float]


class Recording(Record):
    """A trajectory as this device recorded it.

    `arrival` is the Unix time of its last point, recorded once and never changed: a standing plan asks about trips by
    it. None where it is unknown.
    """

    points: Iterable[Point]
    arrival: float | None = None


def occasion_among(recordings: Sequence[Recording], grid: Grid, source: Source | None = None) -> Occasion:
    """One of the trips, every one equally likely, and how many there are. What has no points is no trip.

    >>> occasion_among([Recording([]), Recording([(0.5, 0.5)])], Grid((0, 0, 3, 3), 3))
    Occasion(trip=Trip(path=[0], points=[(0.5, 0.5)], departure=None, arrival=None), trips=1)
    """
    trips = [points for points in map(_sized, recordings) if len(points) > 0]
    if not trips:
        return NO_TRIP
    return Occasion(trip_of(trips[(source or Source()).below(len(trips))], grid), len(trips))


def occasion_of(points: Iterable[Point], grid: Grid) -> Occasion:
    """The occasion of a device that has one trajectory."""
    return occasion_among([Recording(points)], grid)


def trip_of(points: Iterable[Point], grid: Grid) -> Trip:
    """All that the questions may look at. Without a time at both ends, or with a broken one, times are unknown.

    At most 4,096 points are kept.
    Every trajectory has a trip, whatever is wrong with it: what cannot be read as points is no points.

    >>> trip_of([(0.5, 0.5, 30.0), (2.5, 2.5, 90.0)], Grid((0, 0, 3, 3), 3)).seconds
    60.0
    >>> trip_of([(0.5, 0.5), (0.6, 0.5), (2.5, 2.5), (99, 2.5)], Grid((0, 0, 3, 3), 3)).path
    [0, 4, 8]
    >>> trip_of([(0.5, 0.5), (2.5, 2.5)], Grid((0, 0, 3, 3), 3)).seconds is None
    True
    """
    everything = _listed(points)
    track = [everything[place] for place in kept_places(len(everything))]
    times = [clock(_part(point, 2)) for point in (track[:1] + track[-1:])]
    departure, arrival = times if times and None not in times else (None, None)
    places = [(coordinate(_part(point, 0)), coordinate(_part(point, 1))) for point in track]
    return Trip(_cells(places, grid), places, departure, arrival)


def coordinate(value: object) -> float:
    """A coordinate as a double: not a number where it is none, infinite where it is beyond the range.

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


def _listed(points: Iterable[Point]) -> list[Point]:
    """The points; none where they cannot be had, because a device that was asked answers."""
    try:
        return list(points)
    except Exception:
        return []


def _sized(recording: Recording) -> Sequence[Point]:
    """The points of a recording, uncopied where their number is known."""
    points = recording.points
    try:
        return points if isinstance(points, Sized) and len(points) >= 0 else _listed(points)  # type: ignore[return-value]
    except Exception:
        return []


def _part(point: Point, place: int) -> object:
    """x, y or t of a point, None where it has none."""
    try:
        return point[place]
    except Exception:
        return None


def _cells(places: list[tuple[float, float]], grid: Grid) -> list[int]:
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
