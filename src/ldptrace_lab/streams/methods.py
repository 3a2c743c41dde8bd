"""The streaming peers of `ldptrace stream --method`: RetraSyn (Hu et al., ICDE'24), and LPD and LPA of LDP-IDS (Ren et
al., SIGMOD'22), for streams of trips as RetraSyn's authors compare with them.

Trips are on a clock of ticks. From one tick to the next, people enter in a cell, go to a cell near by, stay or quit. A
step over more than one cell is a quit and an entrance, as in RetraSyn, and all can see it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.streams import Clock, Positions, spans
from ldptrace.options import option, settle
from ldptrace.plugins import StreamMethod
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
        return np.zeros(len(states.possible))
    kept, noise = 0.5, 1.0 / (np.exp(epsilon) + 1.0)
    true = np.bincount(items, minlength=len(states.possible))
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

    def events(self, streams: CellStreams) -> list[tuple[Ints, Ints]]:
        """Return everything that happens, tick by tick: the items, and whose they are. A trip enters at its first tick
        and quits in the tick after its last.
        """
        cells, ticks = streams.cells.astype(np.int64), streams.ticks
        owner = ragged.owners(streams.offsets)
        enters = ragged.first_values(streams.offsets)
        before = np.roll(cells, 1)
        di, dj = cells // self.n - before // self.n, cells % self.n - before % self.n
        jumps = ~enters & ((np.abs(di) > 1) | (np.abs(dj) > 1))
        item = np.where(enters, WAYS * self.cells + cells, before * WAYS + 3 * (di + 1) + dj + 1)
        # A jump quits now; its entrance is not counted, because somebody does one thing in a tick.
        item = np.where(jumps, (WAYS + 1) * self.cells + before, item)
        last = streams.offsets[1:][streams.sizes > 0] - 1
        last = last[ticks[last] + 1 < streams.clock.ticks]
        tick = np.concatenate([ticks, ticks[last] + 1])
        items = np.concatenate([item, (WAYS + 1) * self.cells + cells[last]])
        owners = np.concatenate([owner, owner[last]])
        order = np.argsort(tick, kind="stable")
        first = np.searchsorted(tick[order], np.arange(1, streams.clock.ticks))
        return list(zip(np.split(items[order], first), np.split(owners[order], first), strict=True))


# Weights below this are none.
NOTHING = 1e-5


class SyntheticCrowd:
    """All who are on the way, and where everybody was. `people` has a column for each: number, cell, cell before, first
    tick."""

    def __init__(self, states: States, rng: np.random.Generator) -> None:
        self.states, self.rng = states, rng
        self.people = np.zeros((4, 0), dtype=np.int64)
        self._made = 0
        self._kept: list[Ints] = []

    def __len__(self) -> int:
        return self.people.shape[1]

    def move(self, ways: Floats, leave: Floats, age: float | None, tick: int) -> None:
        """Move everybody one step: by the chain of ways, or out; quitting is rarer for those below the mean age.

        Without an age nobody quits, and somebody who has nowhere to go goes anywhere near by (LDP-IDS).
        """
        total = ways.sum(axis=1) + leave
        total[total == 0] = 1.0
        cumulative, (ids, here, _, born) = np.cumsum(ways / total[:, None], axis=1), self.people
        onward, out = cumulative[here, -1], np.zeros(len(here))
        if age is not None:
            out = (leave / total)[here] * np.minimum(1.0, (tick - born) / age)
        u = self.rng.random(len(here)) * (onward + out)
        stuck = onward + out < NOTHING
        way = (u[:, None] >= cumulative[here]).sum(axis=1)
        gone = (way >= WAYS) & ~stuck
        anywhere: Any = WAYS // 2
        if age is None:
            free = np.cumsum(self.states.targets >= 0, axis=1)
            near = (self.rng.random(len(here)) * free[here, -1])[:, None] >= free[here]
            anywhere = near.sum(axis=1)
        way = np.where(stuck, anywhere, way)
        there = self.states.targets[here, np.minimum(way, WAYS - 1)]
        self.people = np.stack([ids, there, here, born])[:, ~gone]

    def enter(self, count: int, where: Floats, tick: int) -> None:
        """Add new people, by the frequencies of entering."""
        weights = where / where.sum() if where.sum() > 0 else np.full(len(where), 1 / len(where))
        cells = self.rng.choice(len(where), count, p=weights)
        new = np.stack([self._made + np.arange(count), cells, cells, np.full(count, tick)])
        self.people = np.concatenate([self.people, new], axis=1)
        self._made += count

    def trim(self, count: int, leave: Floats) -> None:
        """Let the surplus of people quit before this step, more often where quitting was reported."""
        weights = leave[self.people[2]] + 1e-8 if leave.sum() > NOTHING else np.ones(len(self))
        quits = self.rng.choice(len(self), len(self) - count, replace=False, p=weights / weights.sum())
        self.people = np.delete(self.people, quits, axis=1)

    def keep(self) -> None:
        """Add everybody's present place to the stream."""
        self._kept.append(self.people)

    def streams(self, grid: Grid, clock: Clock) -> CellStreams:
        """Return all of them, one after the other."""
        ids, cells, _, born = np.concatenate([np.zeros((4, 0), dtype=np.int64), *self._kept], axis=1)
        order, (_, sizes) = np.argsort(ids, kind="stable"), np.unique(ids, return_counts=True)
        offsets = ragged.offsets_of(sizes)
        begins = born[order[offsets[:-1]]]
        return CellStreams(cells[order].astype(np.int32), offsets, begins, grid, clock)


RETRASYN_PUBLIC = (
    "who is on the way, who enters and who quits at every tick, how many they are, and the mean number of ticks of a "
    "trip are taken as public; epsilon holds for any w ticks of a person, not for a trip"
)
# Constants of the published program: the first ticks ask 1/w; RECENT releases tell how much changes.
WARM_UP, RECENT, EAGERNESS, MOST, LEAST_NEW = 2, 5, 8.0, 0.6, 0.5


def retrasyn(streams: CellStreams, settings: Settings, rng: np.random.Generator) -> CellStreams:
    """Return a synthetic stream over the same ticks, by RetraSyn with population division: a chain is mended tick by
    tick.

    At each tick a part of those who may be asked report, by OUE with all of epsilon, what they do: go, stay, enter,
    quit. A frequency is replaced where the new estimate differs from the released one by more than its noise; the
    others are kept. How many are asked follows from how much the last releases changed. Synthetic people move by the
    released chain; their number is that of the real ones. A person reports once in w ticks with epsilon, so a trip of
    60 ticks at w = 20 costs three epsilon.
    """
    events, states, people, crowd = _begun(streams, settings, rng)
    age = settings.mean_ticks or max(float(streams.sizes.mean()), 1.0)
    releases: list[Floats] = []
    renewed: list[int] = []
    entering = np.ones(states.cells)
    domain = int(states.possible.sum())
    for tick, (items, owners) in enumerate(events):
        share = _portion(releases, renewed, domain, settings.window)
        count = int(share * len(people.free(owners, tick)))
        reported, asked = people.report(items, owners, tick, count)
        counts, new = _mended(reported, people.variance(asked) if asked else math.inf, releases)
        if not releases and not asked:
            counts = states.possible / states.possible.sum()
        ways, enter, leave = states.split(counts)
        entering = enter if enter.sum() > 0 else entering
        crowd.move(ways, leave, age, tick)
        if len(crowd) < len(items):
            crowd.enter(len(items) - len(crowd), entering, tick)
        elif len(crowd) > len(items):
            crowd.trim(len(items), leave)
        crowd.keep()
        releases.append(counts / counts.sum() if counts.sum() > 0 else counts)
        renewed.append(new)
    return crowd.streams(streams.grid, streams.clock)


def _begun(
    streams: CellStreams, settings: Settings, rng: np.random.Generator
) -> tuple[list[tuple[Ints, Ints]], States, Population, SyntheticCrowd]:
    """Return what happens, the devices that report it, and a synthetic crowd of nobody."""
    devices, sampling = rng.spawn(2)
    states = States(streams.grid.n)
    people = Population(states, len(streams), settings, devices)
    return states.events(streams), states, people, SyntheticCrowd(states, sampling)


def _mended(present: Floats, variance: float, releases: list[Floats]) -> tuple[Floats, int]:
    """Return the present frequencies, which replace the old ones where they differ by more than noise, and how many are
    new."""
    if not math.isfinite(variance):
        return (releases[-1] if releases else present), 0
    if len(releases) < WARM_UP:
        return present, 0
    new = (releases[-1] - present) ** 2 > variance
    return np.where(new, present, releases[-1] * present.sum()), int(new.sum())


def _portion(releases: list[Floats], renewed: list[int], domain: int, window: int) -> float:
    """Return which part of those who may be asked is asked: more where the last releases changed."""
    if len(releases) < WARM_UP:
        return 1 / window
    change = float(np.abs(releases[-1] - np.mean(releases[-RECENT:], axis=0)).sum())
    steady = max(LEAST_NEW, 1 - float(np.mean(renewed[-RECENT:])) / domain)
    return min(EAGERNESS / window * math.log(change + 1) * steady, MOST)


IDS_PUBLIC = (
    "who is on the way at every tick and how many are at the first are taken as public; epsilon holds for any w ticks "
    "of a person, not for a trip"
)

# The tick of the first release.
FIRST_RELEASE = 1


class Distribution:
    """LPD: a release takes half of what the releases of the last w - 1 ticks have left of half the people."""

    def __init__(self, window: int) -> None:
        self._used: deque[int] = deque(maxlen=max(window - 1, 1))

    def offer(self, people: int, tick: int) -> int:
        """Return how many may be asked for a release now."""
        return max(people // 2 - sum(self._used), 0) // 2

    def done(self, asked: int, tick: int) -> None:
        self._used.append(asked)


class Absorption:
    """LPA: every tick has 1/2w of the people; a release takes what quiet ticks have saved, and as many ticks rest."""

    def __init__(self, window: int) -> None:
        self.window, self._last, self._rest, self._saved = window, FIRST_RELEASE - 1, 0, 1

    def offer(self, people: int, tick: int) -> int:
        self._saved = min(tick - self._last - self._rest, self.window)
        return max(self._saved, 0) * people // (2 * self.window)

    def done(self, asked: int, tick: int) -> None:
        if asked:
            self._last, self._rest = tick, max(self._saved - 1, 0)


def _released(
    streams: CellStreams,
    settings: Settings,
    rng: np.random.Generator,
    rule: Callable[[int], Distribution | Absorption],
) -> CellStreams:
    """Ask half of the people how much has changed, a few at every tick, and the other half for a new release when the
    change is larger than the noise of a release would be.

    Synthetic people begin anywhere at the first tick, move by the released chain, and neither enter nor quit. A person
    reports once in any w ticks with epsilon.
    """
    events, states, people, crowd = _begun(streams, settings, rng)
    releases = rule(settings.window)
    current = states.possible / states.possible.sum()
    for tick, (items, owners) in enumerate(events):
        if tick == 0:
            # Everybody enters, which says nothing of how people move.
            crowd.enter(len(items), np.ones(states.cells), tick)
            crowd.keep()
            continue
        offered, asked, changed = releases.offer(len(items), tick), 0, tick == FIRST_RELEASE
        if not changed:
            # Whether a small sample is further from the release than the noise of a new release would be.
            sample, asked = people.report(items, owners, tick, len(items) // (2 * settings.window))
            apart = float(((sample - current)[states.possible] ** 2).mean()) - people.variance(asked)
            changed, asked = bool(asked and offered) and apart > people.variance(offered), 0
        if changed:
            reported, asked = people.report(items, owners, tick, offered)
            current = reported / reported.sum() if reported.sum() > 0 else current
        releases.done(asked, tick)
        ways, _, leave = states.split(current)
        crowd.move(ways, 0.0 * leave, None, tick)
        crowd.keep()
    return crowd.streams(streams.grid, streams.clock)


# By population distribution, and by population absorption.
lpd, lpa = partial(_released, rule=Distribution), partial(_released, rule=Absorption)


def _run(
    synthesise: Callable[[CellStreams, Settings, np.random.Generator], CellStreams],
    trips: Trajectories,
    grid: Grid,
    epsilon: float,
    tick: float,
    rng: np.random.Generator,
    **options: Any,
) -> Trajectories:
    streams = CellStreams.from_trajectories(trips, grid, clock_around(trips, tick))
    drawing, placing = rng.spawn(2)
    return synthesise(streams, Settings(epsilon, **options), drawing).trajectories(placing)


RETRASYN = StreamMethod(
    "retrasyn",
    "RetraSyn (ICDE'24), population division: one report in any w ticks, a chain mended tick by tick",
    RETRASYN_PUBLIC,
    partial(_run, retrasyn),
    RetrasynOptions,
)
LPD = StreamMethod(
    "lpd",
    "LDP-IDS (SIGMOD'22), population distribution: a release where the stream has changed, with half of what is left",
    IDS_PUBLIC,
    partial(_run, lpd),
    Options,
)
LPA = StreamMethod(
    "lpa",
    "LDP-IDS (SIGMOD'22), population absorption: a release where the stream has changed, with what quiet ticks saved",
    IDS_PUBLIC,
    partial(_run, lpa),
    Options,
)
