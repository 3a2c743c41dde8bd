"""Synthetic travellers on a clock: those who leave, those on their way, and where they are at each tick."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats
from ldptrace.core.trajectories import Trajectories


class Travellers:
    """Trips on the clock of the input, with a point every `tick` seconds from each departure; cut at `end`."""

    def __init__(self, tick: float, end: float) -> None:
        self.tick, self.end = tick, end
        self._on_the_way: list[tuple[int, Trajectories]] = []
        self._drawn = 0

    def leave(self, trips: Trajectories, departures: Floats) -> Trajectories:
        """Trips with times since their departure set out at these times: they are on their way from now on."""
        assert trips.t is not None
        t = trips.t + np.repeat(departures, trips.sizes)
        kept = t <= self.end
        sizes = np.add.reduceat(kept, trips.offsets[:-1]) if len(trips) else np.empty(0, dtype=np.int64)
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        set_out = replace(trips, x=trips.x[kept], y=trips.y[kept], t=t[kept], offsets=offsets)
        self._on_the_way.append((self._drawn, set_out))
        self._drawn += len(set_out)
        return set_out

    def positions(self, time: float) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Who is on the way at a time, and where."""
        found = [_at(first, trips, time, self.tick) for first, trips in self._on_the_way]
        if not found:
            return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
        ids, x, y = (np.concatenate(column) for column in zip(*found, strict=True))
        return ids, x, y

    def lines(self, start: float, ticks: range) -> Iterator[str]:
        """Positions tick by tick as JSON lines, `start` the time of tick 0."""
        for number in ticks:
            time = start + number * self.tick
            ids, x, y = self.positions(time)
            yield json.dumps(
                {
                    "tick": number,
                    "time": time,
                    "trip": ids.tolist(),
                    "x": x.round(6).tolist(),
                    "y": y.round(6).tolist(),
                }
            )

    def arrived(self, time: float) -> None:
        """Forget the groups of which everybody has arrived by a time."""
        self._on_the_way = [
            (first, trips)
            for first, trips in self._on_the_way
            if trips.t is not None and len(trips.t) and float(trips.t.max()) > time
        ]


def _at(
    first: int, trips: Trajectories, time: float, tick: float
) -> tuple[NDArray[np.int64], Floats, Floats]:
    assert trips.t is not None
    if len(trips) == 0:
        return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
    begin, last = trips.t[trips.offsets[:-1]], trips.offsets[1:] - 1
    here = np.flatnonzero((begin <= time) & (time <= trips.t[last]))
    step = np.floor((time - begin[here]) / tick).astype(np.int64)
    at = np.minimum(trips.offsets[:-1][here] + step, last[here])
    then = np.minimum(at + 1, last[here])
    apart = trips.t[then] - trips.t[at]
    share = np.divide(time - trips.t[at], apart, out=np.zeros(len(at)), where=apart > 0)
    x = trips.x[at] + share * (trips.x[then] - trips.x[at])
    return first + here, x, trips.y[at] + share * (trips.y[then] - trips.y[at])
