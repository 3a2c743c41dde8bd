"""How large the components of the path model's prior are where noise is small: what the first guesses come from.

    python -m benchmarks.prior [--data FOLDER]

Four generated cities and, where the folder has it, Oldenburg: 100,000 users each, 6 x 6 cells, epsilon 8. Prints the
variance of each component for each, and the geometric mean, the cities together counting as much as Oldenburg.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np

from benchmarks.data import DataSet, generated, oldenburg
from benchmarks.tables import save
from ldptrace.core.paths import CellPaths
from ldptrace.curator import Estimates
from ldptrace.curator.planning import choose_plan
from ldptrace.errors import FitWarning
from ldptrace.models.path.model import PathModel
from ldptrace.protocol.grid import Grid
from ldptrace.simulation import collect

USERS, EPSILON = 100_000, 8.0


def variances(data: DataSet) -> dict[str, float]:
    """Variances of the components in a fit of nearly exact answers."""
    plan, _ = choose_plan(USERS, EPSILON, data.bounds, n=6)
    paths = CellPaths.from_trajectories(data.sample(USERS, 1).trajectories, Grid(data.bounds, 6))
    tally = collect(plan, paths, np.random.default_rng(1))
    return {
        name: scale**2
        for name, scale in (PathModel.fit(Estimates.from_tally(plan, tally)).scales or {}).items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    options = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    sets = [generated(seed, USERS) for seed in (1, 2, 3, 4)]
    real = oldenburg(options.data, (1,))
    if real.name == "Oldenburg":
        sets.append(real)
    found = {data.name: variances(data) for data in sets}
    print(f"{'':<20}" + "".join(f"{name:>12}" for name in (*found, "mean")))
    for component in next(iter(found.values())):
        logs = np.log([each[component] for each in found.values()])
        mean = np.exp(np.mean([logs[:4].mean(), *logs[4:]]))
        print(f"{component:<20}" + "".join(f"{np.exp(log):>12.4f}" for log in logs) + f"{mean:>12.4f}")
    save(options.out / "prior.json", found)


if __name__ == "__main__":
    main()
