"""Speed of the path model: collecting, fitting and sampling, on coarse and fine grids.

    python -m benchmarks.path_model [--data FOLDER] [--repeats 3]

Targets on two cores: 300,000 reports drawn in 1 s, a fit in 1 s at N = 6 and 15 s at N = 24, six million
sampled trajectories per second at N = 6, one device report in 1 ms.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.data import oldenburg
from ldptrace.core.paths import CellPaths
from ldptrace.curator import Estimates
from ldptrace.curator.facts import Facts
from ldptrace.device import Reporter
from ldptrace.errors import FitWarning
from ldptrace.models.path.model import PathModel
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.simulation import collect

SAMPLES = 6_000_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the Oldenburg files")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FitWarning)
    data = oldenburg(arguments.data)
    print(f"{data.name}: {len(data.trajectories):,} devices")
    print(f"{'N':>3}{'collect s':>18}{'fit s':>18}{'sampled per s':>18}")
    for n in (6, 8, 12, 16, 24):
        plan = Facts(len(data.trajectories), 1.0, data.bounds, grid=n).plan()
        paths = CellPaths.from_trajectories(data.trajectories, Grid(data.bounds, n))
        runs = []
        # The first run compiles and is not counted.
        for seed in range(arguments.repeats + 1):
            rng = np.random.default_rng(seed)
            begin = time.perf_counter()
            tally = collect(plan, paths, rng, mode="devices")
            collected = time.perf_counter()
            model = PathModel.fit(Estimates.from_tally(plan, tally))
            fitted = time.perf_counter()
            model.sample_paths(1000, rng)
            prepared = time.perf_counter()
            model.sample_paths(SAMPLES, rng)
            runs.append((collected - begin, fitted - collected, SAMPLES / (time.perf_counter() - prepared)))
        mean, spread = np.mean(runs[1:], axis=0), np.std(runs[1:], axis=0)
        cells = [f"{mean[0]:.2f} ±{spread[0]:.2f}", f"{mean[1]:.2f} ±{spread[1]:.2f}"]
        cells.append(f"{mean[2] / 1e6:.1f} ±{spread[2] / 1e6:.1f} M")
        print(f"{n:>3}" + "".join(f"{cell:>18}" for cell in cells), flush=True)
    _device(Facts(300_000, 1.0, data.bounds, grid=6).plan())


def _device(plan: Plan) -> None:
    """One report in plain Python, points to bytes."""
    reporter = Reporter(plan, "none")
    x0, y0, x1, y1 = plan.grid.bounds
    points = [(x0 + (x1 - x0) * k / 70, y0 + (y1 - y0) * k / 90) for k in range(70)]
    sizes, begin, count = set(), time.perf_counter(), 1000
    for _ in range(count):
        sizes.add(len(reporter.report(points)))
    each = (time.perf_counter() - begin) / count
    print(f"one device report from 70 points: {1e3 * each:.3f} ms, {sizes} bytes")


if __name__ == "__main__":
    main()
