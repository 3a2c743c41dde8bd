"""Cost against size: time and peak memory of `synthesize` from folder to folder, and of fits on fine grids.

    python -m benchmarks.size [--largest 20000000] [--engine local|spark] [--grids 6,12,24,48] [--data FOLDER]

Each run is a process of its own, from its start to its end. The folders are generated in a temporary place, one at a
time, and removed. Peak memory must not grow with the number of trajectories; time per trajectory must not either.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from benchmarks.data import CITY_SIDE, oldenburg
from ldptrace.core.paths import CellPaths
from ldptrace.curator import Estimates
from ldptrace.curator.planning import choose_plan
from ldptrace.errors import FitWarning
from ldptrace.generators import city
from ldptrace.models.path.model import PathModel
from ldptrace.protocol.grid import Grid
from ldptrace.simulation import collect

PART = 500_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--largest", type=int, default=2_000_000)
    parser.add_argument("--engine", choices=("local", "spark"), default="local")
    parser.add_argument("--grids", default="6,12,24,48", help="cells per side of the fits; empty: none")
    parser.add_argument("--data", type=Path, help="folder with the Oldenburg files, for the fits")
    arguments = parser.parse_args()
    sizes = [size for size in (arguments.largest // 100, arguments.largest // 10, arguments.largest) if size]
    print(f"{'trajectories':>13}{'how':>12}{'s':>9}{'CPU s':>9}{'us each':>9}{'peak GiB':>10}")
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="ldptrace-size-") as name:
            source = Path(name, "real")
            generate(source, size)
            for memory in ("512M", "1T") if arguments.engine == "local" and size <= 2_000_000 else ("512M",):
                target = Path(name, f"out-{memory}" + (".parquet" if memory == "1T" else ""))
                how = "in memory" if memory == "1T" else arguments.engine
                report(size, how, *measured(source, target, arguments.engine, memory))
    for n in [int(text) for text in arguments.grids.split(",") if text]:
        fit(n, arguments.data)


def generate(folder: Path, count: int) -> None:
    """A folder of Parquet files: a city's trips over and over."""
    folder.mkdir()
    base = city(min(100_000, count), seed=1, interval=60.0)
    for number, start in enumerate(range(0, count, PART)):
        chosen = np.arange(start, min(start + PART, count)) % len(base)
        pq.write_table(base.take(chosen).to_arrow(), folder / f"part-{number:05d}.parquet")


def measured(source: Path, target: Path, engine: str, memory: str) -> tuple[float, float, float]:
    """Seconds, seconds of the processors, and peak GiB of one command."""
    command = [sys.executable, "-c", "from ldptrace.cli import main; main()", "synthesize", source]
    command += ["-o", target, "--epsilon", "1"]
    command += ["--bounds", f"0,0,{CITY_SIDE:g},{CITY_SIDE:g}", "--seed", "1", "--grid", "6"]
    command += ["--engine", engine, "--memory", memory, "--outside", "clamp"]
    begin = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"the command failed with status {status}")
    return time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024**2


def report(size: int, how: str, seconds: float, processor: float, peak: float) -> None:
    print(
        f"{size:>13,}{how:>12}{seconds:>9.2f}{processor:>9.2f}{1e6 * seconds / size:>9.2f}{peak:>10.2f}",
        flush=True,
    )


def fit(n: int, folder: Path | None) -> None:
    """One fit in this process: seconds, seconds of the processors, peak so far."""
    warnings.simplefilter("ignore", FitWarning)
    data = oldenburg(folder, (1,))
    plan, _ = choose_plan(len(data.trajectories), 1.0, data.bounds, n=n)
    paths = CellPaths.from_trajectories(data.trajectories, Grid(data.bounds, n))
    estimates = Estimates.from_tally(plan, collect(plan, paths, np.random.default_rng(1)))
    begin, used = time.perf_counter(), time.process_time()
    model = PathModel.fit(estimates)
    seconds, processor = time.perf_counter() - begin, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    chi2 = np.average([match.chi2 for match in model.matches], weights=[m.answers for m in model.matches])
    print(
        f"fit N = {n:>2}: {seconds:7.1f} s, CPU {processor:7.1f} s, peak {peak:.2f} GiB, chi2 {chi2:.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
