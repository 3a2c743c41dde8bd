"""What chance decides of the times of trips, for all of them at once or for a block at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Chances:
    """A normal number for the speed of each trip, and two numbers below one for the hour and the minute it begins."""

    speed: Floats
    hour: Floats
    minute: Floats

    @staticmethod
    def drawn(count: int, rng: np.random.Generator) -> Chances:
        return Chances(rng.standard_normal(count), rng.random(count), rng.random(count))

    @staticmethod
    def blocks(sizes: Sequence[int], rng: np.random.Generator) -> Callable[[int], Chances]:
        """As `drawn` for all blocks of these sizes together: those of the block of any number."""
        before: list[list[np.random.Generator]] = []
        for draw in ("standard_normal", "random", "random"):
            before.append([])
            for size in sizes:
                before[-1].append(deepcopy(rng))
                getattr(rng, draw)(size)
        speed, hour, minute = before

        def block(number: int) -> Chances:
            size = sizes[number]
            return Chances(
                deepcopy(speed[number]).standard_normal(size),
                deepcopy(hour[number]).random(size),
                deepcopy(minute[number]).random(size),
            )

        return block

    def part(self, start: int, stop: int) -> Chances:
        """Those of some of the trips."""
        return Chances(self.speed[start:stop], self.hour[start:stop], self.minute[start:stop])
