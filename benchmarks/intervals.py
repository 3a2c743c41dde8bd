"""How often the 95 % intervals of matrices and street flows hold the truth.

    python -m benchmarks.intervals [--users 50000] [--cities 3] [--first 1] [--streets] [--refits 0]

Generated cities, whose demand is far from even; the truth is that of their own trips. For each city, with and without
the map: the share of pairs of 4 x 4 zones (with `--streets` also of streets with traffic) whose interval holds the
truth, and the shares where the truth is above and below it. `--refits` also compares the spread of the replicates with
that of refits on newly drawn noise.

Cities 1 to 5 were used to choose what intervals allow for (`MobilityModel.unexpressed`): the least, in steps of a
tenth, that held 90 of 100 pairs in each of them. Cities 6 and 7 were used to find that upper ends are log-normal. Those
from 8 on were used for nothing.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import CITY_SIDE
from benchmarks.tables import save
from ldptrace.core.arrays import Floats
from ldptrace.core.trajectories import Trajectories
from ldptrace.generators import city_traffic
from ldptrace.models import MobilityModel
from ldptrace.products.flows import Flows
from ldptrace.products.matrix import Matrix
from ldptrace.products.sample import Sample
from ldptrace.products.zones import Squares
from ldptrace.roads.network import RoadNetwork
from ldptrace.synthesis import Settings, run

BOUNDS = (0.0, 0.0, CITY_SIDE, CITY_SIDE)
SIDE = 4
# Trips that are drawn of each refit.
FEW = 50_000
ZONES = Squares(BOUNDS, SIDE)


def fitted(trips: Trajectories, roads: RoadNetwork | None, seed: int) -> MobilityModel:
    """The model of a simulated collection at epsilon 1."""
    model = run(trips, Settings.of(1.0, bounds=BOUNDS, seed=seed, count=1, roads=roads)).synthesis.model
    assert model is not None
    return model


def held(name: str, low: Floats, high: Floats, truth: Floats) -> dict[str, float]:
    """The shares of intervals that hold the truth, and of those where it is above or below."""
    above, below = float((truth > high).mean()), float((truth < low).mean())
    return {f"{name} held": 1 - above - below, f"{name} above": above, f"{name} below": below}


def city(number: int, users: int, streets: bool) -> list[dict[str, Any]]:
    """The rows of one city."""
    traffic = city_traffic(number)
    trips = traffic.trips(users, np.random.default_rng(number))
    rows = []
    for roads in (None, traffic.network):
        sample = Sample.of_model(fitted(trips, roads, number))
        found, truth = (Matrix.count(which, ZONES) for which in (sample, Sample(trips)))
        assert found.low is not None
        assert found.high is not None
        row = {"city": number, "users": users, "map": roads is not None}
        row |= held("OD", found.low, found.high, truth.trips)
        if roads is not None and streets:
            flows, real = (Flows.count(which, roads) for which in (sample, Sample(trips)))
            assert flows.low is not None
            assert flows.high is not None
            busy = real.vehicles[0] > users / 500
            row |= held("streets", *(part[0][busy] for part in (flows.low, flows.high, real.vehicles)))
        rows.append(row)
        print(row, flush=True)
    return rows


def refits(users: int, many: int) -> dict[str, float]:
    """The spread of pairs of zones over refits on new noise, over that of the replicates of one fit."""
    trips = city_traffic(1).trips(users, np.random.default_rng(1))
    numbers, spreads = [], []
    for seed in range(many):
        sample = Sample.of_model(fitted(trips, None, seed), count=FEW)
        assert sample.replicates is not None
        ends = (sample.trips.offsets[:-1], sample.trips.offsets[1:] - 1)
        start, end = (ZONES.locate(sample.trips.x[at], sample.trips.y[at], None).place for at in ends)
        place, size = start * SIDE**2 + end, SIDE**4
        numbers.append(np.bincount(place, minlength=size))
        again = [np.bincount(place, weights, size) for weights in sample.replicates]
        spreads.append(np.sqrt(np.mean((np.array(again) - numbers[-1]) ** 2, axis=0)))
    spread, expected = np.std(numbers, axis=0, ddof=1), np.mean(spreads, axis=0)
    large = np.mean(numbers, axis=0) > np.mean(numbers)
    return {"refits": many, "spread over replicates": float(np.median(spread[large] / expected[large]))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=50_000)
    parser.add_argument("--cities", type=int, default=3)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--streets", action="store_true")
    parser.add_argument("--refits", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [
        row
        for number in range(given.cities)
        for row in city(given.first + number, given.users, given.streets)
    ]
    for with_map in (False, True):
        own = [row for row in rows if row["map"] == with_map]
        print("with the map" if with_map else "without", {
            name: round(float(np.mean([row[name] for row in own])), 3) for name in own[0] if name not in ("city", "map")
        })  # fmt: skip
    if given.refits:
        print(refits(given.users, given.refits))
    save(given.out / "intervals.json", rows)


if __name__ == "__main__":
    main()
