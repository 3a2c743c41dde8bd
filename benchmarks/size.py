"""Cost against size: time and peak memory of `synthesize` and `evaluate` on folders, and of fits on fine grids.

    python -m benchmarks.size [--sizes 100000,500000,2500000] [--engines local,memory,spark]
                              [--tasks synthesize,evaluate] [--largest 20000000] [--grids 6,12,24,48]
                              [--epsilons 1,10] [--repeats 2] [--data FOLDER] [--work FOLDER] [--out FOLDER]
    python -m benchmarks.size --draw size.json [--out FOLDER]

Each run is a process of its own that starts its engine, does the same with few trajectories, and is measured from then
on: seconds of the clock, of the processors (its own and those of all processes it started), and the peak of each kind
of process. `local` is the default setting, `memory` reads everything first, `spark` is local[2]; each is beside the
first. The folders are generated one at a time, and removed; the largest is synthesised in batches only. Neither peak
memory nor time per trajectory may grow with the number of them.

Wanted on two cores: in batches at least 70 % as quick as from memory, below 2 GiB; Spark at most twice as long; fits of
24 x 24 cells in 15 s, of 48 x 48 in 90 s, below 3 GiB.

Fits are of several collections, each beside its grid, mean and spread. What was measured is in size.json, and size.svg
draws the curves of cost against size: processor seconds, which other work on the machine changes least.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks.data import CITY_SIDE, oldenburg
from ldptrace.cli.evaluate import open_sets
from ldptrace.core.paths import CellPaths
from ldptrace.core.reading import Reading
from ldptrace.core.running import Running
from ldptrace.curator import Estimates
from ldptrace.curator.facts import Facts
from ldptrace.errors import FitWarning
from ldptrace.evaluation.evaluator import evaluate
from ldptrace.generators import city
from ldptrace.io import read
from ldptrace.models.path.model import PathModel
from ldptrace.protocol.grid import Grid
from ldptrace.settings import Settings
from ldptrace.simulation import collect
from ldptrace.synthesis import run as synthesised

PART, FEW = 500_000, 20_000
BOUNDS = (0.0, 0.0, CITY_SIDE, CITY_SIDE)
WORDS = {"local": "in batches", "memory": "as a whole", "spark": "Spark, two tasks at a time"}
MEMORY = {"local": 512 << 20, "memory": 1 << 40, "spark": 512 << 20}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="100000,500000,2500000", help="trajectories of the folders")
    parser.add_argument("--engines", default="local,memory,spark")
    parser.add_argument("--tasks", default="synthesize,evaluate")
    parser.add_argument("--largest", type=int, default=20_000_000, help="synthesised in batches; 0: nothing")
    parser.add_argument("--grids", default="6,12,24,48", help="cells per side of the fits; empty: none")
    parser.add_argument("--epsilons", default="1,10", help="epsilons of the fits")
    parser.add_argument("--repeats", type=int, default=2, help="collections that are fitted")
    parser.add_argument("--data", type=Path, help="folder with the Oldenburg files, for the fits")
    parser.add_argument("--work", type=Path, help="where folders are generated; else the temporary folder")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"), help="where the curves go")
    parser.add_argument("--draw", type=Path, metavar="FILE", help="only draw what was measured before")
    parser.add_argument("--one", nargs=4, metavar=("TASK", "ENGINE", "FEW", "MANY"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one(*arguments.one)
        return
    if arguments.draw:
        draw(json.loads(arguments.draw.read_text()), arguments.out)
        return
    runs: list[dict[str, Any]] = []
    print(
        f"{'trajectories':>13} {'task':<11}{'engine':<8}{'s':>8}{'CPU s':>8}{'us each':>9}{'CPU us':>8}  peak GiB"
    )
    engines = {size: arguments.engines.split(",") for size in numbers(arguments.sizes)}
    tasks = dict.fromkeys(engines, arguments.tasks.split(","))
    if arguments.largest:
        engines[arguments.largest], tasks[arguments.largest] = ["local"], ["synthesize"]
    for size in engines:
        with tempfile.TemporaryDirectory(prefix="ldptrace-size-", dir=arguments.work) as name:
            few, many = Path(name, "few"), Path(name, "many")
            generate(few, min(size, FEW))
            generate(many, size)
            for task in tasks[size]:
                done = [report(size, task, engine, few, many) for engine in engines[size]]
                for other in done[1:]:
                    ratio = other["seconds"] / done[0]["seconds"]
                    print(f"{'':>14}{other['engine']} takes {ratio:.2f} times as long as {done[0]['engine']}")
                runs += done
    for epsilon in [float(text) for text in arguments.epsilons.split(",")]:
        for n in numbers(arguments.grids):
            runs.append(fit(n, epsilon, arguments.repeats, arguments.data))
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "size.json").write_text(json.dumps(runs, indent=1) + "\n")
    draw(runs, arguments.out)


def numbers(text: str) -> list[int]:
    """Whole numbers with commas between them; none at all of an empty text."""
    return [int(part) for part in text.split(",") if part]


def generate(folder: Path, count: int) -> None:
    """A folder of Parquet files: a city's trips over and over."""
    folder.mkdir()
    base = city(min(100_000, count), seed=1, interval=60.0)
    for number, start in enumerate(range(0, count, PART)):
        chosen = np.arange(start, min(start + PART, count)) % len(base)
        pq.write_table(base.take(chosen).to_arrow(), folder / f"part-{number:05d}.parquet")


def report(size: int, task: str, engine: str, few: Path, many: Path) -> dict[str, Any]:
    """Measure one task in a process of its own, and print it."""
    command = [sys.executable, "-m", "benchmarks.size", "--one", task, engine, few, many]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found = json.loads(done.stdout.splitlines()[-1])
    peaks = ", ".join(f"{name} {peak / 2**20:.2f}" for name, peak in found["peaks"].items())
    seconds, processor = found["seconds"], found["processor"]
    print(
        f"{size:>13,} {task:<11}{engine:<8}{seconds:>8.1f}{processor:>8.1f}{1e6 * seconds / size:>9.2f}"
        f"{1e6 * processor / size:>8.2f}  {peaks}",
        flush=True,
    )
    measured = {"seconds": seconds, "processor": processor, "peaks": found["peaks"]}
    return {"task": task, "engine": engine, "size": size, **measured}


def one(task: str, engine: str, few: str, many: str) -> None:
    """Start the engine, do the task with few trajectories, and measure it with many."""
    os.environ.setdefault("SPARK_MASTER_URL", "local[2]")
    warnings.simplefilter("ignore")
    with ExitStack() as resources:
        if engine == "spark":
            from ldptrace.engines.spark import Spark

            resources.enter_context(Spark.start())
        work = {"synthesize": synthesized, "evaluate": evaluated}[task]
        work(engine, Path(few))
        begin, used = time.perf_counter(), tree(os.getpid())[0]
        work(engine, Path(many))
        seconds = time.perf_counter() - begin
        processor, peaks = tree(os.getpid())
    print(json.dumps({"seconds": seconds, "processor": processor - used, "peaks": peaks}))


def running(engine: str) -> Running:
    """Where and in how much memory an engine works."""
    return Running("spark" if engine == "spark" else "local", MEMORY[engine], batches=True)


def synthesized(engine: str, source: Path) -> None:
    """From folder to folder."""
    target = source.with_name(f"{source.name}-{engine}")
    shutil.rmtree(target, ignore_errors=True)
    settings = Settings.of(1.0, bounds=BOUNDS, outside="clamp", grid=6, seed=1)
    real = read(source, bounds=BOUNDS, outside="clamp") if engine == "memory" else source
    synthesised(real, settings, target, running=running(engine))


def evaluated(engine: str, source: Path) -> None:
    """The folder beside what the local engine makes of it."""
    made = source.with_name(f"{source.name}-local")
    if not made.exists():
        synthesized("local", source)
    with ExitStack() as resources:
        sets = open_sets(running(engine), source, [made], Reading(), resources)
        evaluate(*sets, bounds=BOUNDS, outside="clamp", seed=1)


def tree(process: int) -> tuple[float, dict[str, int]]:
    """Seconds of the processors of a process and all below it, and the peak in kB of each kind of process."""
    below: dict[int, list[int]] = {}
    seconds, peaks = {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            name, rest = (entry / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            status = dict(
                line.split(":", 1) for line in (entry / "status").read_text().splitlines() if ":" in line
            )
        except (OSError, IndexError):
            continue
        fields, number = rest.split(), int(entry.name)
        below.setdefault(int(fields[1]), []).append(number)
        seconds[number] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        peaks[number] = (name, int(status.get("VmHWM", "0 kB").split()[0]))
    waiting, total, largest = [process], 0.0, dict[str, int]()
    while waiting:
        number = waiting.pop()
        total += seconds.get(number, 0.0)
        name, peak = peaks.get(number, ("gone", 0))
        name = "this process" if number == process else name
        largest[name] = max(largest.get(name, 0), peak)
        waiting += below.get(number, [])
    return total, largest


def fit(n: int, epsilon: float, repeats: int, folder: Path | None) -> dict[str, Any]:
    """Fits in this process: seconds, seconds of the processors, misfit; the peak so far."""
    warnings.simplefilter("ignore", FitWarning)
    data = oldenburg(folder, (1,))
    runs = []
    # One of few cells first, so that all is compiled.
    for size, seed in [(6 if n <= 8 else 9, 0), *((n, seed) for seed in range(1, repeats + 1))]:
        plan = Facts(len(data.trajectories), epsilon, data.bounds, grid=size).plan()
        paths = CellPaths.from_trajectories(data.trajectories, Grid(data.bounds, size))
        estimates = Estimates.from_tally(plan, collect(plan, paths, np.random.default_rng(seed)))
        begin, used = time.perf_counter(), time.process_time()
        matches = PathModel.fit(estimates).matches
        spent = time.perf_counter() - begin, time.process_time() - used
        chi2 = np.average([match.chi2 for match in matches], weights=[match.answers for match in matches])
        if seed:
            runs.append((*spent, chi2))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    cells = [
        f"{mean:7.2f} ±{spread:.2f}" for mean, spread in zip(np.mean(runs, 0), np.std(runs, 0), strict=True)
    ]
    print(
        f"fit N = {n:>2}, eps = {epsilon:g}: {cells[0]} s, CPU {cells[1]} s, chi2 {cells[2]}, peak {peak:.2f} GiB",
        flush=True,
    )
    return {"task": "fit", "epsilon": epsilon, "n": n, "processor": [run[1] for run in runs], "peak": peak}


def draw(runs: list[dict[str, Any]], folder: Path) -> None:
    """Three panels: processor seconds and peak memory against trajectories, processor seconds of fits against cells."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    folder.mkdir(parents=True, exist_ok=True)
    figure, (seconds, memory, fits) = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
    for task, engine in dict.fromkeys((run["task"], run["engine"]) for run in runs if run["task"] != "fit"):
        own = sorted(
            (run for run in runs if run["task"] == task and run["engine"] == engine),
            key=lambda run: run["size"],
        )
        sizes, name = [run["size"] for run in own], f"{task}, {WORDS[engine]}"
        seconds.loglog(sizes, [run["processor"] for run in own], marker="o", label=name)
        peaks = [max(run["peaks"].values()) / 2**20 for run in own]
        memory.loglog(sizes, peaks, marker="o", label=name)
    for epsilon in dict.fromkeys(run["epsilon"] for run in runs if run["task"] == "fit"):
        own = [run for run in runs if run.get("epsilon") == epsilon]
        means, spread = ([how(run["processor"]) for run in own] for how in (np.mean, np.std))
        fits.errorbar(
            [run["n"] for run in own], means, spread, marker="o", capsize=3, label=f"epsilon {epsilon:g}"
        )
    fits.set_xscale("log", base=2)
    fits.set_yscale("log")
    grids = sorted({run["n"] for run in runs if run["task"] == "fit"})
    fits.set_xticks(grids, [str(n) for n in grids])
    for axis, x, y in (
        (seconds, "trajectories", "processor seconds"),
        (memory, "trajectories", "peak of a process, GiB"),
        (fits, "cells per side", "processor seconds of a fit"),
    ):
        axis.set_xlabel(x)
        axis.set_ylabel(y)
        axis.grid(alpha=0.3)
        if axis.get_legend_handles_labels()[1]:  # else nothing of it was measured
            axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.yaxis.set_major_formatter("{x:g}")
            axis.yaxis.set_minor_formatter(NullFormatter())
    if grids:
        fits.legend(fontsize=8)
    handles, names = seconds.get_legend_handles_labels()
    if names:
        figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    figure.savefig(folder / "size.svg", metadata={"Date": None})
    print(f"curves: {folder / 'size.svg'}")


if __name__ == "__main__":
    main()
