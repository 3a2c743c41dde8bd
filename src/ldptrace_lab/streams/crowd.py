"""Synthetic people on the way: they move tick by tick as the released frequencies say, and are kept as streams."""

from __future__ import annotations

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.evaluation.streams import Clock
from ldptrace.protocol.grid import Grid
from ldptrace_lab.streams.states import CellStreams, States

# Weights below this are none.
NOTHING = 1e-5


class SyntheticCrowd:
    """The cells of all who are on the way, and of all who were."""

    def __init__(self, states: States, rng: np.random.Generator) -> None:
        self.states, self.rng = states, rng
        self.ids = np.zeros(0, dtype=np.int64)
        self.cells = np.zeros(0, dtype=np.int64)
        self._before = np.zeros(0, dtype=np.int64)
        self._born = np.zeros(0, dtype=np.int64)
        self._begins: list[Ints] = []
        self._made = 0
        self._kept: list[tuple[int, Ints, Ints]] = []

    def move(self, ways: Floats, leave: Floats, age: float | None, tick: int) -> None:
        """Move everybody one step: by the chain of ways, or out; quitting is rarer for those below the mean age.

        Without an age nobody quits, and somebody who has nowhere to go goes anywhere near by (LDP-IDS).
        """
        total = ways.sum(axis=1) + leave
        known = total > 0
        cumulative = np.cumsum(
            np.where(known[:, None], ways / np.where(known, total, 1.0)[:, None], 0.0), axis=1
        )
        here, onward = self.cells, cumulative[self.cells, -1]
        out = np.zeros(len(here))
        if age is not None:
            ages = tick - self._born
            out = np.where(known, leave / np.where(known, total, 1.0), 0.0)[here] * np.minimum(
                1.0, ages / age
            )
        u = self.rng.random(len(here)) * (onward + out)
        stuck = onward + out < NOTHING
        way = (u[:, None] >= cumulative[here]).sum(axis=1)
        gone = (way >= cumulative.shape[1]) & ~stuck
        if age is None:
            free = np.cumsum(self.states.targets >= 0, axis=1)
            anywhere = (self.rng.random(len(here)) * free[here, -1])[:, None] >= free[here]
            way = np.where(stuck, anywhere.sum(axis=1), way)
        else:
            way = np.where(stuck, 4, way)
        kept = ~gone
        self._before = here[kept]
        self.cells = self.states.targets[here[kept], np.minimum(way[kept], cumulative.shape[1] - 1)]
        self.ids, self._born = self.ids[kept], self._born[kept]

    def enter(self, count: int, where: Floats, tick: int) -> None:
        """Add new people, by the frequencies of entering."""
        weights = where / where.sum() if where.sum() > 0 else np.full(len(where), 1 / len(where))
        cells = self.rng.choice(len(where), count, p=weights)
        self.ids = np.concatenate([self.ids, self._made + np.arange(count)])
        self._begins.append(np.full(count, tick))
        self._born = np.concatenate([self._born, self._begins[-1]])
        self._made += count
        self.cells = np.concatenate([self.cells, cells])
        self._before = np.concatenate([self._before, cells])

    def trim(self, count: int, leave: Floats) -> None:
        """Let the surplus of people quit before this step, more often where quitting was reported."""
        many = len(self.ids) - count
        weights = leave[self._before] + 1e-8 if leave.sum() > NOTHING else np.ones(len(self.ids))
        quits = self.rng.choice(len(self.ids), many, replace=False, p=weights / weights.sum())
        kept = np.ones(len(self.ids), dtype=bool)
        kept[quits] = False
        self.ids, self._born = self.ids[kept], self._born[kept]
        self.cells, self._before = self.cells[kept], self._before[kept]

    def keep(self, tick: int) -> None:
        """Add everybody's present place to the stream."""
        self._kept.append((tick, self.ids.copy(), self.cells.copy()))

    def streams(self, grid: Grid, clock: Clock) -> CellStreams:
        """Return all of them, one after the other."""
        begins = np.concatenate([np.zeros(0, dtype=np.int64), *self._begins])
        sizes = np.zeros(self._made, dtype=np.int64)
        for _, ids, _ in self._kept:
            sizes[ids] += 1
        offsets = ragged.offsets_of(sizes)
        cells = np.empty(offsets[-1], dtype=np.int32)
        for tick, ids, where in self._kept:
            cells[offsets[ids] + tick - begins[ids]] = where
        return CellStreams(cells, offsets, begins, grid, clock)
