"""What `ldptrace.curator.planning` assumes about a map, and whether the N that it chooses is a good one, measured.

    python -m benchmarks.granularity [--data FOLDER]                    how unevenly cells are filled
    python -m benchmarks.granularity choice [--data FOLDER] [--repeats 3]   scores of several N beside the chosen one

For each N the answers of random range queries over a ninth of the map are compared with those of points spread
evenly over each cell. The planner predicts the mean error as c * sqrt(border cells) / cells in the query; c is printed.

`choice` synthesises with several N where the planner says that one between the multiples of six is best: the
predicted error, the measured error of the same queries, the divergence of densities on 24 x 24 cells, and the metrics
of the literature, which count on 6 x 6 cells whatever N is.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np

from benchmarks.data import DataSet, generated, oldenburg
from benchmarks.tables import repeated
from ldptrace.core.trajectories import Trajectories
from ldptrace.curator.planning import QUERY, UNEVENNESS, choose_grid, outlook
from ldptrace.protocol.grid import Grid
from ldptrace.synthesis import synthesize

# Metrics of the literature that `choice` shows.
SHOWN = ("density_error", "query_error", "trip_error", "length_error", "pattern_f1")
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


CASES = (
    (20_000, 4.0, (6, 8, 10, 12)),
    (100_000, 2.0, (6, 8, 10, 12)),
    (100_000, 5.0, (12, 14, 16, 18, 20)),
    (300_000, 2.0, (6, 8, 9, 10, 12)),
)


def choice(folder: Path | None, repeats: int) -> None:
    """Scores by N for numbers of users and epsilons between the literature's grids."""
    for everyone in (oldenburg(folder), generated(31, 300_000)):
        for users, epsilon, grids in CASES:
            data = everyone.sample(users, 1)
            print(
                f"{data.name}, {users:,} users, eps = {epsilon:g}: the planner says {choose_grid(users, epsilon)}"
            )
            print(
                f"{'N':>4}{'predicted':>11}{'queries':>18}{'density 24':>18}"
                + "".join(f"{m:>18}" for m in SHOWN)
            )
            for n in grids:
                _choice_row(data, epsilon, n, repeats)


def _choice_row(data: DataSet, epsilon: float, n: int, repeats: int) -> None:
    drawn = {
        seed: synthesize(data.trajectories, epsilon, bounds=data.bounds, grid=n, seed=seed)
        for seed in range(1, repeats + 1)
    }
    scores = repeated(data, drawn.__getitem__, repeats)
    scores["queries"] = [query_error(data, made, seed) for seed, made in drawn.items()]
    scores["density 24"] = [density_error(data, made, 24) for made in drawn.values()]
    cells = [
        f"{np.mean(scores[name]):.4f} ±{np.std(scores[name]):.4f}"
        for name in ("queries", "density 24", *SHOWN)
    ]
    predicted = outlook(len(data.trajectories), epsilon, n).error
    print(f"{n:>4}{predicted:>11.4f}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


def query_error(data: DataSet, made: Trajectories, seed: int) -> float:
    """Mean relative error of the share of points in random ninths of the map."""
    rng = np.random.default_rng(seed)
    x0, y0, x1, y1 = data.bounds
    wide, high = (x1 - x0) * np.sqrt(QUERY), (y1 - y0) * np.sqrt(QUERY)
    errors = []
    for _ in range(QUERIES // 4):
        a, b = x0 + rng.random() * (x1 - x0 - wide), y0 + rng.random() * (y1 - y0 - high)
        real, own = (
            np.mean((t.x >= a) & (t.x < a + wide) & (t.y >= b) & (t.y < b + high))
            for t in (data.trajectories, made)
        )
        errors.append(abs(real - own) / max(real, SANITY))
    return float(np.mean(errors))


def density_error(data: DataSet, made: Trajectories, n: int) -> float:
    """Jensen-Shannon divergence of the shares of points, n x n cells, in nats."""
    x0, y0, x1, y1 = data.bounds
    p, q = (
        np.histogram2d(t.x, t.y, bins=n, range=[(x0, x1), (y0, y1)])[0].ravel() / len(t.x)
        for t in (data.trajectories, made)
    )
    middle = (p + q) / 2
    return float(
        sum(np.sum(part[part > 0] * np.log(part[part > 0] / middle[part > 0])) for part in (p, q)) / 2
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=("unevenness", "choice"), default="unevenness")
    parser.add_argument("--data", type=Path, help="folder with the Oldenburg files")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.what == "choice":
        choice(arguments.data, arguments.repeats)
        return
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
