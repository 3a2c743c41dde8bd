"""What people on the way can do from one tick to the next: enter in a cell, go to a cell near by or stay, quit.

A step over more than one cell is a quit and an entrance, as in RetraSyn, and all can see it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace_lab.streams.cells import CellStreams, Ints

Floats = NDArray[np.float64]

# Ways out of a cell: the eight neighbours and staying, in the order (di, dj) = (-1, -1), (-1, 0) ... (1, 1).
WAYS = 9


@dataclass(frozen=True, eq=False)
class States:
    """The items of the domain: `ways` of each cell (some leave the map), then entering, then quitting in each cell."""

    n: int

    @property
    def cells(self) -> int:
        return self.n * self.n

    @property
    def size(self) -> int:
        """Items, with those that leave the map and never happen."""
        return (WAYS + 2) * self.cells

    @cached_property
    def targets(self) -> Ints:
        """Where each way out of each cell leads; -1 leaves the map."""
        i, j = np.divmod(np.arange(self.cells), self.n)
        di, dj = np.divmod(np.arange(WAYS), 3)
        i, j = i[:, None] + di - 1, j[:, None] + dj - 1
        inside = (i >= 0) & (i < self.n) & (j >= 0) & (j < self.n)
        return np.where(inside, i * self.n + j, -1)

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Which items can happen."""
        return np.concatenate([self.targets.ravel() >= 0, np.ones(2 * self.cells, dtype=bool)])

    def split(self, values: Floats) -> tuple[Floats, Floats, Floats]:
        """Return ways, entrances and quits of a vector of items."""
        ways, enter, leave = np.split(values, [WAYS * self.cells, (WAYS + 1) * self.cells])
        return ways.reshape(self.cells, WAYS), enter, leave

    def events(self, streams: CellStreams) -> Events:
        """Return everything that happens, by tick: a trip enters at its first tick and quits in the tick after its
        last.
        """
        cells, ticks = streams.cells.astype(np.int64), streams.ticks
        owner = ragged.owners(streams.offsets)
        enters = np.zeros(len(cells), dtype=bool)
        some = streams.sizes > 0
        enters[streams.offsets[:-1][some]] = True
        before, after = np.roll(cells, 1), cells
        di, dj = after // self.n - before // self.n, after % self.n - before % self.n
        jumps = ~enters & ((np.abs(di) > 1) | (np.abs(dj) > 1))
        way = before * WAYS + 3 * (di + 1) + dj + 1
        item = np.where(enters, WAYS * self.cells + after, way)
        # A jump quits now; its entrance is not counted, because somebody does one thing in a tick.
        item = np.where(jumps, (WAYS + 1) * self.cells + before, item)
        last = streams.offsets[1:][some] - 1
        gone = ticks[last] + 1
        inside = gone < streams.clock.ticks
        tick = np.concatenate([ticks, gone[inside]])
        items = np.concatenate([item, (WAYS + 1) * self.cells + cells[last][inside]])
        owners = np.concatenate([owner, owner[last][inside]])
        order = np.argsort(tick, kind="stable")
        first = np.searchsorted(tick[order], np.arange(streams.clock.ticks + 1))
        return Events(items[order], owners[order], first, len(streams))


@dataclass(frozen=True, eq=False)
class Events:
    """What happens at tick t is from `first[t]` to before `first[t + 1]`: the items, and whose they are."""

    items: Ints
    owners: Ints
    first: Ints
    people: int

    @property
    def ticks(self) -> int:
        return len(self.first) - 1

    def at(self, tick: int) -> tuple[Ints, Ints]:
        part = slice(self.first[tick], self.first[tick + 1])
        return self.items[part], self.owners[part]
