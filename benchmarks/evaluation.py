"""Speed of the evaluation: nine metrics and two attacks on 300,000 real and 300,000 synthetic trajectories.

    python -m benchmarks.evaluation [--data FOLDER] [--repeats 5]

The synthetic set is a bootstrap of the real one with one uniform point per cell: the size and the shape of what
a method publishes. Times are after compilation, mean and spread over the repeats. For scale: the public reference
implementation takes 33 s for the nine metrics of 20,000 trajectories.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.data import oldenburg
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation import Yardstick, evaluate, resilience, score
from ldptrace.evaluation.queries import resample
from ldptrace.protocol.grid import Grid


def published(real: Trajectories, grid: Grid, rng: np.random.Generator) -> Trajectories:
    """A bootstrap of the real paths, one point per cell."""
    paths = CellPaths.from_trajectories(real, grid)
    paths = paths.take(rng.integers(0, len(paths), len(paths)))
    sizes = np.where(paths.sizes == 1, 2, paths.sizes)
    x, y = resample(paths, rng)
    x0, y0, x1, y1 = grid.bounds
    return Trajectories(x.clip(x0, x1), y.clip(y0, y1), np.concatenate(([0], np.cumsum(sizes))), crs=real.crs)


def measured(name: str, work: Callable[[], object], repeats: int, limit: float | None = None) -> None:
    """Print how long the work takes."""
    work()
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    line = f"  {name:<34}{np.mean(seconds):>9.3f}{np.std(seconds):>9.3f}{min(seconds):>9.3f}"
    if limit is not None:
        line += f"   at most {limit:g} s: {'kept' if min(seconds) <= limit else 'MISSED'}"
    print(line)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the Oldenburg files")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    data = oldenburg(arguments.data)
    real, grid, rng = data.trajectories, Grid(data.bounds, 6), np.random.default_rng(1)
    synthetic = published(real, grid, rng)
    print(
        f"{data.name}: {len(real):,} trajectories, {real.points:,} real and {synthetic.points:,} synthetic points\n"
    )
    print(f"  {'':<34}{'seconds':>9}{'spread':>9}{'best':>9}")
    yardstick = Yardstick.of(real, grid, rng)
    repeats = arguments.repeats
    measured("nine metrics, both sides", lambda: score(real, synthetic, grid, rng), repeats, 6.0)
    measured("  the real side alone", lambda: Yardstick.of(real, grid, rng), repeats)
    measured("  one more synthetic set", lambda: yardstick.score(synthetic), repeats)
    measured("both attacks with comparisons", lambda: resilience(real, synthetic, grid=grid), repeats, 30.0)
    measured("whole scorecard, three repeats", lambda: evaluate(real, synthetic, grid=grid), 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"\npeak memory {peak:.2f} GiB, at most 4 GiB: {'kept' if peak <= 4 else 'MISSED'}")


if __name__ == "__main__":
    main()
