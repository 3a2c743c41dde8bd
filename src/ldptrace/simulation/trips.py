"""What devices know when they are asked: cell paths, and times where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ldptrace.core import ragged
from ldptrace.core.arrays import Ints
from ldptrace.core.paths import CellPaths
from ldptrace.core.timing import Timing
from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.limits import MAX_POINTS
from ldptrace.protocol.trips import kept_places
from ldptrace.simulation.unit import TRIPS


@dataclass(frozen=True, eq=False)
class Trips:
    """The cell path of every trajectory, and its timing where trajectories have times; their points are left behind."""

    paths: CellPaths
    timing: Timing | None
    # Where the points of each trajectory began and ended: blocks are cut by them.
    offsets: Ints
    # How many trips each was drawn from; None: it is all that its device has.
    counts: Ints | None = None

    @staticmethod
    def of(trajectories: Trajectories, grid: Grid) -> Trips:
        """As the devices would know them: of at most 4,096 points each.

        >>> Trips.of(Trajectories([0, 3, 9], [0, 4, 9], [0, 2, 3]), Grid((0, 0, 10, 10), 2)).paths.sizes.tolist()
        [1, 1]
        """
        known = _kept(trajectories)
        timing = None if known.t is None else Timing.of(known)
        counts = None
        if known.extra is not None and TRIPS in known.extra.column_names:
            counts = known.extra[TRIPS].to_numpy()
        return Trips(CellPaths.from_trajectories(known, grid), timing, trajectories.offsets, counts)

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def points(self) -> int:
        """How many points the trajectories had."""
        return int(self.offsets[-1] - self.offsets[0])

    def part(self, start: int, stop: int) -> Trips:
        """Those of number `start` to before `stop`, uncopied."""
        timing = None if self.timing is None else self.timing.part(start, stop)
        counts = None if self.counts is None else self.counts[start:stop]
        return Trips(self.paths.part(start, stop), timing, self.offsets[start : stop + 1], counts)

    def take(self, indices: ArrayLike) -> Trips:
        """Those at `indices` (numbers or a mask), in that order."""
        picked = np.asarray(indices)
        timing = None if self.timing is None else self.timing.take(picked)
        sizes = np.diff(self.offsets)[picked]
        counts = None if self.counts is None else self.counts[picked]
        return Trips(self.paths.take(picked), timing, ragged.offsets_of(sizes), counts)

    @staticmethod
    def concat(parts: Sequence[Trips]) -> Trips:
        """One set after the other, of one grid; timing and counts are kept where every part has them."""
        timings = [part.timing for part in parts if part.timing is not None]
        counts = [part.counts for part in parts if part.counts is not None]
        return Trips(
            CellPaths.concat([part.paths for part in parts]),
            Timing.concat(timings) if len(timings) == len(parts) else None,
            ragged.offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
            np.concatenate(counts) if len(counts) == len(parts) else None,
        )


def _kept(trajectories: Trajectories) -> Trajectories:
    """The points that devices look at: of long trajectories 4,096 (section 4 of the protocol)."""
    sizes = trajectories.sizes
    if not len(sizes) or sizes.max() <= MAX_POINTS:
        return trajectories
    starts = trajectories.offsets[:-1]
    places = np.concatenate(
        [
            start + np.asarray(kept_places(size))
            for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
        ]
    ).astype(np.int64)
    return replace(
        trajectories,
        x=trajectories.x[places],
        y=trajectories.y[places],
        t=None if trajectories.t is None else trajectories.t[places],
        offsets=ragged.offsets_of(np.minimum(sizes, MAX_POINTS)),
    )
