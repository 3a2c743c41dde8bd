"""When many trips begin and end: what the questions about time look at, as columns."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldptrace.core.times import to_local
from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.trips import LAST_CLOCK

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Timing:
    """Clock at the first and at the last point of every trajectory, local; nan where it is not known."""

    trajectories: Trajectories
    departure: Floats
    arrival: Floats

    @staticmethod
    def of(trajectories: Trajectories) -> Timing:
        """Times as the devices would know them.

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
        """How long each trip took; nan where that is not known or makes no sense."""
        with np.errstate(invalid="ignore"):
            taken = self.arrival - self.departure
            return np.where(taken > 0, taken, np.nan)

    @property
    def hours(self) -> NDArray[np.int64]:
        """Full hours since the beginning of 1970 at departure; meaningless where it is not known."""
        return np.floor(np.nan_to_num(self.departure)).astype(np.int64) // 3600

    def ways(self, x_scale: float, y_scale: float) -> Floats:
        """Length along the points, x and y stretched by these scales."""
        trips, ways = self.trajectories, np.zeros(len(self.trajectories))
        _ways(trips.x, trips.y, trips.offsets, float(x_scale), float(y_scale), ways)
        return ways

    def take(self, indices: ArrayLike) -> Timing:
        """Those of the trajectories at `indices` (numbers or a mask)."""
        picked = np.asarray(indices)
        return Timing(self.trajectories.take(picked), self.departure[picked], self.arrival[picked])

    def part(self, start: int, stop: int) -> Timing:
        """Those of the trajectories from number `start` to before `stop`, uncopied."""
        part = slice(start, stop)
        return Timing(self.trajectories.part(start, stop), self.departure[part], self.arrival[part])


@numba.njit(cache=True, nogil=True)
def _ways(x, y, offsets, x_scale, y_scale, ways):  # type: ignore[no-untyped-def]
    """Added up in the order of the points, as on a device: another order rounds otherwise."""
    for k in range(len(ways)):
        total = 0.0
        for p in range(offsets[k] + 1, offsets[k + 1]):
            dx, dy = (x[p] - x[p - 1]) * x_scale, (y[p] - y[p - 1]) * y_scale
            total += np.sqrt(dx * dx + dy * dy)
        ways[k] = total
