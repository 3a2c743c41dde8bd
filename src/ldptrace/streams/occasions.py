"""Decide when the simulated devices of a file report, and about which trip.

`hidden`: the rule of standing plans. A device draws one phase. Its window k ends at start + k * every + phase, and at
that time it reports about one of the trips that ended in the window, or about no trip. `shown`: a device reports when
its trip has ended, so the time of the report reveals the trip.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.parallel import CHUNK, chunks
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.tally import Tally
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import Collection


@dataclass(frozen=True, eq=False)
class Occasions:
    """Reports ordered by time, each with the number of the trip that it is about, or -1 for no trip."""

    time: Floats
    trip: Ints

    @staticmethod
    def shown(trips: Trajectories, span: tuple[float, float]) -> Occasions:
        """Make a report for every trip that ends within a span of time, when it ends."""
        some = _ended(trips, span)
        return Occasions(arrivals(trips)[some], some)._sorted()

    @staticmethod
    def hidden(
        trips: Trajectories,
        device: Ints,
        every: float,
        span: tuple[float, float],
        rng: np.random.Generator,
    ) -> Occasions:
        """Make a report for each window of each device that ends within a span of time. `device` has the number of the
        device of each trip. All devices take part from the beginning of the span, whatever their trajectories are; a
        trip without a time, or that ended before or after the span, is not reported.
        """
        start, end = span
        devices = int(device.max()) + 1 if len(device) else 0
        phase = rng.random(devices) * every
        windows = np.floor((end - start - phase) / every).astype(np.int64) + 1
        first = np.concatenate(([0], np.cumsum(windows)))
        owner = np.repeat(np.arange(devices), windows)
        number = np.arange(first[-1]) - first[owner]
        time = start + phase[owner] + number * every
        # Of the trips of one window, the one that comes first in a random order.
        order = rng.permutation(_ended(trips, span))
        whose = device[order]
        window = np.maximum(np.ceil((arrivals(trips)[order] - start - phase[whose]) / every), 0).astype(
            np.int64
        )
        inside = window < windows[whose]
        answered, chosen = np.unique((first[whose] + window)[inside], return_index=True)
        trip = np.full(len(time), -1)
        trip[answered] = order[inside][chosen]
        return Occasions(time, trip)._sorted()

    def _sorted(self) -> Occasions:
        order = np.argsort(self.time, kind="stable")
        return Occasions(self.time[order], self.trip[order])

    def between(self, after: float, until: float) -> Ints:
        """Return the trips of the reports after one time and until another time."""
        low, high = np.searchsorted(self.time, (after, until), side="right")
        return self.trip[low:high]


def _ended(trips: Trajectories, span: tuple[float, float]) -> Ints:
    """Return the trips that ended within a span of time."""
    ended = arrivals(trips)
    with np.errstate(invalid="ignore"):
        return np.flatnonzero((ended >= span[0]) & (ended <= span[1]))


def arrivals(trips: Trajectories) -> Floats:
    """Return when each trip ends, or NaN for a trip without points or without a last time."""
    assert trips.t is not None
    ends = np.full(len(trips), np.nan)
    some = trips.sizes > 0
    ends[some] = trips.t[trips.offsets[1:][some] - 1]
    return ends


def tally_of_step(plan: Plan, trips: Trajectories, which: Ints, rng: np.random.Generator) -> Tally:
    """Return the tally of devices that report about these trips; -1 stands for no trip."""
    work = Collection(plan, rng.spawn(1)[0])
    tally = work.nothing
    for number, block in enumerate(_blocks(trips, which)):
        tally = tally + work(block, number)
    return tally


def _blocks(trips: Trajectories, which: Ints) -> Iterator[Trajectories]:
    for start, stop in chunks(len(which), CHUNK):
        part = which[start:stop]
        some = trips.take(part[part >= 0])
        none = np.full(int((part < 0).sum()), some.offsets[-1])
        yield Trajectories(
            some.x,
            some.y,
            np.concatenate([some.offsets, none]),
            t=some.t,
            crs=trips.crs,
            timezone=trips.timezone,
        )
