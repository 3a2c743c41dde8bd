"""LPD and LPA of LDP-IDS (Ren et al., SIGMOD'22), for streams of trips as RetraSyn's authors compare with them.

Half of the people are asked how much has changed, a few at every tick. The other half is asked for a new release when
the change is larger than the noise of a release would be: half of those who are left (LPD, population distribution), or
all that quiet ticks have saved, with a rest of as many ticks after it (LPA, population absorption). Synthetic people
begin anywhere at the first tick, move by the released chain, and neither enter nor quit.

Taken as public: who is on the way and may be asked, and how many are at the first tick. A person reports once in any w
ticks with epsilon.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace_lab.streams.cells import CellStreams
from ldptrace_lab.streams.crowd import SyntheticCrowd
from ldptrace_lab.streams.states import Events, Population, Settings, States

PUBLIC = (
    "who is on the way at every tick and how many are at the first are taken as public; epsilon holds for any w ticks "
    "of a person, not for a trip"
)

# The tick of the first release.
FIRST = 1


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
        self.window, self._last, self._rest, self._saved = window, FIRST - 1, 0, 1

    def offer(self, people: int, tick: int) -> int:
        self._saved = min(tick - self._last - self._rest, self.window)
        return max(self._saved, 0) * people // (2 * self.window)

    def done(self, asked: int, tick: int) -> None:
        if asked:
            self._last, self._rest = tick, max(self._saved - 1, 0)


def lpd(streams: CellStreams, settings: Settings, rng: np.random.Generator) -> CellStreams:
    """Return a synthetic stream over the same ticks, by population distribution."""
    return _released(streams, settings, rng, Distribution)


def lpa(streams: CellStreams, settings: Settings, rng: np.random.Generator) -> CellStreams:
    """Return a synthetic stream over the same ticks, by population absorption."""
    return _released(streams, settings, rng, Absorption)


def _released(
    streams: CellStreams,
    settings: Settings,
    rng: np.random.Generator,
    rule: Callable[[int], Distribution | Absorption],
) -> CellStreams:
    devices, sampling = rng.spawn(2)
    states = States(streams.grid.n)
    events = states.events(streams)
    people = Population(states, events.people, settings, devices)
    crowd = SyntheticCrowd(states, sampling)
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
        if tick == FIRST or _changed(people, events, tick, current, offered):
            found, asked = people.report(items, owners, tick, offered)
            current = found / found.sum() if found.sum() > 0 else current
        releases.done(asked, tick)
        ways, _, leave = states.split(current)
        crowd.move(ways, 0.0 * leave, None, tick)
        crowd.keep(tick)
    return crowd.streams(streams.grid, streams.clock)


def _changed(people: Population, events: Events, tick: int, release: Floats, offered: int) -> bool:
    """Whether a small sample is further from the release than the noise of a new release would be."""
    items, owners = events.at(tick)
    sample, asked = people.report(items, owners, tick, len(items) // (2 * people.settings.window))
    if not asked or not offered:
        return False
    apart = float(((sample - release)[people.states.possible] ** 2).mean()) - people.variance(asked)
    return apart > people.variance(offered)
