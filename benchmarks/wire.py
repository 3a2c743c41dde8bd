"""Speed of a device and of the curator's door.

    python -m benchmarks.wire [--reports 2000000]

Prints the time to import the device package, the time of one report, its size, and how many reports per second one
core counts from a file, for one report per user and for the second round of the paper's mechanism.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ldptrace.curator.receive import Receiver
from ldptrace.device import Reporter
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import report_bytes

GRID = Grid((0.0, 0.0, 6.0, 6.0), 6)
PLANS = {
    "one report per user": (Plan.single_report(GRID, 1.0), 0),
    "paper, second round, L_k = 7": (Plan.paper(GRID, 1.0).paper_second_round(7), 1),
}
IMPORT = "import time; t = time.perf_counter(); import ldptrace.device; print(time.perf_counter() - t)"
CHUNK = 1 << 24


def import_seconds() -> float:
    """The best of several fresh interpreters, compiled files present."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PYTHONPYCACHEPREFIX": folder}
        command = [sys.executable, "-c", IMPORT]
        runs = [subprocess.run(command, env=environment, capture_output=True, check=True) for _ in range(8)]
    return min(float(run.stdout) for run in runs)


def made_reports(plan: Plan, number: int, count: int) -> np.ndarray:
    """Reports of devices with short random trajectories, repeated with fresh ids to make many."""
    rng = np.random.default_rng(1)
    reporter = Reporter(plan, "none")
    some = [reporter.draw(rng.uniform(0, 6, size=(4, 2)).tolist(), number) for _ in range(min(count, 5000))]
    rows = np.frombuffer(b"".join(some), dtype=np.uint8).reshape(len(some), -1)
    many = np.tile(rows, (-(-count // len(rows)), 1))[:count]
    many[:, 23:39] = rng.integers(0, 256, size=(count, 16), dtype=np.uint8)
    return many


def counted_per_second(plan: Plan, number: int, path: Path) -> float:
    """Reading the file and counting it, in pieces, on one core."""
    size = report_bytes(plan.rounds[number])
    receiver, reports = Receiver(plan, number), 0
    started = time.process_time()
    with open(path, "rb") as file:
        while batch := file.read(CHUNK // size * size):
            codes = receiver.receive(batch)
            reports += int((codes == 0).sum())
    return reports / (time.process_time() - started)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reports", type=int, default=2_000_000)
    arguments = parser.parse_args()
    print(f"import ldptrace.device: {1000 * import_seconds():.0f} ms")
    points = [(0.08 * k, 0.05 * k) for k in range(70)]
    for name, (plan, number) in PLANS.items():
        reporter = Reporter(plan, "none")
        started = time.process_time()
        for _ in range(1000):
            reporter.report(points)
        each = time.process_time() - started
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "reports")
            count = max(arguments.reports // (1 if number == 0 else 5), 1)
            file.write_bytes(made_reports(plan, number, count).tobytes())
            Receiver(plan, number).receive(file.read_bytes()[: report_bytes(plan.rounds[number])])
            rate = max(counted_per_second(plan, number, file) for _ in range(3))
        print(
            f"{name}: {report_bytes(plan.rounds[number])} bytes, {each:.3f} ms per report of 70 points, "
            f"{rate / 1e6:.2f} million counted per second and core"
        )


if __name__ == "__main__":
    main()
