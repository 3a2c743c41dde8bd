"""Speed of NGRAM on one core: on cells, linear in the number of trajectories, and with places.

python -m benchmarks.ngram [--data FOLDER]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.data import oldenburg
from ldptrace.core.paths import CellPaths
from ldptrace.core.pois import Visits
from ldptrace.generators import campus_walks
from ldptrace.protocol.grid import Grid
from ldptrace_lab.ngram.cells import Ngram
from ldptrace_lab.ngram.full import NgramFull, Regions


def microseconds(work: Callable[[], object], count: int) -> float:
    """Processor time of all threads together, so that it is that of one core; the best of three runs."""
    best = np.inf
    for _ in range(3):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best / count * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, help="folder with the experiment files; without it, generated data"
    )
    folder = parser.parse_args().data
    data = oldenburg(folder, (1,))
    rng = np.random.default_rng(1)
    for n in (6, 10):
        grid = Grid(data.bounds, n)
        paths = CellPaths.from_trajectories(data.trajectories, grid)
        for count in (20_000, 100_000):
            some = paths.take(np.arange(count))
            took = microseconds(lambda grid=grid, some=some: Ngram(grid, 1.0).perturb(some, rng), count)
            print(f"ngram, {data.name}, N = {n}, {count:,} trajectories: {took:.1f} microseconds each")
    buildings = folder / "ubcv_buildings.geojson" if folder else None
    walks = campus_walks(1, buildings=buildings if buildings and buildings.exists() else None)
    visits = Visits.of(walks.trips(2_000, rng))
    full = NgramFull(Regions.build(walks.pois), 1.0)
    took = microseconds(lambda: full.perturb(visits, rng), len(visits))
    print(
        f"ngram-full, campus of {len(walks.pois)} buildings, {full.regions.count} regions: {took / 1000:.2f} ms each"
    )


if __name__ == "__main__":
    main()
