"""The profile: how many trips, when, from where to where, on which streets, how long and how fast, as numbers, and as
one HTML page for residents. The page loads nothing from the network and may be published."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ldptrace.core.arrays import Floats
from ldptrace.core.crs import step_lengths
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.estimates import TripsPerPerson
from ldptrace.pages.page import template
from ldptrace.products.departures import slots_of
from ldptrace.products.flows import Flows
from ldptrace.products.matrix import Matrix
from ldptrace.products.profile.figures import ALL_NAMED, bars, street_map, zone_map
from ldptrace.products.sample import UNPROMISED, Numbers, Sample, with_trip
from ldptrace.products.statement.papers import Promise
from ldptrace.products.zones import H3, Squares, Zones
from ldptrace.protocol.questions.times import DAYS
from ldptrace.roads.network import RoadNetwork

# Squares on a side of the map that are compared where the user names no zones.
SIDE = 4
# Pairs of zones that are named; streets, and how far apart they are at least, as a part of the map.
NAMED, BUSIEST, APART = 12, 6, 0.1
QUARTILES = (25, 50, 75)
KILOMETRES = (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0)
MINUTES = (2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0)
# The pictures of bars: what they show, and how many of them share a label.
BARS = {
    "hours": ("Trips by hour of departure", 3),
    "weekdays": ("Trips by day of the week", 1),
    "lengths": ("Trips by length", 1),
    "minutes": ("Trips by duration", 1),
}

# Numbers of trips in classes with names.
Classes = tuple[Sequence[str], Numbers]


@dataclass(frozen=True, eq=False)
class Profile:
    """The numbers of a profile, computed from synthetic trips or from a model.

    `classes` are the trips by hour, day of the week, length and duration, as far as they are known. `unit` is the unit
    of lengths on the page: km, or units of a map without a known scale. `each` are the trips per person, if people were
    asked.
    """

    sample: Sample
    classes: Mapping[str, Classes]
    matrix: Matrix
    zones: Zones
    flows: Flows | None
    unit: str
    quartiles: Mapping[str, list[float]]
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
        zones = zones or Squares(trips.bounds(), SIDE)
        metres = _lengths(trips)
        known = trips.is_geographic or trips.crs is not None or metres.max(initial=0.0) > 100
        length, unit = (metres / 1000, "km") if known else (metres, "units")
        classes = {"lengths": _classes(sample, length, KILOMETRES, unit)}
        quartiles = {"length": _quartiles(length)}
        if trips.t is not None:
            minutes = (trips.t[trips.offsets[1:] - 1] - trips.t[trips.offsets[:-1]]) / 60
            classes["minutes"] = _classes(sample, minutes, MINUTES, "min")
            quartiles["minutes"] = _quartiles(minutes)
            if (minutes > 0).any():
                quartiles["speed"] = _quartiles(60 * length[minutes > 0] / minutes[minutes > 0])
            names = tuple(map(str, range(24)))
            classes["hours"] = names, sample.count(slots_of(trips, "hour")[1], len(names))
        if trips.has_dates:
            day = slots_of(trips, "weekday")[1]
            if np.ptp(day) > 0:
                classes["weekdays"] = DAYS, sample.count(day, len(DAYS))
        flows = None if roads is None else Flows.count(sample, roads)
        return Profile(sample, classes, Matrix.count(sample, zones), zones, flows, unit, quartiles, each)

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
            {**row, "x": float(x[place]), "y": float(y[place]), **_entry(numbers, place)}
            for place, row in zip(named, described, strict=True)
        ]

    def document(self) -> dict[str, Any]:
        """Return the profile as plain data."""
        classes = {
            name: [{"name": each, **_entry(numbers, place)} for place, each in enumerate(names)]
            for name, (names, numbers) in self.classes.items()
        }
        return {
            "format": "ldptrace-profile",
            "version": 1,
            "trips": self.total,
            "trips_per_person": None if self.each is None else asdict(self.each),
            "unit": self.unit,
            "quartiles": dict(self.quartiles),
            **{name: classes.get(name) for name in BARS},
            "places": self.places(),
            "pairs": self.pairs(),
            "streets": self.streets(),
            "privacy": None if self.sample.promise is None else dict(self.sample.promise),
        }


def profile_page(profile: Profile, title: str = "How people move here") -> str:
    """Return the page as HTML."""
    names, pairs, streets = zone_names(profile), profile.pairs(), profile.streets()
    shown = {pair[end] for pair in pairs for end in ("from", "to")}
    begin = {place["zone"]: place["begin"] for place in profile.places()}
    figures: dict[str, Any] = dict.fromkeys((*BARS, "zones", "streets"))
    for name, classes in profile.classes.items():
        label, every = BARS[name]
        figures[name] = bars(*classes, label, every=every, share=profile.total)
    scale, spots = profile.unit == "km", [(street["x"], street["y"]) for street in streets]
    figures["zones"] = zone_map(profile.zones, names, begin, "Where trips begin", shown, scale=scale)
    if profile.flows is not None:
        figures["streets"] = street_map(profile.flows, spots, "Travellers on streets", scale=scale)
    lengths, numbers = profile.classes["lengths"]
    return template("profile.html", __package__).render(
        title=title,
        sentences=sentences(profile),
        figures=figures,
        squares=profile.zones.side**2 if isinstance(profile.zones, Squares) else None,
        hexagons=isinstance(profile.zones, H3),
        pairs=[pair | {end: names[pair[end]] for end in ("from", "to")} for pair in pairs],
        some_named=len(names) > ALL_NAMED,
        streets=streets,
        total=profile.total,
        unit=profile.unit,
        second=lengths[1],
        has_ranges=numbers.low is not None,
        privacy=privacy(profile),
        counted=profile.sample.counted_words,
        clocks=profile.sample.zone_words,
        notes=list(dict(profile.sample.promise or {}).get("notes") or ()),
    )


def zone_names(profile: Profile) -> dict[str, str]:
    """Return what the page calls each zone. Nobody knows the ids of hexagons: they are numbered from the one in which
    most trips begin."""
    places = profile.places()
    if not isinstance(profile.zones, H3):
        return {place["zone"]: place["zone"] for place in places}
    order = np.argsort([-place["begin"] for place in places], kind="stable").tolist()
    rank = {place: number for number, place in enumerate(order, start=1)}
    return {place["zone"]: str(rank[k]) for k, place in enumerate(places)}


def sentences(profile: Profile) -> list[str]:
    """Return the profile in a few sentences."""
    stated, total = dict(profile.sample.promise or {}), profile.total
    each = ", one for each person who travelled" if profile.sample.of_people else ""
    lines = [f"This page describes about {float(f'{total:.3g}'):,.0f} trips{each}."]
    if stated.get("users") and with_trip(stated) < 1:
        share, error = 100 * with_trip(stated), 196 * float(stated["without_trip"]["std_error"])
        lines.append(
            f"Of {stated['users']:,} devices that answered, about {share:.0f} in 100 had made a trip "
            f"(the range is {max(share - error, 0):.0f} to {min(share + error, 100):.0f})."
        )
    if profile.each is not None:
        low, high = profile.each.interval
        lines.append(
            f"People made {profile.each.value:.1f} trips each on average (the range is {low:.1f} to {high:.1f})."
        )
    if "hours" in profile.classes:
        values = profile.classes["hours"][1].values
        busiest = int(values.argmax())
        lines.append(
            f"The busiest hour is from {busiest} to {busiest + 1} o'clock: {100 * values[busiest] / total:.0f} of "
            "100 trips begin then."
        )
    low, middle, high = profile.quartiles["length"]
    lines.append(
        f"Half of the trips are longer than {_round(middle)} {profile.unit}. The middle half is "
        f"{_round(low)} to {_round(high)} {profile.unit} long."
    )
    if "minutes" in profile.quartiles:
        lines.append(f"Half of the trips take more than {_round(profile.quartiles['minutes'][1])} minutes.")
    if "speed" in profile.quartiles and profile.unit == "km":
        lines.append(f"The usual speed is {profile.quartiles['speed'][1]:.0f} km/h from door to door.")
    names = zone_names(profile)
    for pair in profile.pairs()[:1]:
        zone = {Squares: "field ", H3: "hexagon "}.get(type(profile.zones), "")
        start, end = (f"{zone}{names[pair[name]]}" for name in ("from", "to"))
        where = f"stays within {start}" if start == end else f"goes from {start} to {end}"
        below = " of the map below" if zone else ""
        lines.append(f"The most common trip {where}{below}: {100 * pair['trips'] / total:.1f} of 100 trips.")
    return lines


def privacy(profile: Profile) -> list[str]:
    """Return the sentences about privacy."""
    stated = profile.sample.promise
    if not stated or "epsilon" not in stated:
        return [UNPROMISED]
    promise = Promise.of_provenance(stated, "the trips")
    how = (
        "Every device changed its answer at random before it sent it, and the page was made from all answers."
    )
    if promise.central:
        how = "The publisher, who holds the trips of people, added random noise to what was counted."
    elif promise.simulated:
        how = (
            "Each trip that the publisher holds gave one answer, which was changed at random, and the page was made "
            "from all answers."
        )
    unit = "all trips of one person" if promise.unit == "user" else "one trip"
    shuffler = []
    if promise.shuffled:
        shuffler.append(
            f"For this, the answers of at least {promise.batch:,} people were mixed by somebody independent, who could "
            "not read them. If that somebody worked together with the publisher, the number would be "
            f"{math.exp(float(promise.local or 0)):.0f}."
        )
    return [
        f"No trip on this page was made by anybody. {how}",
        f"If {unit} had been completely different, the chance of what was "
        f"{'counted' if promise.central else 'sent'} would be at most {math.exp(float(promise.epsilon)):.1f} times "
        "higher or lower. The smaller this number is, the less anyone can learn about a person "
        f"(experts write it as epsilon {promise.epsilon}).",
        *shuffler,
        *promise.weaker,
    ]


def _round(value: float) -> str:
    """Return a number with two significant digits.

    >>> _round(12.34), _round(1.234), _round(0.05)
    ('12', '1.2', '0.05')
    """
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _entry(numbers: Numbers, place: int) -> dict[str, float]:
    named = {"trips": numbers.values, **numbers.intervals}
    return {name: float(each[place]) for name, each in named.items()}


def _classes(sample: Sample, values: Floats, edges: Sequence[float], unit: str) -> Classes:
    """Count trips by classes. Classes reach up to the 99.9th percentile; the last class has all larger values."""
    edges = edges[: int(np.searchsorted(edges, np.quantile(values, 0.999))) + 1]
    between = [f"{a:g} to {b:g} {unit}" for a, b in pairwise(edges)]
    names = [f"up to {edges[0]:g} {unit}", *between, f"over {edges[-1]:g} {unit}"]
    return names, sample.count(np.searchsorted(edges, values).astype(np.int64), len(names))


def _quartiles(values: Floats) -> list[float]:
    quartiles: list[float] = np.percentile(values, QUARTILES).tolist()
    return quartiles


def _lengths(trips: Trajectories) -> Floats:
    """Return the length of each trip along its points, in metres if coordinates are degrees."""
    steps = np.concatenate(([0.0], step_lengths(trips.x, trips.y, trips.crs)))
    steps[trips.offsets[:-1]] = 0.0
    return np.add.reduceat(steps, trips.offsets[:-1])
