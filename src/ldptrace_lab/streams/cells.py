"""Trips on a clock of ticks: one cell for each trip in each tick from its first to its last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.kernels import kernel
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.protocol import lattice
from ldptrace.protocol.grid import Grid

Ints = NDArray[np.int64]

_axis_cell = kernel(lattice.axis_cell)


@dataclass(frozen=True)
class Clock:
    """`ticks` ticks of `seconds` each, from the moment `origin` on."""

    origin: float
    seconds: float
    ticks: int

    @staticmethod
    def around(trips: Trajectories, seconds: float) -> Clock:
        """From the first departure to the last arrival."""
        if trips.t is None or not len(trips.t):
            raise InputError("a stream needs trajectories with times, and these have none")
        if not seconds > 0:
            raise InputError(f"a tick must be a positive number of seconds, got {seconds!r}")
        origin = float(trips.t.min())
        return Clock(origin, seconds, int((float(trips.t.max()) - origin) / seconds + 1e-6) + 1)


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
        """Where each trip is at each tick, interpolated along its line; a trip without points is none.

        >>> trip = Trajectories([0.2, 2.2], [0.5, 0.5], [0, 2], t=[0.0, 40.0])
        >>> CellStreams.from_trajectories(trip, Grid((0, 0, 3, 3), 3), Clock.around(trip, 10.0)).cells.tolist()
        [0, 0, 3, 3, 6]
        """
        times = trips.t
        if times is None:
            raise InputError("a stream needs trajectories with times, and these have none")
        trips = trips.take(trips.sizes > 0)
        times = trips.t
        assert times is not None
        ends = np.stack([times[trips.offsets[:-1]], times[trips.offsets[1:] - 1]])
        first, last = np.floor((ends - clock.origin) / clock.seconds + 1e-6).astype(np.int64)
        first, last = np.maximum(first, 0), np.minimum(last, clock.ticks - 1)
        offsets = ragged.offsets_of(np.maximum(last - first + 1, 0))
        (ox, oy), (sx, sy) = grid.origin, grid.step
        cells = np.empty(offsets[-1], dtype=np.int32)
        _at_ticks(
            trips.x, trips.y, times, trips.offsets, first, offsets, clock.origin, clock.seconds,
            (ox, oy, sx, sy, grid.n), cells,
        )  # fmt: skip
        return CellStreams(cells, offsets, first, grid, clock)

    def trajectories(self, rng: np.random.Generator) -> Trajectories:
        """A uniform point of the cell at each tick, with its time."""
        (ox, oy), (sx, sy), (x0, y0, x1, y1) = self.grid.origin, self.grid.step, self.grid.bounds
        within = rng.random((2, len(self.cells)))
        x = np.clip(ox + sx * (self.cells // self.grid.n + within[0]), x0, x1)
        y = np.clip(oy + sy * (self.cells % self.grid.n + within[1]), y0, y1)
        times = self.clock.origin + self.clock.seconds * self.ticks.astype(np.float64)
        return Trajectories(x, y, self.offsets, t=times)


@kernel
def _at_ticks(x, y, t, offsets, first, begins, origin, seconds, lines, cells):  # type: ignore[no-untyped-def]
    ox, oy, sx, sy, n = lines
    for k in range(len(first)):
        p, last = offsets[k], offsets[k + 1] - 1
        for place in range(begins[k], begins[k + 1]):
            moment = min(max(origin + (first[k] + place - begins[k]) * seconds, t[offsets[k]]), t[last])
            while p < last and t[p + 1] <= moment:
                p += 1
            share, other = 0.0, min(p + 1, last)
            if t[other] > t[p]:
                share = (moment - t[p]) / (t[other] - t[p])
            i = _axis_cell(x[p] + share * (x[other] - x[p]), ox, sx, n)
            j = _axis_cell(y[p] + share * (y[other] - y[p]), oy, sy, n)
            cells[place] = i * n + j
