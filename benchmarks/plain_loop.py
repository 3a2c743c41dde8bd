"""From Parquet to Parquet: the command beside a plain Python loop over the paper's steps, one trajectory at a time.

    python -m benchmarks.plain_loop [--trips 100000] [--few 2000] [--repeats 3]

Both use the paper's method (padded, every report drawn) on a 6 x 6 grid with epsilon 1. The loop works on the first
`--few` trips and its time is multiplied: every step but the first and the last costs the same for each trip. The
command's time includes its start; its loops were compiled before.
"""

from __future__ import annotations

import argparse
import math
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ldptrace.core.trajectories import Trajectories
from ldptrace.io import write

N, SIDE, EPSILON, CAP = 6, 1000.0, 1.0, 36
MOVES = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]


def trips(count: int) -> Trajectories:
    """Smooth walks of about 20 points over the map."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(10, 31, count)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    steps = rng.normal(0, 25, (2, offsets[-1])) + np.repeat(rng.normal(0, 25, (2, count)), sizes, axis=1)
    starts = rng.uniform(0, SIDE, (2, count))
    within = np.cumsum(steps, axis=1)
    within -= np.repeat(within[:, offsets[:-1]], sizes, axis=1)
    x, y = np.clip(within + np.repeat(starts, sizes, axis=1), 0, SIDE)
    return Trajectories(x, y, offsets)


def cells_of(xs: list[float], ys: list[float]) -> list[tuple[int, int]]:
    """Cells without repeats, gaps filled cell by cell (sections 5.2 and 5.4)."""
    path: list[tuple[int, int]] = []
    for x, y in zip(xs, ys, strict=True):
        cell = (min(int(x / SIDE * N), N - 1), min(int(y / SIDE * N), N - 1))
        while path and path[-1] != cell:
            i, j = path[-1]
            step = ((cell[0] > i) - (cell[0] < i), (cell[1] > j) - (cell[1] < j))
            path.append((i + step[0], j + step[1]))
        if not path:
            path.append(cell)
    return path


def oue(counts: list[int], item: int | None, flip: float) -> None:
    """One report of optimised unary encoding, counted."""
    for place in range(len(counts)):
        if random.random() < (0.5 if place == item else flip):
            counts[place] += 1


def debiased(counts: list[int], reports: int, flip: float) -> list[float]:
    return [max((count - reports * flip) / (0.5 - flip), 0.0) for count in counts]


def plain(source: Path, target: Path, few: int) -> None:
    """The paper's mechanism as one would write it down."""
    table = pq.read_table(source).slice(0, few)
    paths = [cells_of(x, y) for x, y in zip(table["x"].to_pylist(), table["y"].to_pylist(), strict=True)]
    lengths = [0] * CAP
    flip = 1 / (math.exp(EPSILON / 10) + 1)
    for path in paths:
        oue(lengths, min(len(path), CAP) - 1, flip)
    found = debiased(lengths, len(paths), flip)
    running, most = 0.0, 0
    while most < CAP - 1 and running < 0.9 * sum(found):
        running, most = running + found[most], most + 1
    numbers = {
        (cell, move): number
        for number, (cell, move) in enumerate(
            ((i, j), move)
            for i in range(N)
            for j in range(N)
            for move in MOVES
            if 0 <= i + move[0] < N and 0 <= j + move[1] < N
        )
    }
    flip = 1 / (math.exp(EPSILON * 0.9 / (most + 2)) + 1)
    steps, starts, ends = [0] * len(numbers), [0] * N * N, [0] * N * N
    for path in paths:
        kept = path[: most + 1]
        oue(starts, kept[0][0] * N + kept[0][1], flip)
        oue(ends, kept[-1][0] * N + kept[-1][1], flip)
        for place in range(most):
            item = None
            if place + 1 < len(kept):
                (a, b), (c, d) = kept[place], kept[place + 1]
                item = numbers[(a, b), (c - a, d - b)]
            oue(steps, item, flip)
    moving = debiased(steps, len(paths) * most, flip)
    begin, end = (debiased(counts, len(paths), flip) for counts in (starts, ends))
    made: list[tuple[list[float], list[float]]] = []
    for _ in range(len(paths)):
        longest = random.choices(range(1, CAP + 1), found)[0]
        cell = divmod(random.choices(range(N * N), begin)[0], N)
        path = [cell]
        while len(path) < longest:
            ways = [move for move in MOVES if (cell, move) in numbers]
            weights = [moving[numbers[cell, move]] for move in ways]
            weights.append((0.3 + 0.2 * len(path)) * end[cell[0] * N + cell[1]])
            if sum(weights) == 0:
                break
            chosen = random.choices(range(len(weights)), weights)[0]
            if chosen == len(ways):
                break
            cell = (cell[0] + ways[chosen][0], cell[1] + ways[chosen][1])
            path.append(cell)
        x, y = ([(c[k] + random.random()) * SIDE / N for c in path] for k in (0, 1))
        made.append((x, y))
    pq.write_table(pa.table({"x": [x for x, _ in made], "y": [y for _, y in made]}), target)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trips", type=int, default=100_000)
    parser.add_argument("--few", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", help="not used; every benchmark takes it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "real.parquet"), Path(folder, "synthetic.parquet")
        write(trips(arguments.trips), source)
        command = [sys.executable, "-m", "ldptrace", "synthesize", str(source), "-o", str(target)]
        command += ["--epsilon", "1", "--bounds", f"0,0,{SIDE},{SIDE}", "--grid", str(N)]
        for method in ("paper", "single-report"):
            options = ["--method", method, "--simulation", "devices"]
            seconds = []
            for _ in range(arguments.repeats + 1):
                begin = time.perf_counter()
                subprocess.run([*command, *options], check=True, capture_output=True)
                seconds.append(time.perf_counter() - begin)
            ours = np.array(seconds[1:])
            print(f"{method:>14}, {arguments.trips:,} trips: {ours.mean():.2f} s +- {ours.std():.2f}")
            if method == "paper":
                quick = ours.mean()
        begin = time.perf_counter()
        plain(source, target, arguments.few)
        loop = (time.perf_counter() - begin) * arguments.trips / arguments.few
    print(f"    plain loop, {arguments.trips:,} trips: {loop:.1f} s ({arguments.few:,} trips, multiplied)")
    print(f"the command is {loop / quick:.0f} times as quick")


if __name__ == "__main__":
    main()
