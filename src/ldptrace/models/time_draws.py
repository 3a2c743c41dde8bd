"""The random numbers that decide the times of trips, for all of them at once or for a block at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldptrace.core.arrays import Floats


@dataclass(frozen=True, eq=False)
class TimeDraws:
    """A normal number for the speed of each trip, and two numbers below one for the hour and the minute it begins."""

    speed: Floats
    hour: Floats
    minute: Floats

    @staticmethod
    def drawn(count: int, rng: np.random.Generator) -> TimeDraws:
        return TimeDraws(rng.standard_normal(count), rng.random(count), rng.random(count))

    def part(self, start: int, stop: int) -> TimeDraws:
        """Those of some of the trips."""
        return TimeDraws(self.speed[start:stop], self.hour[start:stop], self.minute[start:stop])
