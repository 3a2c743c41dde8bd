"""Trips on a clock of ticks: one cell for each trip in each tick from its first to its last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Ints
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.streams import Clock, Departures, Positions
from ldptrace.protocol.grid import Grid


def clock_around(trips: Trajectories, tick: float) -> Clock:
    """Return ticks of this many seconds from the first departure to the last arrival."""
    if trips.t is None or not len(trips.t):
        raise InputError("a stream needs trajectories with times, and these have none")
    if not tick > 0:
        raise InputError(f"a tick must be a positive number of seconds, got {tick!r}")
    return Clock.of(Departures.of(trips.take(trips.sizes > 0)), tick, 0)


@dataclass(frozen=True, eq=False)
class CellStreams:
    """Ragged cells: those of stream k are at the ticks `begins[k]`, `begins[k] + 1` and so on."""

    cells: NDArray[np.int32]
    offsets: Ints
    begins: Ints
    grid: Grid
    clock: Clock

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)

    @cached_property
    def ticks(self) -> Ints:
        """The tick of every cell."""
        return np.repeat(self.begins - self.offsets[:-1], self.sizes) + np.arange(len(self.cells))

    @staticmethod
    def from_trajectories(trips: Trajectories, grid: Grid, clock: Clock) -> CellStreams:
        """Return where each trip is at each tick, interpolated along its line; a trip without points is none.

        >>> trip = Trajectories([0.2, 2.2], [0.5, 0.5], [0, 2], t=[0.0, 40.0])
        >>> CellStreams.from_trajectories(trip, Grid((0, 0, 3, 3), 3), clock_around(trip, 10.0)).cells.tolist()
        [0, 0, 3, 3, 6]
        """
        positions = Positions.of(trips.take(trips.sizes > 0), clock)
        begins = positions.tick[positions.offsets[:-1]]
        return CellStreams(positions.cells(grid).astype(np.int32), positions.offsets, begins, grid, clock)

    def trajectories(self, rng: np.random.Generator) -> Trajectories:
        """Return a uniform point of the cell at each tick, with its time."""
        (ox, oy), (sx, sy), (x0, y0, x1, y1) = self.grid.origin, self.grid.step, self.grid.bounds
        within = rng.random((2, len(self.cells)))
        x = np.clip(ox + sx * (self.cells // self.grid.n + within[0]), x0, x1)
        y = np.clip(oy + sy * (self.cells % self.grid.n + within[1]), y0, y1)
        times = self.clock.origin + self.clock.tick * self.ticks.astype(np.float64)
        return Trajectories(x, y, self.offsets, t=times)
