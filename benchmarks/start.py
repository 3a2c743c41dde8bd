"""From the prompt to the result: start-up of the commands, a whole small run, and the first run on a new machine.

    python -m benchmarks.start [--data FOLDER] [--repeats 5]

Targets on two cores: `--help` and `--version` well below 0.5 s; 100,000 trajectories from Parquet to Parquet in 1.0 s
with everything compiled, process start included. Seconds are those of the clock, with the least of all runs, and those
of the processors: on a machine that has other things to do, compare the latter two. "new machine" is the same run with
an empty cache of numba.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.data import oldenburg
from ldptrace.io import write

PROGRAM = [sys.executable, "-m", "ldptrace"]


def measured(arguments: list[str], cache: Path) -> tuple[float, float]:
    """Seconds, and seconds of the processors, of one command."""
    # Python's own cache is part of a warm start too.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment | {"NUMBA_CACHE_DIR": str(cache)},
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"ldptrace {arguments[0]} failed with status {status}")
    return time.perf_counter() - begin, used.ru_utime + used.ru_stime


def row(name: str, runs: list[tuple[float, float]]) -> None:
    mean, spread = np.mean(runs, axis=0), np.std(runs, axis=0)
    cells = [f"{value:.2f} ±{by:.2f}" for value, by in zip(mean, spread, strict=True)]
    cells.insert(1, f"{min(seconds for seconds, _ in runs):.2f}")
    print(f"{name:<34}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the Oldenburg files")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    data = oldenburg(arguments.data, (1,))
    with tempfile.TemporaryDirectory() as name:
        folder, cache = Path(name), Path(name, "cache")
        write(data.trajectories, folder / "real.parquet")
        bounds = ["--bounds", ",".join(f"{value:g}" for value in data.bounds), "--outside", "clamp"]
        files = [str(folder / "real.parquet"), "-o", str(folder / "synthetic.parquet")]
        run = ["synthesize", *files, "--epsilon", "1", *bounds]
        print(f"{data.name}: {len(data.trajectories):,} trajectories")
        print(f"{'':<34}{'seconds':>16}{'least':>16}{'processor s':>16}")
        row("synthesize, new machine", [measured(run, cache)])
        for label, command in (
            ("--version", ["--version"]),
            ("--help", ["--help"]),
            ("inspect", ["inspect", files[0]]),
            ("synthesize", run),
            ("synthesize, 12 x 12 cells", [*run, "--grid", "12"]),
        ):
            measured(command, cache)
            row(label, [measured(command, cache) for _ in range(arguments.repeats)])


if __name__ == "__main__":
    main()
