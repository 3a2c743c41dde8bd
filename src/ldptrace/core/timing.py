"""Departure and arrival times of many trips, as columns, for the questions about time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.drawing import SHORTEST
from ldptrace.core.kernels import kernel
from ldptrace.core.times import to_local
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.protocol.trips import LAST_CLOCK

# Each end of a trip takes this part of its time besides that of the way, spread over about this part of the way: people
# set off slowly, take side streets, look for a place to stop (docs/lab/streets.md, "Slow ends").
AT_END, NEAR_END = 0.05, 0.05


@dataclass(frozen=True, eq=False)
class Timing:
    """Local clock time at the first and last point of every trajectory; NaN if it is not known."""

    trajectories: Trajectories
    departure: Floats
    arrival: Floats

    @staticmethod
    def of(trajectories: Trajectories) -> Timing:
        """Get the times as the devices know them.

        >>> trips = Trajectories([0, 3, 9], [0, 4, 9], [0, 2, 3], t=[60, 70, np.nan])
        >>> Timing.of(trips).seconds.tolist(), Timing.of(trips).ways(1, 1).tolist()
        ([10.0, nan], [5.0, 0.0])
        """
        unknown = np.full(len(trajectories), np.nan)
        if trajectories.t is None or len(trajectories.t) == 0:
            return Timing(trajectories, unknown, unknown)
        t, offsets = to_local(trajectories.t, trajectories.timezone), trajectories.offsets
        here = np.diff(offsets) > 0
        last = len(t) - 1
        departure = np.where(here, t[np.minimum(offsets[:-1], last)], np.nan)
        arrival = np.where(here, t[np.maximum(offsets[1:] - 1, 0)], np.nan)
        known = (np.abs(departure) < LAST_CLOCK) & (np.abs(arrival) < LAST_CLOCK)
        return Timing(trajectories, np.where(known, departure, np.nan), np.where(known, arrival, np.nan))

    @property
    def seconds(self) -> Floats:
        """Duration of each trip; NaN if it is not known or not possible."""
        with np.errstate(invalid="ignore"):
            taken = self.arrival - self.departure
            return np.where(taken > 0, taken, np.nan)

    @property
    def hours(self) -> Ints:
        """Full hours from the beginning of 1970 to the departure; meaningless if the departure is not known."""
        return np.floor(np.nan_to_num(self.departure)).astype(np.int64) // 3600

    def ways(self, x_scale: float, y_scale: float) -> Floats:
        """Return the length of each trip along its points, with x and y multiplied by these scales."""
        trips = self.trajectories
        return _ways(trips.x, trips.y, trips.offsets, float(x_scale), float(y_scale))

    def take(self, indices: ArrayLike) -> Timing:
        """Return the times of the trajectories at these indices (numbers or a mask)."""
        picked = np.asarray(indices)
        return Timing(self.trajectories.take(picked), self.departure[picked], self.arrival[picked])

    @staticmethod
    def concat(parts: Sequence[Timing]) -> Timing:
        """Join several sets."""
        return Timing(
            Trajectories.concat([part.trajectories for part in parts]),
            np.concatenate([part.departure for part in parts]),
            np.concatenate([part.arrival for part in parts]),
        )

    def part(self, start: int, stop: int) -> Timing:
        """Return the times of the trajectories from index `start` up to, but not including, `stop`."""
        part = slice(start, stop)
        return Timing(self.trajectories.part(start, stop), self.departure[part], self.arrival[part])


@kernel
def times_along(offsets, steps, departure, seconds):  # type: ignore[no-untyped-def]
    """Return the times of points: each trip begins at its `departure` and takes its `seconds`, divided in proportion to
    `steps`. `steps` is the length of the step to each point, or its travel time; the first step of a trip is ignored.
    Times increase by at least a millisecond per point.

    >>> times_along(np.array([0, 3]), np.array([0.0, 1.0, 3.0]), np.array([60.0]), np.array([40.0])).tolist()
    [60.0, 70.0, 100.0]
    """
    t = np.empty(len(steps))
    for k in range(len(departure)):
        first, last = offsets[k], offsets[k + 1]
        total = 0.0
        for p in range(first + 1, last):
            total += steps[p]
        passed = 0.0
        for p in range(first, last):
            if p > first:
                share = steps[p] / total if total > 0.0 else 1.0 / (last - first - 1)
                passed += max(share * seconds[k], SHORTEST)
            t[p] = departure[k] + passed
    return t


@kernel
def slow_at_ends(offsets, steps):  # type: ignore[no-untyped-def]
    """Return relative travel times of steps if no speeds are known: trips are slower near both ends.

    >>> slow_at_ends(np.array([0, 4]), np.array([0.0, 1.0, 8.0, 1.0])).round(2).tolist()
    [0.0, 1.33, 7.34, 1.33]
    """
    felt = np.zeros(len(steps))
    for k in range(len(offsets) - 1):
        total, passed, before = 0.0, 0.0, 0.0
        for p in range(offsets[k] + 1, offsets[k + 1]):
            total += steps[p]
        if total <= 0.0:
            continue
        for p in range(offsets[k] + 1, offsets[k + 1]):
            passed += steps[p]
            share = passed / total
            at_ends = 1 - np.exp(-share / NEAR_END) + np.exp((share - 1) / NEAR_END)
            now = (1 - 2 * AT_END) * share + AT_END * at_ends
            felt[p] = (now - before) * total
            before = now
    return felt


def every(trajectories: Trajectories, interval: float) -> Trajectories:
    """Return a point every `interval` seconds from the departure of each trip, interpolated on straight lines, and the
    last point.

    >>> line = Trajectories([0, 10], [0, 0], [0, 2], t=[100, 125])
    >>> every(line, 10).t.tolist(), every(line, 10).x.tolist()
    ([100.0, 110.0, 120.0, 125.0], [0.0, 4.0, 8.0, 10.0])
    """
    if trajectories.t is None:
        raise InputError(
            "these trajectories have no times, so points cannot be placed at an interval of seconds"
        )
    t, offsets, sizes = trajectories.t, trajectories.offsets, trajectories.sizes.copy()
    many = sizes > 1
    span = t[offsets[1:][many] - 1] - t[offsets[:-1][many]]
    # A last step too short for a file is omitted: the point before it waits for the last one.
    sizes[many] = np.maximum(np.ceil((span - SHORTEST) / interval), 1).astype(np.int64) + 1
    new = ragged.offsets_of(sizes)
    x, y, t = _every(trajectories.x, trajectories.y, t, offsets, new, float(interval))
    return replace(trajectories, x=x, y=y, t=t, offsets=new)


@kernel
def _ways(x, y, offsets, x_scale, y_scale):  # type: ignore[no-untyped-def]
    """Add up lengths in the order of the points, as on a device, so that rounding is the same."""
    ways = np.zeros(len(offsets) - 1)
    for k in range(len(ways)):
        total = 0.0
        for p in range(offsets[k] + 1, offsets[k + 1]):
            dx, dy = (x[p] - x[p - 1]) * x_scale, (y[p] - y[p - 1]) * y_scale
            total += np.sqrt(dx * dx + dy * dy)
        ways[k] = total
    return ways


@kernel
def _every(x, y, t, offsets, new, interval):  # type: ignore[no-untyped-def]
    points = np.empty((3, new[-1]))
    for k in range(len(offsets) - 1):
        first, last = offsets[k], offsets[k + 1] - 1
        size = new[k + 1] - new[k]
        at = first
        for p in range(size - 1):
            when = t[first] + p * interval
            while at < last - 1 and t[at + 1] <= when:
                at += 1
            share = (when - t[at]) / (t[at + 1] - t[at])
            points[0, new[k] + p] = x[at] + share * (x[at + 1] - x[at])
            points[1, new[k] + p] = y[at] + share * (y[at + 1] - y[at])
            points[2, new[k] + p] = when
        if size > 0:
            end = new[k + 1] - 1
            points[0, end], points[1, end], points[2, end] = x[last], y[last], t[last]
    return points
