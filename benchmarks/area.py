"""What a public area gives: cities with a bay, the path model with and without the land.

    python -m benchmarks.area [--trips 150000] [--seeds 3] [--grid 8]

Trips that touch the bay are omitted from generated cities; the others are the real ones.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

import ldptrace as lt
from benchmarks.data import CITY_SIDE
from ldptrace.core.area import Area
from ldptrace.errors import FitWarning
from ldptrace.generators import city

METRICS = ("density_error", "kendall_tau", "trip_error", "pattern_f1", "length_error")
BOUNDS = (0.0, 0.0, CITY_SIDE, CITY_SIDE)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trips", type=int, default=150_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--grid", type=int, default=8)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    land = land_around_a_bay()
    rows: dict[str, list[list[float]]] = {"without": [], "with": []}
    for seed in range(1, arguments.seeds + 1):
        real = on_land(city(arguments.trips, seed=seed), land)
        for name, options in (("without", {}), ("with", {"area": land})):
            made = lt.synthesize(real, 1.0, bounds=BOUNDS, grid=arguments.grid, seed=seed, **options)
            card = lt.evaluate(real, made, bounds=BOUNDS, grid=arguments.grid)
            metrics = card.document()["metrics"]
            wet = 1 - land.contains(made.x, made.y).mean()
            rows[name].append([wet, *(metrics[key]["value"] for key in METRICS)])
    print(f"{'area':>8}" + "".join(f"{name:>20}" for name in ("in the water", *METRICS)))
    for name, runs in rows.items():
        mean, spread = np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1)
        print(f"{name:>8}" + "".join(f"{m:>11.4f} ±{s:.4f}  " for m, s in zip(mean, spread, strict=True)))


def land_around_a_bay() -> Area:
    """The whole city but for an ellipse east of its middle."""
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    bay = np.c_[0.7 + 0.26 * np.cos(angle), 0.55 + 0.34 * np.sin(angle)] * CITY_SIDE
    square = [(0.0, 0.0), (CITY_SIDE, 0.0), (CITY_SIDE, CITY_SIDE), (0.0, CITY_SIDE)]
    return Area.of([[square, [(float(x), float(y)) for x, y in bay]]])


def on_land(trips: lt.Trajectories, land: Area) -> lt.Trajectories:
    """The trips that stay on land."""
    return trips.take(np.minimum.reduceat(land.contains(trips.x, trips.y), trips.offsets[:-1]))


if __name__ == "__main__":
    main()
