"""What asking about time gives, and what it costs the nine metrics.

    python -m benchmarks.time [--data FOLDER] [--seeds N] [--users N]

For a generated city, and the San Francisco taxis with their local times where the data is at hand: divergences of
departures per hour, durations and speeds between real and synthetic trips, beside the public profile alone; then the
ratio of each of the nine errors with questions about time and without (1 - x for Kendall and F1), mean over the seeds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import ldptrace as lt
from benchmarks.data import BOXES, DataSet, generated
from ldptrace.core.timing import Timing
from ldptrace.evaluation.divergence import count_divergence
from ldptrace.models.time import DAY_PROFILE
from ldptrace.synthesis import run_method

PACIFIC = "America/Los_Angeles"
# Ends of the bins: durations in seconds, speeds in km/h, equal factors apart.
DURATIONS, SPEEDS = np.geomspace(30, 7200, 24), np.geomspace(2, 128, 25)
NINE = {
    "density_error": False,
    "query_error": False,
    "hotspot_query_error": False,
    "kendall_tau": True,
    "trip_error": False,
    "length_error": False,
    "diameter_error": False,
    "pattern_f1": True,
    "pattern_error": False,
}


def statistics(trips: lt.Trajectories) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Departures per hour, and counts of durations and speeds."""
    timing, scale = Timing.of(trips), (1.0, 1.0)
    if trips.is_geographic:
        middle = np.radians(np.mean(trips.bounds()[1::2]))
        scale = (111_195.0 * float(np.cos(middle)), 111_195.0)
    seconds = timing.seconds
    known = np.isfinite(seconds)
    speeds = 3.6 * timing.ways(*scale)[known] / seconds[known]
    hours = np.bincount(timing.hours[np.isfinite(timing.departure)] % 24, minlength=24)
    outer = (np.r_[0, DURATIONS, np.inf], np.r_[0, SPEEDS, np.inf])
    return hours, np.histogram(seconds[known], outer[0])[0], np.histogram(speeds, outer[1])[0]


def taxis(folder: Path | None) -> DataSet | None:
    """The San Francisco taxis on their own clocks, inside the box that other benchmarks use."""
    name = "cabspotting_occupied_trips"
    file = folder / f"{name}.parquet" if folder else None
    if file is None or not file.exists():
        return None
    return DataSet("taxis", lt.read(file, bounds=BOXES[name], crs="EPSG:4326", timezone=PACIFIC), BOXES[name])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the taxi file")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--users", type=int, default=200_000)
    parser.add_argument("--skip-metrics", action="store_true", help="do not compare the nine metrics")
    arguments = parser.parse_args()
    city = generated(77, arguments.users)
    cases = [(city, 1.0, arguments.users), (city, 0.5, 10_000), (city, 1.0, 10_000)]
    if (cabs := taxis(arguments.data)) is not None:
        cases.append((cabs, 1.0, len(cabs.trajectories)))
    print(
        f"{'data':<10}{'users':>9}{'eps':>5}{'profile':>9}{'departures':>19}{'durations':>19}{'speeds':>19}"
    )
    for data, epsilon, users in cases:
        chosen = data if users == len(data.trajectories) else data.sample(users, 1)
        real, found = statistics(data.trajectories), []
        for seed in range(arguments.seeds):
            made = run_method(chosen.trajectories, epsilon, bounds=data.bounds, seed=seed, unit="trip")
            found.append(
                [count_divergence(a, b) for a, b in zip(real, statistics(made.trajectories), strict=True)]
            )
        mean, spread = np.mean(found, axis=0), np.std(found, axis=0)
        cells = "".join(f"{f'{m:.4f} +- {s:.4f}':>19}" for m, s in zip(mean, spread, strict=True))
        profile = count_divergence(real[0], DAY_PROFILE)
        print(f"{data.name:<10}{users:>9,}{epsilon:>5g}{profile:>9.4f}{cells}", flush=True)
    if not arguments.skip_metrics:
        compare(city, arguments.seeds)


def compare(data: DataSet, seeds: int) -> None:
    """The nine errors with questions about time over those without."""
    ratios: dict[str, list[float]] = {name: [] for name in NINE}
    for seed in range(seeds):
        errors = []
        for time in ("auto", "off"):
            made = run_method(data.trajectories, 1.0, bounds=data.bounds, seed=seed, time=time)  # type: ignore[arg-type]
            card = lt.evaluate(data.trajectories, made.trajectories, bounds=data.bounds, grid=6, seed=seed)
            metrics = card.document()["metrics"]
            errors.append(
                {
                    name: 1 - metrics[name]["value"] if up else metrics[name]["value"]
                    for name, up in NINE.items()
                }
            )
        for name, values in ratios.items():
            values.append(errors[0][name] / errors[1][name])
    print(f"\n{data.name}, {len(data.trajectories):,} trips, eps 1: error with time / without")
    for name, values in ratios.items():
        print(f"  {name:<22}{np.mean(values):6.2f} +- {np.std(values):.2f}")
    print(f"  {'mean':<22}{np.mean([np.mean(values) for values in ratios.values()]):6.2f}", flush=True)


if __name__ == "__main__":
    main()
