"""Devices without a trip: what they cost, and how well their share is known.

    python -m benchmarks.absent [--data FOLDER] [--roads NETWORK] [--repeats N] [--epsilon E]

Trips of Oldenburg, or of a generated city, among more devices than trips: all others answer null. Scores are those of
the trips alone; z is the error of the estimated share in its own standard errors.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np

from benchmarks.data import oldenburg
from benchmarks.tables import save
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator import Estimates
from ldptrace.curator.facts import Facts
from ldptrace.errors import FitWarning
from ldptrace.evaluation import Reference
from ldptrace.models import fit_model
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.roads import RoadNetwork, read_roads
from ldptrace.simulation import collect

CASES = ((20_000, 100_000), (80_000, 100_000), (100_000, 100_000))
SHOWN = ("density_error", "trip_error", "length_error")


def run(
    trips: Trajectories,
    devices: int,
    bounds: Bounds,
    seed: int,
    *,
    epsilon: float = 1.0,
    roads: RoadNetwork | None = None,
) -> dict[str, float]:
    """Scores of one collection among so many devices, and the error of the share in its standard errors."""
    rng, grid = np.random.default_rng(seed), Grid(bounds, 6)
    plan = Facts(devices, epsilon, bounds, grid=grid.n, for_map=roads is not None).plan()
    paths = CellPaths.from_trajectories(trips, grid)
    at_home = np.full(devices - len(trips), paths.offsets[-1])
    everyone = CellPaths(paths.cells, np.concatenate([paths.offsets, at_home]), grid)
    model = fit_model(Estimates.from_tally(plan, collect(plan, everyone, rng)), public=roads, rng=rng)
    share = model.without_trip
    assert share is not None
    scores = Reference.of(trips, grid, np.random.default_rng(0)).score(model.sample(len(trips), rng))
    error = max(share.value, 0.0) - (1 - len(trips) / devices)
    return {name: scores[name] for name in SHOWN} | {
        "share": share.value,
        "std_error": share.std_error,
        "z": error / share.std_error,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--roads", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    data = oldenburg(options.data, (1,))
    roads = None if options.roads is None else read_roads(options.roads)
    results = {}
    print(f"{data.name}, eps = {options.epsilon:g}, {options.repeats} collections")
    for trips, devices in CASES:
        found = []
        for seed in range(1, options.repeats + 1):
            some = data.sample(trips, seed).trajectories
            found.append(run(some, devices, data.bounds, seed, epsilon=options.epsilon, roads=roads))
        results[f"{trips} of {devices}"] = found
        means = {name: float(np.mean([each[name] for each in found])) for name in found[0]}
        spread = {name: float(np.std([each[name] for each in found])) for name in found[0]}
        near = sum(abs(each["z"]) <= 2 for each in found)
        said = ", ".join(f"{name} {means[name]:.4f} (sd {spread[name]:.4f})" for name in means)
        print(f"{trips:,} of {devices:,}: {said}; {near} of {len(found)} within two errors", flush=True)
    save(options.out / "absent.json", results)


if __name__ == "__main__":
    main()
