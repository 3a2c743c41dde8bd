"""Speed of the evaluation: nine metrics and two attacks on 300,000 real and 300,000 synthetic trajectories.

    python -m benchmarks.evaluation [--data FOLDER] [--repeats 5] [--skip-scorecard]

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
from ldptrace.evaluation.controls import map_alone, plain_routing
from ldptrace.evaluation.evaluator import evaluate, resilience
from ldptrace.evaluation.measured import MATCHED, StreetUse
from ldptrace.evaluation.metrics import Reference
from ldptrace.evaluation.queries import resample
from ldptrace.evaluation.traces import Traces
from ldptrace.protocol.grid import Grid
from ldptrace.roads.matching import StreetIndex
from ldptrace.roads.network import RoadNetwork


def published(real: Trajectories, grid: Grid, rng: np.random.Generator) -> Trajectories:
    """A bootstrap of the real paths, one point per cell."""
    paths = CellPaths.from_trajectories(real, grid)
    paths = paths.take(rng.integers(0, len(paths), len(paths)))
    sizes = np.where(paths.sizes == 1, 2, paths.sizes)
    x, y = resample(paths, rng)
    x0, y0, x1, y1 = grid.bounds
    return Trajectories(x.clip(x0, x1), y.clip(y0, y1), np.concatenate(([0], np.cumsum(sizes))), crs=real.crs)


def oldenburg_roads(folder: Path | None) -> RoadNetwork | None:
    """The Oldenburg road network, where the folder holds it."""
    files = [folder / f"oldenburg_{kind}.csv" for kind in ("nodes", "edges")] if folder else []
    if not files or not all(file.exists() for file in files):
        return None
    nodes, edges = (np.genfromtxt(file, delimiter=",", skip_header=1) for file in files)
    order = np.argsort(nodes[:, 0])
    a, b = (order[np.searchsorted(nodes[order, 0], edges[:, column])] for column in (1, 2))
    ways = RoadNetwork.of(nodes[:, 1], nodes[:, 2], np.concatenate((a, b)), np.concatenate((b, a)))
    return ways.largest_component()


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
    parser.add_argument(
        "--skip-scorecard", action="store_true", help="leave out attacks and whole scorecards"
    )
    arguments = parser.parse_args()
    data = oldenburg(arguments.data)
    real, grid, rng = data.trajectories, Grid(data.bounds, 6), np.random.default_rng(1)
    synthetic = published(real, grid, rng)
    print(
        f"{data.name}: {len(real):,} trajectories, {real.points:,} real and {synthetic.points:,} synthetic points\n"
    )
    print(f"  {'':<34}{'seconds':>9}{'spread':>9}{'best':>9}")
    reference = Reference.of(real, grid, rng)
    repeats = arguments.repeats
    measured("nine metrics, both sides", lambda: Reference.of(real, grid, rng).score(synthetic), repeats, 6.0)
    measured("  the real side alone", lambda: Reference.of(real, grid, rng), repeats)
    measured("  one more synthetic set", lambda: reference.score(synthetic), repeats)
    measured("lines of the real set", lambda: Traces.of(real, grid), repeats)
    measured("lines of the synthetic set", lambda: Traces.of(synthetic, grid), repeats)
    roads = oldenburg_roads(arguments.data)
    if roads is not None:
        streets = StreetIndex.of(roads)
        some = real.take(np.arange(min(MATCHED, len(real))))
        measured(f"{len(some):,} trips matched to streets", lambda: StreetUse.of(streets, some), repeats)
        measured("plain routing", lambda: plain_routing(roads, synthetic, rng), repeats)
        measured("the map alone", lambda: map_alone(roads, rng), repeats)
    if not arguments.skip_scorecard:
        measured(
            "both attacks with comparisons", lambda: resilience(real, synthetic, grid=grid), repeats, 30.0
        )
        measured("whole scorecard, three repeats", lambda: evaluate(real, synthetic, grid=grid), 1)
        if roads is not None:
            measured("  with a road network", lambda: evaluate(real, synthetic, grid=grid, roads=roads), 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"\npeak memory {peak:.2f} GiB, at most 4 GiB: {'kept' if peak <= 4 else 'MISSED'}")


if __name__ == "__main__":
    main()
