"""The numbers of a profile: how many trips, when, from where to where, on which streets, how long and how fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Floats
from ldptrace.core.crs import step_lengths
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.trips import TripsPerPerson
from ldptrace.products.departures import slots_of
from ldptrace.products.flows import Flows
from ldptrace.products.matrix import Matrix
from ldptrace.products.sample import Numbers, Sample
from ldptrace.products.zones import Squares, Zones
from ldptrace.protocol.questions.times import DAYS
from ldptrace.roads.network import RoadNetwork

# Squares on a side of the map that are compared where the user names no zones.
SIDE = 4
# Pairs of zones that are named; streets, and how far apart they are at least, as a part of the map.
NAMED, BUSIEST, APART = 12, 6, 0.1
QUARTILES = (25, 50, 75)
KILOMETRES = (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0)
MINUTES = (2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0)


@dataclass(frozen=True, eq=False)
class Bars:
    """Numbers of trips in classes with names."""

    names: tuple[str, ...]
    numbers: Numbers

    def document(self) -> list[dict[str, Any]]:
        """Return one entry per class: name, trips, and the ends of the interval if there is one."""
        return [{"name": name, **_entry(self.numbers, place)} for place, name in enumerate(self.names)]


@dataclass(frozen=True, eq=False)
class Profile:
    """The numbers of a profile, computed from synthetic trips or from a model.

    `unit` is the unit of lengths on the page: km, or units of a map without a known scale.
    """

    sample: Sample
    hours: Bars | None
    weekdays: Bars | None
    lengths: Bars
    minutes: Bars | None
    matrix: Matrix
    zones: Zones
    flows: Flows | None
    unit: str
    quartiles: Mapping[str, tuple[float, float, float]]
    # Trips per person, where people were asked.
    each: TripsPerPerson | None = None

    @staticmethod
    def of(
        sample: Sample,
        zones: Zones | None = None,
        roads: RoadNetwork | None = None,
        each: TripsPerPerson | None = None,
    ) -> Profile:
        """Compute the profile of trips. Without zones, the squares of the map are used."""
        trips = sample.trips
        division = zones or Squares(trips.bounds(), SIDE)
        metres = _lengths(trips)
        known = trips.is_geographic or trips.crs is not None or metres.max(initial=0.0) > 100
        length, unit = (metres / 1000, "km") if known else (metres, "units")
        seconds = None if trips.t is None else trips.t[trips.offsets[1:] - 1] - trips.t[trips.offsets[:-1]]
        minutes = None if seconds is None else seconds / 60
        quartiles = {"length": _quartiles(length)}
        if minutes is not None:
            quartiles["minutes"] = _quartiles(minutes)
            speeds = 60 * length[minutes > 0] / minutes[minutes > 0]
            if len(speeds):
                quartiles["speed"] = _quartiles(speeds)
        hours = None
        if trips.t is not None:
            hours = Bars(tuple(map(str, range(24))), sample.count(slots_of(trips, "hour")[1], 24))
        return Profile(
            sample,
            hours,
            _weekdays(sample),
            _classes(sample, length, KILOMETRES, unit),
            None if minutes is None else _classes(sample, minutes, MINUTES, "min"),
            Matrix.count(sample, division),
            division,
            None if roads is None else Flows.count(sample, roads),
            unit,
            quartiles,
            each,
        )

    @property
    def total(self) -> float:
        """All trips."""
        return self.sample.weight * len(self.sample.trips)

    def pairs(self) -> list[dict[str, Any]]:
        """Return the pairs of zones with the most trips."""
        table = self.matrix.trips.sum(axis=0)
        order = np.argsort(-table, axis=None, kind="stable")[:NAMED]
        numbers = self.matrix.numbers.map(lambda each: each.sum(axis=0).ravel())
        return [
            {
                "from": self.matrix.zones[place // len(table)],
                "to": self.matrix.zones[place % len(table)],
                **_entry(numbers, int(place)),
            }
            for place in order
            if table.flat[place] > 0
        ]

    def places(self) -> list[dict[str, Any]]:
        """Return how many trips begin and end in each zone."""
        table = self.matrix.trips.sum(axis=0)
        return [
            {"zone": zone, "begin": float(table[k].sum()), "end": float(table[:, k].sum())}
            for k, zone in enumerate(self.matrix.zones)
        ]

    def streets(self) -> list[dict[str, Any]]:
        """Return the busiest streets, no two of them close together. `x` and `y` are the middle of each street."""
        if self.flows is None:
            return []
        numbers = self.flows.total
        vehicles = numbers.values
        streets, roads = self.flows.streets, self.flows.streets.roads
        middle = streets.edges[(streets.offsets[:-1] + streets.offsets[1:]) // 2]
        x, y = ((axis[roads.source[middle]] + axis[roads.target[middle]]) / 2 for axis in (roads.x, roads.y))
        apart = APART * max(np.ptp(roads.x), np.ptp(roads.y))
        named: list[int] = []
        for place in np.argsort(-vehicles, kind="stable").tolist():
            if len(named) == BUSIEST or vehicles[place] == 0:
                break
            if not named or np.hypot(x[named] - x[place], y[named] - y[place]).min() > apart:
                named.append(place)
        described = pa.table(streets.described(np.array(named, dtype=np.int64))).to_pylist()
        return [
            {
                **row,
                "x": float(x[place]),
                "y": float(y[place]),
                **_entry(numbers, place),
            }
            for place, row in zip(named, described, strict=True)
        ]

    def document(self) -> dict[str, Any]:
        """Return the profile as plain data."""
        parts: dict[str, Bars | None] = {
            "hours": self.hours,
            "weekdays": self.weekdays,
            "lengths": self.lengths,
            "minutes": self.minutes,
        }
        return {
            "format": "ldptrace-profile",
            "version": 1,
            "trips": self.total,
            "trips_per_person": None if self.each is None else asdict(self.each),
            "unit": self.unit,
            "quartiles": {name: list(values) for name, values in self.quartiles.items()},
            **{name: None if bars is None else bars.document() for name, bars in parts.items()},
            "places": self.places(),
            "pairs": self.pairs(),
            "streets": self.streets(),
            "privacy": None if self.sample.promise is None else dict(self.sample.promise),
        }


def _entry(numbers: Numbers, place: int) -> dict[str, float]:
    named = {"trips": numbers.values, **numbers.intervals}
    return {name: float(each[place]) for name, each in named.items()}


def _weekdays(sample: Sample) -> Bars | None:
    """Count trips by the day of the week, or return None without dates or if all trips are on one day."""
    if sample.trips.t is None or not sample.trips.has_dates:
        return None
    _, day = slots_of(sample.trips, "weekday")
    return None if np.ptp(day) == 0 else Bars(DAYS, sample.count(day, 7))


def _classes(sample: Sample, values: Floats, edges: Sequence[float], unit: str) -> Bars:
    """Count trips by classes. Classes reach up to the 99.9th percentile; the last class has all larger values."""
    edges = edges[: int(np.searchsorted(edges, np.quantile(values, 0.999))) + 1]
    names = [f"up to {edges[0]:g} {unit}"]
    names += [f"{a:g} to {b:g} {unit}" for a, b in pairwise(edges)]
    return Bars(
        (*names, f"over {edges[-1]:g} {unit}"),
        sample.count(np.searchsorted(edges, values).astype(np.int64), len(edges) + 1),
    )


def _quartiles(values: Floats) -> tuple[float, float, float]:
    low, middle, high = np.percentile(values, QUARTILES) if len(values) else (0.0, 0.0, 0.0)
    return float(low), float(middle), float(high)


def _lengths(trips: Trajectories) -> Floats:
    """Return the length of each trip along its points, in metres if coordinates are degrees."""
    steps = np.concatenate(([0.0], step_lengths(trips.x, trips.y, trips.crs)))
    steps[trips.offsets[:-1]] = 0.0
    return np.add.reduceat(steps, trips.offsets[:-1])
