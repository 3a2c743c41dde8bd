"""Count the trips, the places and the radius of gyration of each user of a set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.distances import metric_scale
from ldptrace.evaluation.traces import ZONES
from ldptrace.protocol.grid import Grid


@dataclass(frozen=True, eq=False)
class Habits:
    """What is known of each user: the number of trips, of distinct places (zones, 12 x 12 of them) where trips begin or
    end, and the radius of gyration of the points where trips begin or end.

    >>> trips = Trajectories.from_lists([[(0.0, 0.0), (6.0, 0.0)], [(6.0, 0.0), (0.0, 0.0)]])
    >>> found = Habits.of(trips, np.array([7, 7]), Grid((0, 0, 12, 12), 6))
    >>> found.trips.tolist(), found.places.tolist(), found.radii.tolist()
    ([2], [2], [3.0])
    """

    trips: Ints
    places: Ints
    radii: Floats

    @staticmethod
    def of(trips: Trajectories, users: NDArray[np.integer], grid: Grid) -> Habits:
        """Count for each user of trips that all have points."""
        scale = metric_scale(grid, geographic=trips.is_geographic)
        ends = np.concatenate((trips.offsets[:-1], trips.offsets[1:] - 1))
        _, user = np.unique(np.concatenate((users, users)), return_inverse=True)
        visits = np.bincount(user)
        zone, squared = np.zeros(len(ends), dtype=np.int64), np.zeros(len(visits))
        for axis, origin, step, metres in zip((trips.x, trips.y), grid.origin, grid.step, scale, strict=True):
            place = np.clip(np.floor((axis[ends] - origin) / (step * grid.n) * ZONES), 0, ZONES - 1)
            zone = ZONES * zone + place.astype(np.int64)
            away = axis[ends] - (np.bincount(user, axis[ends]) / visits)[user]
            squared += np.bincount(user, (away * metres) ** 2)
        known = np.unique(user * ZONES * ZONES + zone)
        places = np.bincount(known // (ZONES * ZONES), minlength=len(visits))
        return Habits(visits // 2, places, np.sqrt(squared / visits))

    def again(self, rng: np.random.Generator) -> Habits:
        """Return as many of the users, drawn with replacement."""
        drawn = rng.integers(0, len(self.trips), len(self.trips))
        return Habits(self.trips[drawn], self.places[drawn], self.radii[drawn])
