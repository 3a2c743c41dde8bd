"""RetraSyn with population division (Hu et al., ICDE'24): a chain that is mended tick by tick.

At each tick a part of those who may be asked report, by OUE with all of epsilon, what they do: go, stay, enter, quit.
A frequency is replaced where the new estimate differs from the released one by more than its noise; the others are
kept. How many are asked follows from how much the last releases changed. Synthetic people move by the released chain;
their number is that of the real ones.

Taken as public: who is on the way, who enters and who quits at every tick, how many there are, and the mean number of
ticks of a trip. A person reports once in w ticks with epsilon, so a trip of 60 ticks at w = 20 costs three epsilon.
"""

from __future__ import annotations

import math

import numpy as np

from ldptrace.core.arrays import Floats
from ldptrace_lab.streams.cells import CellStreams
from ldptrace_lab.streams.crowd import SyntheticCrowd
from ldptrace_lab.streams.states import Population, Settings, States

PUBLIC = (
    "who is on the way, who enters and who quits at every tick, how many they are, and the mean number of ticks of a "
    "trip are taken as public; epsilon holds for any w ticks of a person, not for a trip"
)
# Constants of the published program: the first ticks ask 1/w; RECENT releases tell how much changes.
WARM_UP, RECENT, EAGERNESS, MOST, LEAST_NEW = 2, 5, 8.0, 0.6, 0.5


def retrasyn(streams: CellStreams, settings: Settings, rng: np.random.Generator) -> CellStreams:
    """Return a synthetic stream over the same ticks."""
    devices, sampling = rng.spawn(2)
    states = States(streams.grid.n)
    events = states.events(streams)
    people = Population(states, events.people, settings, devices)
    crowd = SyntheticCrowd(states, sampling)
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
        found, asked = people.report(items, owners, tick, count)
        counts, new = _mended(found, people.variance(asked) if asked else math.inf, releases)
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
