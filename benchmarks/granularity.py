"""How unevenly cells are filled: what `ldptrace.curator.planning` assumes about a map, measured.

    python -m benchmarks.granularity [--data FOLDER]

For each N the answers of random range queries over a ninth of the map are compared with those of points spread
evenly over each cell. The planner predicts the mean error as c * sqrt(border cells) / cells in the query; c is printed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.data import DataSet, generated, oldenburg
from ldptrace.curator.planning import QUERY, UNEVENNESS
from ldptrace.protocol.grid import Grid

QUERIES = 400
SANITY = 0.01


def shape_error(data: DataSet, n: int, seed: int) -> float:
    """Mean relative error of the queries when every cell's points are spread evenly."""
    rng = np.random.default_rng(seed)
    x0, y0, x1, y1 = data.bounds
    x, y = data.trajectories.x, data.trajectories.y
    side = np.sqrt(QUERY * (x1 - x0) * (y1 - y0))
    left, low = x0 + rng.random(QUERIES) * (x1 - x0 - side), y0 + rng.random(QUERIES) * (y1 - y0 - side)
    grid = Grid(data.bounds, n)
    counts, x_edges, y_edges = np.histogram2d(x, y, bins=n, range=[(x0, x1), (y0, y1)])
    chosen = rng.integers(0, len(x), min(len(x), 400_000))
    errors = []
    for a, b in zip(left, low, strict=True):
        inside = (x[chosen] >= a) & (x[chosen] < a + side) & (y[chosen] >= b) & (y[chosen] < b + side)
        real = inside.mean()
        across = (
            np.clip(np.minimum(x_edges[1:], a + side) - np.maximum(x_edges[:-1], a), 0, None) / grid.step[0]
        )
        up = np.clip(np.minimum(y_edges[1:], b + side) - np.maximum(y_edges[:-1], b), 0, None) / grid.step[1]
        even = across @ counts @ up / counts.sum()
        errors.append(abs(real - even) / max(real, SANITY))
    return float(np.mean(errors))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the Oldenburg files")
    arguments = parser.parse_args()
    print(f"the planner assumes c = {UNEVENNESS}")
    print(f"{'data':<14}" + "".join(f"{f'N = {n}':>16}" for n in (6, 8, 12, 18, 24)))
    for data in (oldenburg(arguments.data, (1,)), generated(31, 50_000), generated(32, 50_000)):
        cells = []
        for n in (6, 8, 12, 18, 24):
            error = shape_error(data, n, 1)
            in_query, border = QUERY * n * n, 4 * np.sqrt(QUERY) * n
            cells.append(f"{error:.3f}, c = {error * in_query / np.sqrt(border):.2f}")
        print(f"{data.name:<14}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
