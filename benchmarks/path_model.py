"""Speed of the path model: collecting, fitting, replicates of the noise and sampling, on coarse and fine grids.

    python -m benchmarks.path_model [--data FOLDER] [--repeats 3]

Collecting is in seconds by the clock, fits and replicates in seconds of processors, memory is the largest so far.
Targets on two cores: 300,000 reports drawn in 1 s, a fit in 1 s at N = 6 and epsilon 1, six million sampled
trajectories per second at N = 6, one device report in 1 ms.
"""

from __future__ import annotations

import argparse
import resource
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
    columns = "collect s", "fit s", "replicates s", "sampled per s", "memory"
    print(f"{'N':>3}{'eps':>4}" + "".join(f"{name:>18}" for name in columns))
    for n, epsilon in ((6, 1.0), (6, 4.0), (6, 8.0), (8, 1.0), (12, 1.0), (16, 1.0), (16, 4.0), (24, 1.0)):
        plan = Facts(len(data.trajectories), epsilon, data.bounds, grid=n).plan()
        paths = CellPaths.from_trajectories(data.trajectories, Grid(data.bounds, n))
        runs = []
        # The first run compiles and is not counted.
        for seed in range(arguments.repeats + 1):
            rng = np.random.default_rng(seed)
            begin = time.perf_counter()
            tally = collect(plan, paths, rng, mode="devices")
            collected, clocks = time.perf_counter() - begin, [time.process_time()]
            model = PathModel.fit(Estimates.from_tally(plan, tally))
            clocks.append(time.process_time())
            assert model.draws is not None
            clocks.append(time.process_time())
            model.sample_paths(1000, rng)
            prepared = time.perf_counter()
            model.sample_paths(SAMPLES, rng)
            runs.append((collected, *np.diff(clocks), SAMPLES / (time.perf_counter() - prepared)))
        mean, spread = np.mean(runs[1:], axis=0), np.std(runs[1:], axis=0)
        cells = [f"{mean[k]:.2f} ±{spread[k]:.2f}" for k in range(3)]
        cells.append(f"{mean[3] / 1e6:.1f} ±{spread[3] / 1e6:.1f} M")
        cells.append(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
        print(f"{n:>3}{epsilon:>4g}" + "".join(f"{cell:>18}" for cell in cells), flush=True)
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
