"""The summary of one set of trajectories for the metrics: tables of fixed size, added block by block. The cell paths
are stored, in memory or on disk, for everything that needs another pass: patterns, counts of the patterns of another
set, histograms with the scale of another set, and bootstraps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints, Ints32
from ldptrace.core.crs import scale_of
from ldptrace.core.parallel import NOTHING, Each, added, child
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.engines.base import Aside, Held, in_blocks
from ldptrace.errors import InputError
from ldptrace.evaluation import distances
from ldptrace.evaluation.divergence import Spread
from ldptrace.evaluation.patterns import Patterns, mine, support
from ldptrace.protocol.grid import Grid
from ldptrace.simulation.answers import moves_of


@dataclass(frozen=True, eq=False)
class Part:
    """One block of a set on a grid: its cell paths, their lengths and diameters in units of the plane (metres if
    coordinates are degrees), and how many points it was made from. Cells and sizes have the smallest possible integer
    type, to save memory."""

    grid: Grid
    cells: NDArray[Any]
    sizes: Ints32
    lengths: Floats
    diameters: Floats
    points: int

    @staticmethod
    def of(trajectories: Trajectories, grid: Grid) -> Part:
        """Make the block of trajectories that all have points."""
        scale = scale_of(grid.bounds, trajectories.crs)
        paths = CellPaths.from_trajectories(trajectories, grid)
        return Part(
            grid,
            paths.cells.astype(np.uint16 if grid.cells <= 1 << 16 else np.int32),
            paths.sizes.astype(np.int32),
            distances.travel_distances(trajectories, scale),
            distances.diameters(trajectories, scale),
            trajectories.points,
        )

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def paths(self) -> CellPaths:
        return CellPaths(self.cells.astype(np.int32), ragged.offsets_of(self.sizes), self.grid)

    def take(self, indices: Ints) -> Part:
        """Return the trajectories at `indices`, which may repeat."""
        paths = self.paths.take(indices)
        return Part(
            self.grid,
            paths.cells.astype(self.cells.dtype),
            self.sizes[indices],
            self.lengths[indices],
            self.diameters[indices],
            self.points,
        )


@dataclass(frozen=True, eq=False)
class Tables:
    """The sums over the parts of a set.

    `density` is how often each cell is visited, `coverage` how many trajectories pass through it, `alone` how many
    never leave it. `moves` are counted by cell and direction, `trips` by pairs (first cell * cells + last cell) that
    occur, `sizes` by the number of cells of a path. `blocks` are the numbers of the blocks and their trajectories.
    """

    points: int
    density: Ints
    coverage: Ints
    alone: Ints
    moves: Ints
    trips: tuple[Ints, Ints]
    sizes: Ints
    lengths: Spread
    diameters: Spread
    blocks: Ints

    @staticmethod
    def of(part: Part, number: int) -> Tables:
        """Return the summary of one block."""
        paths, cells = part.paths, part.grid.cells
        starts, move = paths.starts(), moves_of(paths)
        # Every trajectory counts once in each cell that it passes.
        passed = np.unique(ragged.owners(paths.offsets) * cells + paths.cells) % cells
        return Tables(
            points=part.points,
            density=np.bincount(paths.cells, minlength=cells),
            coverage=np.bincount(passed, minlength=cells),
            alone=np.bincount(starts[paths.sizes == 1], minlength=cells),
            moves=np.bincount((8 * paths.cells + move - 1)[move > 0], minlength=8 * cells),
            trips=np.unique(starts.astype(np.int64) * cells + paths.ends(), return_counts=True),
            sizes=np.bincount(part.sizes),
            lengths=Spread.of(part.lengths),
            diameters=Spread.of(part.diameters),
            blocks=np.array([[number, len(part)]]),
        )

    def __add__(self, other: Tables) -> Tables:
        pairs, place = np.unique(np.concatenate((self.trips[0], other.trips[0])), return_inverse=True)
        often = np.bincount(
            place, weights=np.concatenate((self.trips[1], other.trips[1])), minlength=len(pairs)
        )
        longest = max(len(self.sizes), len(other.sizes))
        sizes = sum(np.pad(part, (0, longest - len(part))) for part in (self.sizes, other.sizes))
        return added(
            self,
            other,
            trips=(pairs, often.astype(np.int64)),
            sizes=sizes,
            blocks=np.concatenate((self.blocks, other.blocks)),
        )


# How often patterns of another set occur in a set, and its lengths and diameters in the histograms of that set.
Beside = tuple[Ints, Each[Floats], Each[Floats]]


@dataclass(frozen=True, eq=False)
class Summary:
    """One set on a grid. `scale` is the length of a unit of x and of y; each trajectory counts `times` times. Of a
    bootstrap, `drawn` says how many trajectories of each block are drawn with replacement, the same in every pass.

    >>> tiny = Summary.of(Trajectories.from_lists([[(0.5, 0.5), (1.5, 0.5)]]), Grid((0, 0, 3, 3), 3))
    >>> tiny.tables.density.tolist(), tiny.tables.lengths.mean
    ([1, 0, 0, 1, 0, 0, 0, 0, 0], 1.0)
    """

    parts: Aside[Part]
    grid: Grid
    scale: tuple[float, float] = (1.0, 1.0)
    times: float = 1.0
    drawn: tuple[np.random.Generator, dict[int, int]] | None = None
    _seen: dict[int, tuple[Summary, Beside]] = field(default_factory=dict)

    @staticmethod
    def of(trajectories: Trajectories, grid: Grid) -> Summary:
        """Summarise the trajectories with points, in memory."""
        if np.any(trajectories.sizes == 0):
            trajectories = trajectories.take(trajectories.sizes > 0)
        if len(trajectories) == 0:
            raise InputError("a set without any point cannot be evaluated")
        parts = [Part.of(block, grid) for block in in_blocks([trajectories])]
        return Summary(Held(parts), grid, scale_of(grid.bounds, trajectories.crs))

    def __len__(self) -> int:
        return round(self.times * int(self.tables.blocks[:, 1].sum()))

    def add_up(self, work: Callable[[Part, int], Any]) -> Any:
        """Return the sum of `work` over the blocks, or over what is drawn from each."""
        if self.drawn is None:
            return self.parts.add_up(work, NOTHING)
        source, drawn = self.drawn

        def of_drawn(part: Part, number: int) -> Any:
            return work(part.take(child(source, number).integers(0, len(part), drawn[number])), number)

        return self.parts.add_up(of_drawn, NOTHING)

    @cached_property
    def tables(self) -> Tables:
        """The tables that need one pass."""
        tables: Tables = self.add_up(Tables.of)
        return tables

    @property
    def visits(self) -> Ints:
        """The number of points per cell if every path has one point for each of its cells, or two points if it has only
        one cell, as in the reference code."""
        return self._scaled(self.tables.density + self.tables.alone)

    @cached_property
    def patterns(self) -> Patterns:
        """The hundred most frequent patterns."""
        patterns = mine(lambda work: self.add_up(lambda part, number: work(part.paths, number)))
        return replace(patterns, counts=self._scaled(patterns.counts))

    def beside(self, other: Summary) -> Beside:
        """Return this set counted with the patterns and scales of another set."""
        if id(other) not in self._seen:
            patterns, lengths, diameters = other.patterns, other.tables.lengths, other.tables.diameters

            def work(part: Part, _: int) -> Each[Any]:
                histograms = lengths.counted(part.lengths), diameters.counted(part.diameters)
                return Each((support(part.paths, patterns), *histograms))

            occurring, *histograms = self.add_up(work)
            self._seen[id(other)] = other, (self._scaled(occurring), *histograms)
        return self._seen[id(other)][1]

    def again(self, size: int, rng: np.random.Generator) -> Summary:
        """Return `size` of the trajectories, drawn with replacement."""
        numbers, sizes = self.tables.blocks.T
        drawn = rng.multinomial(size, sizes / sizes.sum())
        many = dict(zip(numbers.tolist(), drawn.tolist(), strict=True))
        return Summary(self.parts, self.grid, self.scale, drawn=(rng.spawn(1)[0], many))

    def resized(self, size: int) -> Summary:
        """Return the set scaled to `size` trajectories: counts are multiplied, and shares stay the same."""
        return replace(self, times=self.times * size / len(self), _seen={})

    def _scaled(self, counts: Ints) -> Ints:
        return counts if self.times == 1 else np.rint(self.times * counts).astype(np.int64)
