"""How often the 95 % intervals of matrices and street flows hold the truth.

    python -m benchmarks.intervals [--users 50000] [--cities 3] [--first 1] [--streets] [--refits 0]

Generated cities, whose demand is far from even; the truth is that of their own trips. For each city, with and without
the map: the share of pairs of 4 x 4 zones (with `--streets` also of streets with traffic) whose interval holds the
truth, and by which factor intervals would have to grow to hold 95 of 100. `--refits` also compares the spread of the
replicates with that of refits on newly drawn noise.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import CITY_SIDE
from benchmarks.tables import save
from ldptrace.core.trajectories import Trajectories
from ldptrace.generators import city_traffic
from ldptrace.models import MobilityModel
from ldptrace.products.flows import Flows
from ldptrace.products.matrix import Matrix
from ldptrace.products.sample import SURE, Sample
from ldptrace.products.zones import Squares
from ldptrace.roads.network import RoadNetwork
from ldptrace.synthesis import Settings, run

BOUNDS = (0.0, 0.0, CITY_SIDE, CITY_SIDE)
ZONES = Squares(BOUNDS, 4)


def fitted(trips: Trajectories, roads: RoadNetwork | None, seed: int) -> MobilityModel:
    """The model of a simulated collection at epsilon 1."""
    model = run(trips, Settings.of(1.0, bounds=BOUNDS, seed=seed, count=1, roads=roads)).synthesis.model
    assert model is not None
    return model


def held(values: np.ndarray, low: np.ndarray, high: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """The share of intervals that hold the truth, and the factor by which they would have to grow for 95 of 100."""
    inside = (low <= truth) & (truth <= high)
    error = np.maximum((high - values) / SURE, 1e-12)
    return float(inside.mean()), float(np.quantile(np.abs(truth - values) / error, 0.95)) / SURE


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
        share, factor = held(found.trips, found.low, found.high, truth.trips)
        row = {
            "city": number,
            "users": users,
            "map": roads is not None,
            "OD held": share,
            "OD factor": factor,
        }
        if roads is not None and streets:
            flows, real = (Flows.count(which, roads) for which in (sample, Sample(trips)))
            assert flows.low is not None
            assert flows.high is not None
            busy = real.vehicles[0] > users / 500
            columns = (part[0][busy] for part in (flows.vehicles, flows.low, flows.high, real.vehicles))
            row["streets held"], row["streets factor"] = held(*columns)
        rows.append(row)
        print(row, flush=True)
    return rows


def refits(users: int, many: int) -> dict[str, float]:
    """The spread of pairs of zones over refits on new noise, over the standard error of one fit."""
    trips = city_traffic(1).trips(users, np.random.default_rng(1))
    drawn = [Matrix.count(Sample.of_model(fitted(trips, None, seed)), ZONES) for seed in range(many)]
    spread = np.std([matrix.trips for matrix in drawn], axis=0)
    assert all(matrix.high is not None for matrix in drawn)
    errors = np.mean(
        [(matrix.high - matrix.trips) / SURE for matrix in drawn if matrix.high is not None], axis=0
    )
    large = drawn[0].trips > users / 256
    return {"refits": many, "spread over error": float(np.median(spread[large] / errors[large]))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=50_000)
    parser.add_argument("--cities", type=int, default=3)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--streets", action="store_true")
    parser.add_argument("--refits", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("bench"))
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
