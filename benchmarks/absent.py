"""Devices without a trip: what they cost, and how well their share is known.

    python -m benchmarks.absent [trips] [--data FOLDER] [--roads NETWORK] [--repeats N] [--epsilon E]
    python -m benchmarks.absent share [--data FOLDER] [--repeats N] [--epsilons E,E] [--grids N,auto]

`trips`: trips of Oldenburg, or of a generated city, among more devices than trips; all others answer null. Scores are
those of the trips alone; z is the error of the estimated share in its own standard errors. `share`: how often the
estimated share is within two of its errors, for 20,000 devices of both, nobody or a fifth of them without a trip. A run
that was stopped goes on: settings in OUT/absent_share.json are not measured again.
"""

from __future__ import annotations

import argparse
import json
import warnings
import zlib
from pathlib import Path

import numpy as np

from benchmarks.data import DataSet, generated, oldenburg
from benchmarks.tables import save
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator import Estimates
from ldptrace.curator.facts import Facts
from ldptrace.errors import FitWarning
from ldptrace.evaluation.metrics import Reference
from ldptrace.models import fit_model
from ldptrace.models.base import MobilityModel
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.protocol.plan import Plan
from ldptrace.roads import RoadNetwork, read_roads
from ldptrace.simulation import collect

CASES = ((20_000, 100_000), (80_000, 100_000), (100_000, 100_000))
SHOWN = ("density_error", "trip_error", "length_error")
DEVICES, AT_HOME = 20_000, (0.0, 0.2)


def fitted(
    trips: Trajectories,
    devices: int,
    plan: Plan,
    rng: np.random.Generator,
    roads: RoadNetwork | None = None,
) -> MobilityModel:
    """The model of one collection among this number of devices."""
    paths = CellPaths.from_trajectories(trips, plan.grid)
    at_home = np.full(devices - len(trips), paths.offsets[-1])
    everyone = CellPaths(paths.cells, np.concatenate([paths.offsets, at_home]), plan.grid)
    return fit_model(Estimates.from_tally(plan, collect(plan, everyone, rng)), public=roads, rng=rng)


def error_of(model: MobilityModel, truth: float) -> dict[str, float]:
    """The stated share without a trip, its stated error, and its true error in stated ones."""
    share = model.without_trip
    assert share is not None
    z = (max(share.value, 0.0) - truth) / share.std_error
    return {"share": share.value, "std_error": share.std_error, "z": z}


def run(
    trips: Trajectories,
    devices: int,
    bounds: Bounds,
    seed: int,
    *,
    epsilon: float = 1.0,
    roads: RoadNetwork | None = None,
) -> dict[str, float]:
    """Scores of one collection among this number of devices, and the error of the share in its standard errors."""
    rng, grid = np.random.default_rng(seed), Grid(bounds, 6)
    plan = Facts(devices, epsilon, bounds, grid=grid.n, for_map=roads is not None).plan()
    model = fitted(trips, devices, plan, rng, roads)
    scores = Reference.of(trips, grid, np.random.default_rng(0)).score(model.sample(len(trips), rng))
    return {name: scores[name] for name in SHOWN} | error_of(model, 1 - len(trips) / devices)


def shares(data: DataSet, epsilon: float, n: int | None, at_home: float, repeats: int) -> dict[str, float]:
    """How often the share of one setting is within two of its errors, and what is stated."""
    plan = Facts(DEVICES, epsilon, data.bounds, grid=n or "auto").plan()
    travelling = round(DEVICES * (1 - at_home))
    found = []
    for repeat in range(1, repeats + 1):
        # No two collections of the table share a seed.
        rng = np.random.default_rng(
            [zlib.crc32(data.name.encode()), round(10 * epsilon), n or 0, travelling, repeat]
        )
        trips = data.sample(travelling, int(rng.integers(2**63))).trajectories
        found.append(error_of(fitted(trips, DEVICES, plan, rng), at_home))
    z = np.array([each["z"] for each in found])
    return {
        "cells": plan.grid.n,
        "share": float(np.mean([each["share"] for each in found])),
        "std_error": float(np.mean([each["std_error"] for each in found])),
        "rms_z": float(np.sqrt(np.mean(z**2))),
        "within": int((np.abs(z) <= 2).sum()),
        "z": z.round(2).tolist(),
    }


def share_table(options: argparse.Namespace) -> None:
    """All settings, one line each."""
    grids = [None if word == "auto" else int(word) for word in options.grids.split(",")]
    file = options.out / "absent_share.json"
    results = json.loads(file.read_text()) if file.exists() else {}
    print(
        f"{'':<12}{'eps':>5}{'grid':>6}{'cells':>7}{'at home':>9}{'share':>9}{'stated error':>14}  within two"
    )
    for data in (oldenburg(options.data, (1,)), generated(5, 100_000)):
        for epsilon in (float(word) for word in options.epsilons.split(",")):
            for n in grids:
                for at_home in AT_HOME:
                    key = f"{data.name} {epsilon:g} {n or 'auto'} {at_home:g}"
                    found = results.get(key) or shares(data, epsilon, n, at_home, options.repeats)
                    print(
                        f"{data.name:<12}{epsilon:>5g}{n or 'auto':>6}{found['cells']:>7.0f}{at_home:>9.0%}"
                        f"{found['share']:>9.2%}{found['std_error']:>14.2%}{found['within']:>6.0f} of "
                        f"{options.repeats} (rms {found['rms_z']:.2f})",
                        flush=True,
                    )
                    results[key] = found
                    save(file, results, quiet=True)
    within = sum(found["within"] for found in results.values())
    print(f"within two stated errors: {within / (options.repeats * len(results)):.1%} of all collections")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=("trips", "share"), default="trips")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--roads", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--epsilons", default="1,5,20")
    parser.add_argument("--grids", default="6,auto")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    if options.what == "share":
        share_table(options)
        return
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
