"""Synthetic travellers and their positions at each tick."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.trajectories import Trajectories
from ldptrace.models.observation import Share


class Travellers:
    """Trips with times of the input, with a point every `tick` seconds from each departure, cut at the time `end`."""

    def __init__(self, tick: float, end: float) -> None:
        self.tick, self.end = tick, end
        self._on_the_way: list[tuple[int, Trajectories]] = []
        self._drawn = 0

    def leave(self, trips: Trajectories, departures: Floats) -> Trajectories:
        """Add trips, whose times count from their departure, with these departure times."""
        assert trips.t is not None
        t = trips.t + np.repeat(departures, trips.sizes)
        kept = t <= self.end
        sizes = np.add.reduceat(kept, trips.offsets[:-1]) if len(trips) else np.empty(0, dtype=np.int64)
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        set_out = replace(trips, x=trips.x[kept], y=trips.y[kept], t=t[kept], offsets=offsets)
        self._on_the_way.append((self._drawn, set_out))
        self._drawn += len(set_out)
        return set_out

    def positions(self, time: float) -> tuple[Ints, Floats, Floats]:
        """Return which travellers are under way at a time, and their positions."""
        groups = [_at(first, trips, time, self.tick) for first, trips in self._on_the_way]
        if not groups:
            return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
        ids, x, y = (np.concatenate(column) for column in zip(*groups, strict=True))
        return ids, x, y

    def lines(self, start: float, ticks: range) -> Iterator[str]:
        """Yield the positions at each tick as JSON lines. `start` is the time of tick 0."""
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
        """Remove groups in which all travellers have arrived by a time."""
        self._on_the_way = [
            (first, trips)
            for first, trips in self._on_the_way
            if trips.t is not None and len(trips.t) and float(trips.t.max()) > time
        ]


def _at(first: int, trips: Trajectories, time: float, tick: float) -> tuple[Ints, Floats, Floats]:
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


# Travellers per step before anything is known.
NOMINAL = 1000
# Steps that a line is drawn through.
RECENT = 8


class Shown:
    """The number of departures if every trip reports on arrival: as many as trips that ended in the last step."""

    def __init__(self, step: float) -> None:
        self.step, self.per_second = step, NOMINAL / step

    def add(self, reports: int, with_trip: Share, time: float) -> None:
        self.per_second = reports / self.step


class Hidden:
    """The number of departures if devices report at times that do not depend on trips. The share of devices with a
    trip, times the number of devices, is the number of trips in a window. While this number grows from the start, its
    slope is the rate of departures; later, the rate is the number divided by the length of the window.
    """

    def __init__(self, devices: int, every: float, start: float) -> None:
        self.devices, self.every, self.start = devices, every, start
        self.per_second = devices / every
        self._seen: list[tuple[float, float, float]] = []

    def add(self, reports: int, with_trip: Share, time: float) -> None:
        """Add the share of devices with a trip among those that reported around `time`."""
        if not (reports and np.isfinite(with_trip.std_error)):
            return
        reach = time - self.start
        trips, error = self.devices * with_trip.value, self.devices * with_trip.std_error
        self._seen = [*self._seen, (reach, trips, error)][-RECENT:]
        if reach > self.every or len(self._seen) < 3:
            rate = trips / min(reach, self.every)
        else:
            rate = self._slope(trips / reach)
        self.per_second = float(np.clip(rate, 0.0, 4 * self.devices / self.every))

    def _slope(self, usual: float) -> float:
        """Return the slope of the line through the last steps, with the mean since the start as prior knowledge
        (standard error: half of the mean)."""
        reach, trips, error = np.array(self._seen).T
        weights = error**-2
        centred = reach - np.average(reach, weights=weights)
        size = float(weights @ centred**2)
        slope = float(weights @ (centred * trips)) / size
        prior = 1 / (0.5 * max(usual, 1e-9)) ** 2
        return (slope * size + usual * prior) / (size + prior)
