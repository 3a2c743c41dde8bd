"""How many travellers leave per second, as the reports show it."""

from __future__ import annotations

import numpy as np

from ldptrace.streams.now import WithTrip

# Travellers per step before anything is known.
NOMINAL = 1000
# Steps that a line is drawn through.
RECENT = 8


class Shown:
    """Every trip reports on arrival: as many leave as arrived in the last step."""

    def __init__(self, step: float) -> None:
        self.step, self.per_second = step, NOMINAL / step

    def add(self, reports: int, with_trip: WithTrip, time: float) -> None:
        self.per_second = reports / self.step


class Hidden:
    """Devices report at a time of their own: the share with a trip, times their number, is how many devices had one in
    the time that they report about. While that grows from the start on, its slope is the rate; then it is the number
    over the time.
    """

    def __init__(self, devices: int, every: float, start: float) -> None:
        self.devices, self.every, self.start = devices, every, start
        self.per_second = devices / every
        self._seen: list[tuple[float, float, float]] = []

    def add(self, reports: int, with_trip: WithTrip, time: float) -> None:
        """The share of the devices that had a trip, of those that reported around `time`."""
        if not (reports and np.isfinite(with_trip.std_error)):
            return
        reach = time - self.start
        trips, error = self.devices * with_trip.value, self.devices * with_trip.std_error
        self._seen = [*self._seen, (reach, trips, error)][-RECENT:]
        if reach > self.every or len(self._seen) < 3:
            found = trips / min(reach, self.every)
        else:
            found = self._slope(trips / reach)
        self.per_second = float(np.clip(found, 0.0, 4 * self.devices / self.every))

    def _slope(self, usual: float) -> float:
        """Of the line through the last steps; the mean since the start, give or take half of it, is known besides."""
        reach, trips, error = np.array(self._seen).T
        weights = error**-2
        centred = reach - np.average(reach, weights=weights)
        size = float(weights @ centred**2)
        slope = float(weights @ (centred * trips)) / size
        prior = 1 / (0.5 * max(usual, 1e-9)) ** 2
        return (slope * size + usual * prior) / (size + prior)
