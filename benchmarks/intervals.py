"""How often the 95 % intervals of matrices and street flows hold the truth.

    python -m benchmarks.intervals [--cities 8-14] [--users 50000] [--map | --no-map] [--epsilon 1] [--times]
                                   [--grid N] [--refits 0]

Generated cities, whose demand is far from even; the truth is that of their own trips. For each city, with and without
the map: the share of pairs of 4 x 4 zones and of streets with at least a hundredth of the busiest one's vehicles whose
interval holds the truth, and the shares where the truth is above and below it, for several values of what no answer
says (`UNTOLD` of `ldptrace.products.matrix` and `flows`). `--refits` compares the spread of the replicates with the
spread and the error of fits to newly drawn noise.

The values of `UNTOLD` were chosen on cities 1 to 4. Pairs: the smallest step of 0.05 with at least 90 of 100 in every
setting (20,000, 50,000, 200,000 and 1,000,000 users without the map, 50,000 users on 10 x 10 cells, 20,000 and 50,000
users with the map). Streets: the step that comes closest to 95 of 100. So was `LEAST` of `ldptrace.models.ordinal`; the
day of all generated cities has the same rhythm, so no city tests it anew. Cities from 8 on were used for nothing else.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import CITY_SIDE
from benchmarks.tables import save
from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.trajectories import Trajectories
from ldptrace.generators import city_traffic
from ldptrace.models.base import MobilityModel
from ldptrace.products import matrix
from ldptrace.products.departures import slots_of
from ldptrace.products.flows import Streets
from ldptrace.products.sample import Numbers, Sample
from ldptrace.products.zones import Squares
from ldptrace.roads.matching import StreetIndex
from ldptrace.roads.network import RoadNetwork
from ldptrace.settings import Settings
from ldptrace.synthesis import run

BOUNDS = (0.0, 0.0, CITY_SIDE, CITY_SIDE)
SIDE = 4
ZONES = Squares(BOUNDS, SIDE)
PAIRS = (0.0, 0.05, 0.1, 0.15, 0.2)
STREETS = (0.0, 0.3, 0.4, 0.5)
# Trips that are drawn of each refit, and for streets.
FEW, PASSING = 50_000, 100_000
# Streets with less of the vehicles of the busiest one are not counted.
QUIET = 0.01


@dataclass(frozen=True, eq=False)
class Known:
    """Numbers of a model with their standard errors, what a part of them is untold of, and the truth."""

    values: Floats
    errors: Floats
    scale: Floats
    truth: Floats

    def held(self, untold: float) -> tuple[float, float, float]:
        """The shares of intervals that hold the truth, and of those where it is above and below."""
        found = Numbers.of(self.values, np.hypot(self.errors, untold * self.scale))
        assert found.low is not None
        assert found.high is not None
        above, below = float((self.truth > found.high).mean()), float((self.truth < found.low).mean())
        return 1 - above - below, above, below


def fitted(
    trips: Trajectories,
    roads: RoadNetwork | None,
    seed: int,
    grid: int | None = None,
    epsilon: float = 1.0,
) -> MobilityModel:
    """The model of a simulated collection."""
    settings = Settings.of(epsilon, bounds=BOUNDS, seed=seed, count=1, roads=roads, grid=grid)
    model = run(trips, settings).synthesis.model
    assert model is not None
    return model


def pairs_of(trips: Trajectories) -> Ints:
    """The pair of zones of each trip."""
    ends = (trips.offsets[:-1], trips.offsets[1:] - 1)
    start, end = (ZONES.locate(trips.x[at], trips.y[at], None)[1] for at in ends)
    return start * SIDE**2 + end


def pairs(sample: Sample, trips: Trajectories) -> Known:
    """Trips between the zones."""
    values, errors = sample.counted(pairs_of(sample.trips), SIDE**4)
    assert errors is not None
    apart = matrix.independent(values.reshape(1, SIDE**2, SIDE**2)).ravel()
    return Known(values, errors, apart, np.bincount(pairs_of(trips), minlength=SIDE**4).astype(float))


def hours(sample: Sample, trips: Trajectories) -> Known:
    """Trips that begin in each hour of the day."""
    values, errors = sample.counted(slots_of(sample.trips, "hour")[1], 24)
    assert errors is not None
    truth = np.bincount(slots_of(trips, "hour")[1], minlength=24).astype(float)
    return Known(values, errors, values, truth)


def streets(sample: Sample, trips: Trajectories, roads: RoadNetwork) -> Known:
    """Vehicles on the streets."""
    own, index = Streets.of(roads), StreetIndex.of(roads)

    def passes(which: Trajectories) -> tuple[Ints, Ints]:
        """The street and the trip of each pass; pieces of one street in a row are one pass."""
        found = index.follow(which)
        street = own.number[index.edges(found)]
        first = np.append(True, (np.diff(found.trip) != 0) | (np.diff(street) != 0))
        return street[first], found.trip[first]

    street, trip = passes(sample.trips)
    values, errors = sample.counted(street, len(own), trip)
    assert errors is not None
    truth = np.bincount(passes(trips)[0], minlength=len(own)).astype(float)
    busy = np.maximum(values, truth) > QUIET * truth.max()
    return Known(values[busy], errors[busy], values[busy], truth[busy])


def city(
    number: int, users: int, with_map: bool, times: bool, grid: int | None, epsilon: float
) -> list[dict[str, Any]]:
    """The rows of one city: one for each value of what is untold."""
    traffic = city_traffic(number)
    trips = traffic.trips(users, np.random.default_rng(number))
    if not times:
        trips = replace(trips, t=None)
    model = fitted(trips, traffic.network if with_map else None, number, grid, epsilon)
    known: dict[str, tuple[Known, tuple[float, ...]]] = {"OD": (pairs(Sample.of_model(model), trips), PAIRS)}
    if with_map:
        known["streets"] = (streets(Sample.of_model(model, count=PASSING), trips, traffic.network), STREETS)
    if times:
        known["hours"] = (hours(Sample.of_model(model), trips), (0.0,))
    rows = []
    for name, (numbers, choices) in known.items():
        for untold in choices:
            held, above, below = numbers.held(untold)
            row = {"city": number, "users": users, "map": with_map, "of": name, "untold": untold}
            rows.append(row | {"held": held, "above": above, "below": below})
            print(rows[-1], flush=True)
    return rows


def refits(users: int, many: int) -> dict[str, float]:
    """The spread and the error of pairs of zones over fits to new noise, both over the error that replicates show."""
    trips = replace(city_traffic(1).trips(users, np.random.default_rng(1)), t=None)
    numbers, expected = [], []
    for seed in range(many):
        found = pairs(Sample.of_model(fitted(trips, None, seed), count=FEW), trips)
        numbers.append(found.values)
        expected.append(found.errors)
    truth, error = found.truth, np.sqrt(np.mean(np.square(expected), axis=0))
    large = truth > truth.mean()
    spread, missed = (
        np.std(numbers, axis=0, ddof=1),
        np.sqrt(np.mean((np.array(numbers) - truth) ** 2, axis=0)),
    )
    ratios = {"spread": spread, "error": missed}
    return {"refits": many} | {name: float(np.median((part / error)[large])) for name, part in ratios.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=50_000)
    parser.add_argument("--cities", default="8-14", help="first and last city")
    parser.add_argument(
        "--map", action=argparse.BooleanOptionalAction, help="only with, or only without the map"
    )
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--grid", type=int, help="cells on a side, in place of the usual choice")
    parser.add_argument("--times", action="store_true", help="collect times too, and compare the hours")
    parser.add_argument("--refits", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    first, last = map(int, given.cities.split("-"))
    kinds = (False, True) if given.map is None else (given.map,)
    rows = [
        row
        for with_map in kinds
        for number in range(first, last + 1)
        for row in city(number, given.users, with_map, given.times, given.grid, given.epsilon)
    ]
    for key in sorted({(row["map"], row["of"], row["untold"]) for row in rows}):
        own = [row["held"] for row in rows if (row["map"], row["of"], row["untold"]) == key]
        words = f"{'with' if key[0] else 'without'} the map, {key[1]}, untold {key[2]:g}"
        print(f"{words}: held {np.mean(own):.3f}, {min(own):.3f} to {max(own):.3f}")
    if given.refits:
        print(refits(given.users, given.refits))
    save(given.out / "intervals.json", rows)


if __name__ == "__main__":
    main()
