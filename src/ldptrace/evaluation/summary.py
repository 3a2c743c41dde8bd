"""What the metrics need to know of one set of trajectories, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import map_chunks
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation import extents
from ldptrace.evaluation.patterns import Patterns, mine
from ldptrace.protocol.grid import Grid

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Summary:
    """One set on a grid: its cell paths, and how far its trajectories go.

    `lengths` and `diameters` are in units of the plane, or in metres where the coordinates are geographic; `scale`
    is the length of a unit of x and of y. `points` is the number of points it was made from.

    >>> tiny = Summary.of(Trajectories.from_lists([[(0.5, 0.5), (1.5, 0.5)]]), Grid((0, 0, 3, 3), 3))
    >>> tiny.density.tolist(), tiny.lengths.tolist()
    ([1, 0, 0, 1, 0, 0, 0, 0, 0], [1.0])
    """

    paths: CellPaths
    lengths: Floats
    diameters: Floats
    points: int = 0
    scale: tuple[float, float] = (1.0, 1.0)

    @staticmethod
    def of(trajectories: Trajectories, grid: Grid) -> Summary:
        """Summary of the trajectories that have points."""
        if np.any(trajectories.sizes == 0):
            trajectories = trajectories.take(trajectories.sizes > 0)
        if len(trajectories) == 0:
            raise InputError("a set without any point cannot be evaluated")
        scale = extents.metric_scale(grid, geographic=trajectories.is_geographic)
        return Summary(
            CellPaths.from_trajectories(trajectories, grid),
            extents.travel_distances(trajectories, scale),
            extents.diameters(trajectories, scale),
            trajectories.points,
            scale,
        )

    @staticmethod
    def nothing(grid: Grid) -> Summary:
        """Of no trajectory at all: what merging begins with."""
        none = np.empty(0)
        return Summary(CellPaths(np.empty(0, dtype=np.int32), np.zeros(1, dtype=np.int64), grid), none, none)

    @staticmethod
    def merged(parts: Sequence[Summary]) -> Summary:
        """The summary of all parts together, one after the other: batches of a set that is larger than memory.

        >>> line = Trajectories.from_lists([[(0.5, 0.5), (1.5, 0.5)]])
        >>> half = Summary.of(line, Grid((0, 0, 3, 3), 3))
        >>> len(Summary.merged([half, half])), Summary.merged([half, half]).density[:4].tolist()
        (2, [2, 0, 0, 2])
        """
        if not parts:
            raise InputError("a set without any point cannot be evaluated")
        sizes = np.concatenate([part.paths.sizes for part in parts])
        cells = np.concatenate([part.paths.cells for part in parts])
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        return Summary(
            CellPaths(cells, offsets, parts[0].grid),
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.diameters for part in parts]),
            sum(part.points for part in parts),
            next((part.scale for part in parts if len(part)), (1.0, 1.0)),
        )

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def grid(self) -> Grid:
        return self.paths.grid

    def take(self, indices: Ints) -> Summary:
        """Summary of the trajectories at `indices`, repeats allowed."""
        paths = self.paths.take(indices)
        return replace(self, paths=paths, lengths=self.lengths[indices], diameters=self.diameters[indices])

    @cached_property
    def density(self) -> Ints:
        """How often each cell is visited."""
        return np.bincount(self.paths.cells, minlength=self.grid.cells)

    @cached_property
    def coverage(self) -> Ints:
        """How many trajectories pass through each cell."""

        def work(_: int, start: int, stop: int) -> Ints:
            out = np.zeros(self.grid.cells, dtype=np.int64)
            _coverage(self.paths.cells, self.paths.offsets, start, stop, out)
            return out

        total: Ints = np.sum(map_chunks(work, len(self)), axis=0)
        return total

    @cached_property
    def trips(self) -> tuple[Ints, Ints]:
        """Pairs (first cell * cells + last cell) that occur, ascending, and how often."""
        pairs = self.paths.starts().astype(np.int64) * self.grid.cells + self.paths.ends()
        return np.unique(pairs, return_counts=True)

    @cached_property
    def cell_lengths(self) -> Ints:
        """How many paths have 0, 1, 2 ... cells."""
        return np.bincount(self.paths.sizes)

    @cached_property
    def patterns(self) -> Patterns:
        """The hundred most frequent patterns."""
        return mine(self.paths)


@kernel
def _coverage(cells, offsets, start, stop, out):  # type: ignore[no-untyped-def]
    last = np.full(len(out), -1, dtype=np.int64)
    for k in range(start, stop):
        for p in range(offsets[k], offsets[k + 1]):
            if last[cells[p]] != k:
                last[cells[p]] = k
                out[cells[p]] += 1
