"""What asking about time gives, and what it costs the nine metrics.

    python -m benchmarks.time [--data FOLDER] [--city SEED] [--seeds N] [--cost-seeds N] [--users N]

For a generated city, and the San Francisco taxis with their local times where the data is at hand: divergences of
departures per hour, durations and speeds between real and synthetic trips, beside the public profile alone. Then each
of the nine errors with questions about time and without (1 - x for Kendall and F1), seed by seed: with the same seed
the same devices draw the same, except the sixteenth that is asked about time.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Literal

import numpy as np

import ldptrace as lt
from benchmarks.data import BOXES, DataSet, generated
from ldptrace.core.crs import METRES_PER_DEGREE
from ldptrace.core.timing import Timing
from ldptrace.evaluation.divergence import count_divergence
from ldptrace.evaluation.metrics import Reference
from ldptrace.evaluation.summary import Summary
from ldptrace.models.time import DAY_PROFILE
from ldptrace.protocol.grid import Grid
from ldptrace.settings import Settings
from ldptrace.synthesis import run

PACIFIC = "America/Los_Angeles"
TIMES: tuple[Literal["auto", "off"], ...] = ("auto", "off")
# Ends of the bins: durations in seconds, speeds in km/h, equal factors apart.
DURATIONS, SPEEDS = np.geomspace(30, 7200, 24), np.geomspace(2, 128, 25)
# Grid of the nine metrics, and how often their queries are drawn for each synthetic set.
CELLS, REDRAWN = 6, 3
# What the mean ratio of a few runs is to stay below, and how many runs that are.
MOST, FEW, SUBSETS = 1.10, 5, 4000
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
        scale = (METRES_PER_DEGREE * float(np.cos(middle)), METRES_PER_DEGREE)
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
    return DataSet(
        "taxis",
        lt.read(file, bounds=BOXES[name], outside="drop", min_points=1, crs="EPSG:4326", timezone=PACIFIC),
        BOXES[name],
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the taxi file")
    parser.add_argument("--city", type=int, default=77, help="seed of the generated city")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each case")
    parser.add_argument("--cost-seeds", type=int, default=15, help="runs with and without time; 0: none")
    parser.add_argument("--users", type=int, default=200_000)
    arguments = parser.parse_args()
    city = generated(arguments.city, arguments.users)
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
            made = run(
                chosen.trajectories,
                Settings.of(epsilon, bounds=data.bounds, outside="clamp", seed=seed, unit="trip"),
            )
            found.append(
                [count_divergence(a, b) for a, b in zip(real, statistics(made.trajectories), strict=True)]
            )
        mean, spread = np.mean(found, axis=0), np.std(found, axis=0)
        cells = "".join(f"{f'{m:.4f} +- {s:.4f}':>19}" for m, s in zip(mean, spread, strict=True))
        profile = count_divergence(real[0], DAY_PROFILE)
        print(f"{data.name:<10}{users:>9,}{epsilon:>5g}{profile:>9.4f}{cells}", flush=True)
    if arguments.cost_seeds:
        compare(city, arguments.cost_seeds)


def compare(data: DataSet, seeds: int) -> None:
    """The nine errors with questions about time beside those without."""
    grid = Grid(data.bounds, CELLS)
    reference = Reference.of(data.trajectories, grid, np.random.default_rng(0))
    errors = np.empty((2, len(NINE), seeds))
    for seed in range(seeds):
        rulers = [reference.redrawn(np.random.default_rng([seed, number])) for number in range(REDRAWN)]
        for row, time in enumerate(TIMES):
            made = run(
                data.trajectories, Settings.of(1.0, bounds=data.bounds, outside="clamp", seed=seed, time=time)
            )
            summary = Summary.of(made.trajectories, grid)
            scores = [ruler.score(summary) for ruler in rulers]
            for number, (name, up) in enumerate(NINE.items()):
                values = [1 - score[name] if up else score[name] for score in scores]
                errors[row, number, seed] = np.mean(values)
    print(
        f"\n{data.name}, {len(data.trajectories):,} trips, eps 1, {seeds} seeds: errors with time and without"
    )
    print(
        f"  {'':<22}{'without':>18}{'of means':>16}{'mean of ratios':>18}{f'{FEW} seeds':>9}{'apart':>8}  zero"
    )
    rng = np.random.default_rng(1)
    for name, with_time, without in zip(NINE, *errors, strict=True):
        print(f"  {name:<22}{row_of(with_time, without, rng)}")
    timed, plain = errors.mean(axis=2)
    print(f"  {'all nine, of means':<22}{np.mean(timed / plain):34.3f}", flush=True)


def row_of(with_time: np.ndarray, without: np.ndarray, rng: np.random.Generator) -> str:
    """Error without time; ratio of the mean errors and mean of the ratios, with standard errors (the first by leaving
    out one seed after the other); how often the mean ratio of five seeds is at most 1.10, with the same seeds for both
    and with different ones; seeds without any error, which have no ratio."""
    some, seeds = without > 0, len(without)
    ratios = with_time[some] / without[some]
    left = np.array([np.delete(with_time, k).mean() / np.delete(without, k).mean() for k in range(seeds)])
    jackknife = np.sqrt((seeds - 1) / seeds * np.sum((left - left.mean()) ** 2))
    below = np.mean(rng.choice(ratios, (SUBSETS, FEW)).mean(axis=1) <= MOST)
    apart = np.mean(
        (rng.choice(with_time, (SUBSETS, FEW)) / rng.choice(without[some], (SUBSETS, FEW))).mean(axis=1)
        <= MOST
    )
    of_means = f"{with_time.mean() / without.mean():.3f} +- {jackknife:.3f}"
    mean = f"{ratios.mean():.3f} +- {ratios.std(ddof=1) / np.sqrt(len(ratios)):.3f}"
    return (
        f"{f'{without.mean():.4f} +- {without.std(ddof=1):.4f}':>18}{of_means:>16}{mean:>18}"
        f"{below:>9.0%}{apart:>8.0%}{seeds - some.sum():>6}"
    )


if __name__ == "__main__":
    main()
