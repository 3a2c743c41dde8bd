"""What devices know when they are asked: cell paths, and times where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldptrace.core import ragged
from ldptrace.core.paths import CellPaths
from ldptrace.core.timing import Timing
from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid


@dataclass(frozen=True, eq=False)
class Trips:
    """The cell path of every trajectory, and its timing where trajectories have times; their points are left behind."""

    paths: CellPaths
    timing: Timing | None
    # Where the points of each trajectory began and ended: blocks are cut by them.
    offsets: NDArray[np.int64]

    @staticmethod
    def of(trajectories: Trajectories, grid: Grid) -> Trips:
        """As the devices would know them.

        >>> Trips.of(Trajectories([0, 3, 9], [0, 4, 9], [0, 2, 3]), Grid((0, 0, 10, 10), 2)).paths.sizes.tolist()
        [1, 1]
        """
        timing = None if trajectories.t is None else Timing.of(trajectories)
        return Trips(CellPaths.from_trajectories(trajectories, grid), timing, trajectories.offsets)

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def points(self) -> int:
        """How many points the trajectories had."""
        return int(self.offsets[-1] - self.offsets[0])

    def part(self, start: int, stop: int) -> Trips:
        """Those of number `start` to before `stop`, uncopied."""
        timing = None if self.timing is None else self.timing.part(start, stop)
        return Trips(self.paths.part(start, stop), timing, self.offsets[start : stop + 1])

    def take(self, indices: ArrayLike) -> Trips:
        """Those at `indices` (numbers or a mask), in that order."""
        picked = np.asarray(indices)
        timing = None if self.timing is None else self.timing.take(picked)
        sizes = np.diff(self.offsets)[picked]
        return Trips(self.paths.take(picked), timing, ragged.offsets_of(sizes))

    @staticmethod
    def concat(parts: Sequence[Trips]) -> Trips:
        """One set after the other, of one grid; timing is kept where every part has it."""
        timings = [part.timing for part in parts if part.timing is not None]
        return Trips(
            CellPaths.concat([part.paths for part in parts]),
            Timing.concat(timings) if len(timings) == len(parts) else None,
            ragged.offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        )
