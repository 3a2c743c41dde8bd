"""The clients that devices install: how long a report takes, and a campaign that all three answer.

    make clients
    python -m benchmarks.clients [--dist dist] [--java 30000] [--python 30000] [--javascript 1000]

Prints milliseconds per report of each client, in one warm process, for a trip of 200 points. Then devices of all
three answer a campaign of a server on this machine, one request each; a twentieth of them sends twice. Every answer
must be counted once, or it says so and ends with status 1.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.server import CONNECTIONS, counted, load, waiting
from ldptrace.audit import CommandDevice
from ldptrace.audit.client import reports_of, trip_lines
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.server import campaigns
from ldptrace.server.storage import open_database

ROOT = Path(__file__).parents[1]
PLAN = Plan.single_report(Grid((0.0, 0.0, 6.0, 6.0), 6), 1, time=True)
TRIP: list[Sequence[float]] = [(6 * k / 200, 3 + 2 * np.sin(k / 20), 1.78e9 + 10 * k) for k in range(200)]
WARM, TIMED = 2_000, 4_000


def commands(dist: Path) -> dict[str, str]:
    """What starts each client."""
    return {
        "java": f"java -jar {dist / 'ldptrace-device.jar'} lines --ledgers {{ledgers}}",
        "python": f"{sys.executable} -m ldptrace.device.program lines --ledgers {{ledgers}}",
        "javascript": f"node {ROOT / 'clients' / 'js' / 'bin' / 'lines.js'} --ledgers {{ledgers}}",
    }


def speed(name: str, command: str) -> None:
    line = {"plan": PLAN.to_json(), "trips": trip_lines([TRIP])}
    with tempfile.TemporaryDirectory() as folder, CommandDevice(command, Path(folder)) as device:
        begin = time.perf_counter()
        reports_of(device, line, 1)
        first = time.perf_counter() - begin
        reports_of(device, line, WARM)
        begin = time.perf_counter()
        reports_of(device, line, TIMED)
        each = (time.perf_counter() - begin) / TIMED
    print(f"{name:12} {1000 * each:8.3f} ms per report; the first after {1000 * first:.0f} ms", flush=True)


def drawn(command: str, document: str, count: int) -> np.ndarray:
    """Reports of this many devices, each with a ledger of its own."""
    line = {"plan": document, "trips": trip_lines([TRIP])}
    with tempfile.TemporaryDirectory() as folder, CommandDevice(command, Path(folder)) as device:
        reports = reports_of(device, line, count)
    return np.frombuffer(b"".join(reports), dtype=np.uint8).reshape(count, -1)


def campaign(clients: dict[str, str], devices: dict[str, int]) -> int:
    """All devices answer one campaign; how many answers are missing or too many."""
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(folder)
        campaigns.create(database, "load", PLAN, actor="benchmark")
        campaigns.open_round(database, "load", actor="benchmark")
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        serve = [sys.executable, "-m", "ldptrace", "serve", "--port", str(port), "--data", folder]
        server = subprocess.Popen(serve, stderr=subprocess.DEVNULL)
        try:
            document = plan_of(port)
            rows = np.concatenate([drawn(clients[name], document, count) for name, count in devices.items()])
            rng = np.random.default_rng(1)
            rng.shuffle(rows)
            done, took, waits = asyncio.run(load(port, rows, 1, CONNECTIONS, 1e9))
            print(
                f"{done:,} answers in {took:.0f} s, {done / took:,.0f} per second; {waiting(waits)}",
                flush=True,
            )
            again = rows[rng.random(len(rows)) < 0.05]
            twice, _, _ = asyncio.run(load(port, again, 1, CONNECTIONS, 1e9))
            print(f"{len(again):,} of them sent again, {twice} counted again", flush=True)
        finally:
            server.terminate()
            server.wait()
        return abs(counted(database) - sum(devices.values())) + twice


def plan_of(port: int) -> str:
    """The campaign's plan, once the server answers."""
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/campaigns/load/plan") as answer:
                return str(answer.read().decode())
        except OSError:
            time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where `make clients` put the jar")
    parser.add_argument("--java", type=int, default=30_000)
    parser.add_argument("--python", type=int, default=30_000)
    parser.add_argument("--javascript", type=int, default=1_000)
    parser.add_argument("--data", help="not used; every benchmark takes it")
    given = parser.parse_args()
    clients = commands(given.dist)
    for name, command in clients.items():
        speed(name, command)
    devices = {name: getattr(given, name) for name in clients if getattr(given, name)}
    missing = campaign(clients, devices)
    print(f"answers that were not counted once: {missing}")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
