"""Speed of reading and writing, format by format.

    python -m benchmarks.files [--data FOLDER] [--repeats 3] [--text 20000]

Parquet carries the whole set, the text formats its first trajectories. Prints wall seconds, best of the repeats,
and million points per second.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.data import oldenburg
from ldptrace.core.trajectories import Trajectories
from ldptrace.io import read, write


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the Oldenburg files")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--text", type=int, default=20_000, help="trajectories in the text formats")
    arguments = parser.parse_args()
    real = oldenburg(arguments.data).trajectories
    few = real.take(np.arange(min(arguments.text, len(real))))
    print(f"{'format':<12}{'points':>12}{'MB':>8}{'write s':>10}{'read s':>10}{'read M points/s':>17}")
    with TemporaryDirectory() as folder:
        for extension in ("parquet", "csv", "csv.gz", "dat", "geojson", "gpx"):
            path = Path(folder, f"set.{extension}")
            trajectories = real if extension == "parquet" else few
            if extension == "gpx":
                trajectories = as_degrees(trajectories)
            written = best(partial(write, trajectories, path), arguments.repeats)
            seconds = best(partial(read, path), arguments.repeats)
            print(
                f"{extension:<12}{trajectories.points:>12,}{path.stat().st_size / 1e6:>8.0f}{written:>10.2f}"
                f"{seconds:>10.2f}{trajectories.points / seconds / 1e6:>17.1f}"
            )


def as_degrees(trajectories: Trajectories) -> Trajectories:
    """Planar points called degrees; only GPX insists on them."""
    return replace(trajectories, x=trajectories.x / 1e3, y=trajectories.y / 1e3, crs="EPSG:4326")


def best(work: Callable[[], object], repeats: int) -> float:
    """Shortest of a few runs."""
    spent = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begin)
    return min(spent)


if __name__ == "__main__":
    main()
