"""Trips on a clock of ticks, and what people on the way can do from one tick to the next: enter in a cell, go to a cell
near by or stay, quit.

A step over more than one cell is a quit and an entrance, as in RetraSyn, and all can see it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.streams import Clock, Positions, spans
from ldptrace.options import option, settle
from ldptrace.protocol.grid import Grid


def clock_around(trips: Trajectories, tick: float) -> Clock:
    """Return ticks of this many seconds from the first departure to the last arrival."""
    if trips.t is None or not len(trips.t):
        raise InputError("a stream needs trajectories with times, and these have none")
    if not tick > 0:
        raise InputError(f"a tick must be a positive number of seconds, got {tick!r}")
    return Clock.of(spans(trips.take(trips.sizes > 0)), tick, 0)


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


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of every method for streams here."""

    window: int = option(20, help="Number of ticks in which a user answers at most once.", least=1)


@dataclass(frozen=True, kw_only=True)
class RetrasynOptions(Options):
    """The options of RetraSyn. Without a public mean, it is that of the data, which is raw."""

    mean_ticks: float | None = option(
        None, help="Mean number of ticks of a trip, where it is public.", above=0
    )


@dataclass(frozen=True)
class Settings(RetrasynOptions):
    """Epsilon of any `window` ticks, and the options."""

    epsilon: float = option(help="The budget of any window.", above=0)

    def __post_init__(self) -> None:
        settle(self)


class Population:
    """Devices that answer by OUE with all of epsilon, unless they have answered in the last `window` ticks."""

    def __init__(self, states: States, people: int, settings: Settings, rng: np.random.Generator) -> None:
        self.states, self.settings, self.rng = states, settings, rng
        self._asked = np.full(people, -settings.window, dtype=np.int64)

    def free(self, owners: Ints, tick: int) -> Ints:
        """Return the positions of the people who may be asked."""
        return np.flatnonzero(tick - self._asked[owners] >= self.settings.window)

    def report(self, items: Ints, owners: Ints, tick: int, count: int) -> tuple[Floats, int]:
        """Ask a random choice of the people who may be asked; return the frequencies of their items, and how many they
        are."""
        free = self.free(owners, tick)
        chosen = self.rng.choice(free, min(count, len(free)), replace=False) if len(free) else free
        self._asked[owners[chosen]] = tick
        return oue_frequencies(items[chosen], self.states, self.settings.epsilon, self.rng), len(chosen)

    def variance(self, people: int) -> float:
        """Return the variance of one frequency near zero, from the answers of this many users."""
        grown = math.exp(self.settings.epsilon)
        return 4.0 * grown / (max(people, 1) * (grown - 1.0) ** 2)


def oue_frequencies(items: Ints, states: States, epsilon: float, rng: np.random.Generator) -> Floats:
    """Estimate frequencies by OUE from people who each report one item; negative ones become 0, as in the published
    program.

    The reports are drawn as sums: a named item's bit is kept with 1/2, others' are set with 1/(e^eps + 1).
    """
    people = len(items)
    if people == 0:
        return np.zeros(states.size)
    kept, noise = 0.5, 1.0 / (np.exp(epsilon) + 1.0)
    true = np.bincount(items, minlength=states.size)
    bits = rng.binomial(true, kept) + rng.binomial(people - true, noise)
    estimates = (bits - people * noise) / (kept - noise) / people
    return np.where(states.possible, np.maximum(estimates, 0.0), 0.0)


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
        """Split a vector of items into ways, entrances and exits."""
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
