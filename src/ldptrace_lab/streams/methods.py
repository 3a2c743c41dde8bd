"""The streaming peers of `ldptrace stream --method`: RetraSyn (Hu et al., ICDE'24), and LPD and LPA of LDP-IDS (Ren et
al., SIGMOD'22), for streams of trips as RetraSyn's authors compare with them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.streams import Clock
from ldptrace.plugins import StreamMethod
from ldptrace.protocol.grid import Grid
from ldptrace_lab.streams.states import (
    CellStreams,
    Events,
    Options,
    Population,
    RetrasynOptions,
    Settings,
    States,
    clock_around,
)

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
    events, people, crowd = _begun(streams, settings, rng)
    states = people.states
    age = settings.mean_ticks or max(float(streams.sizes.mean()), 1.0)
    releases: list[Floats] = []
    renewed: list[int] = []
    entering = np.ones(states.cells)
    domain = int(states.possible.sum())
    for tick in range(events.ticks):
        items, owners = events.at(tick)
        share = (
            1 / settings.window if tick < WARM_UP else _portion(releases, renewed, domain, settings.window)
        )
        count = int(share * len(people.free(owners, tick)))
        reported, asked = people.report(items, owners, tick, count)
        counts, new = _mended(reported, people.variance(asked) if asked else math.inf, releases)
        if not releases and not asked:
            counts = states.possible / states.possible.sum()
        ways, enter, leave = states.split(counts)
        entering = enter if enter.sum() > 0 else entering
        crowd.move(ways, leave, age, tick)
        if len(crowd.ids) < len(items):
            crowd.enter(len(items) - len(crowd.ids), entering, tick)
        elif len(crowd.ids) > len(items):
            crowd.trim(len(items), leave)
        crowd.keep(tick)
        releases.append(counts / counts.sum() if counts.sum() > 0 else counts)
        renewed.append(new)
    return crowd.streams(streams.grid, streams.clock)


def _begun(
    streams: CellStreams, settings: Settings, rng: np.random.Generator
) -> tuple[Events, Population, SyntheticCrowd]:
    """Return what happens, the devices that report it, and a synthetic crowd of nobody."""
    devices, sampling = rng.spawn(2)
    states = States(streams.grid.n)
    events = states.events(streams)
    return events, Population(states, events.people, settings, devices), SyntheticCrowd(states, sampling)


def _mended(found: Floats, variance: float, releases: list[Floats]) -> tuple[Floats, int]:
    """Return the present frequencies, which replace the old ones where they differ by more than noise, and how many are
    new."""
    if len(releases) < WARM_UP and math.isfinite(variance):
        return found, 0
    if not math.isfinite(variance):
        return (releases[-1] if releases else found), 0
    old = releases[-1]
    new = (old - found) ** 2 > variance
    return np.where(new, found, old * found.sum()), int(new.sum())


def _portion(releases: list[Floats], renewed: list[int], domain: int, window: int) -> float:
    """Return which part of those who may be asked is asked: more where the last releases changed."""
    recent = releases[-RECENT:]
    change = float(np.abs(releases[-1] - np.mean(recent, axis=0)).sum())
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
    events, people, crowd = _begun(streams, settings, rng)
    states = people.states
    releases = rule(settings.window)
    current = states.possible / states.possible.sum()
    for tick in range(events.ticks):
        items, owners = events.at(tick)
        if tick == 0:
            # Everybody enters, which says nothing of how people move.
            crowd.enter(len(items), np.ones(states.cells), tick)
            crowd.keep(tick)
            continue
        offered, asked = releases.offer(len(items), tick), 0
        if tick == FIRST_RELEASE or _changed(people, events, tick, current, offered):
            reported, asked = people.report(items, owners, tick, offered)
            current = reported / reported.sum() if reported.sum() > 0 else current
        releases.done(asked, tick)
        ways, _, leave = states.split(current)
        crowd.move(ways, 0.0 * leave, None, tick)
        crowd.keep(tick)
    return crowd.streams(streams.grid, streams.clock)


# By population distribution, and by population absorption.
lpd, lpa = partial(_released, rule=Distribution), partial(_released, rule=Absorption)


def _changed(people: Population, events: Events, tick: int, release: Floats, offered: int) -> bool:
    """Whether a small sample is further from the release than the noise of a new release would be."""
    items, owners = events.at(tick)
    sample, asked = people.report(items, owners, tick, len(items) // (2 * people.settings.window))
    if not asked or not offered:
        return False
    apart = float(((sample - release)[people.states.possible] ** 2).mean()) - people.variance(asked)
    return apart > people.variance(offered)


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
