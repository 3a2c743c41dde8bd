"""The shuffler under load, and the opening of a batch, with the load on the same machine over loopback.

    python -m benchmarks.shuffler [--held 1000000] [--opened 300000]

Prints sealed reports per second, the shuffler's memory and the waiting times after each tenth of the reports that it
holds, how long it takes to close and send the batch, and how long the curator takes to open one. Reports that are held
are random bytes, because a shuffler cannot tell them from sealed ones.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np

from benchmarks.server import CONNECTIONS, PLAN, Link, memory, processor, waiting
from ldptrace.curator.opening import CuratorKey
from ldptrace.device import Reporter
from ldptrace.device.sealing import Sealer
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.shuffled import Shuffled
from ldptrace.server.opener import open_batch
from ldptrace.shuffler.served import Served
from ldptrace.shuffler.store import Store

# Different sealed reports; more are copies, which take as long to open.
DIFFERENT = 2_000


def plan_of(key: CuratorKey, until: int) -> Plan:
    """A shuffled plan that closes at this time."""
    delta, epsilon = Fraction(1, 10**8), Fraction(1)
    row = Shuffled(key.public, 2, Fraction(1), delta, epsilon, None, until, "Nobody", "http://localhost")
    return PLAN.changed(shuffled=row)


async def send(port: int, path: str, rows: np.ndarray) -> tuple[float, np.ndarray]:
    """Send single reports over some connections: seconds, and how long each waited."""
    size = rows.shape[1]
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/vnd.ldptrace.sealed\r\n"
        f"Content-Length: {size}\r\n\r\n"
    ).encode()
    loop, numbers, waits = asyncio.get_running_loop(), iter(range(len(rows))), []
    started = time.perf_counter()

    async def player() -> None:
        _, link = await loop.create_connection(Link, "127.0.0.1", port)
        for number in numbers:
            begin = time.perf_counter()
            status = await link.post(head, rows[number].tobytes())
            assert status == 200, status
            waits.append(time.perf_counter() - begin)

    await asyncio.gather(*(player() for _ in range(CONNECTIONS)))
    return time.perf_counter() - started, np.array(waits)


class Curator(BaseHTTPRequestHandler):
    """Takes a batch, and counts its bytes."""

    arrived: int = 0

    def do_PUT(self) -> None:
        left = int(self.headers["content-length"])
        while left:
            part = len(self.rfile.read(min(left, 1 << 20)))
            Curator.arrived, left = Curator.arrived + part, left - part
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def hold(folder: Path, held: int) -> None:
    """Measure the intake, and then the sending of the batch."""
    until = int(time.time()) + 10**7
    plan = plan_of(CuratorKey.drawn(), until)
    size = Served.of(plan).size
    curator = HTTPServer(("127.0.0.1", 0), Curator)
    threading.Thread(target=curator.handle_request, daemon=True).start()
    store = Store(folder, time.time)
    store.add_plan(
        plan, f"http://127.0.0.1:{curator.server_port}/v1/campaigns/load", "token", admission=False
    )
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]

    def start(clock: int) -> subprocess.Popen[bytes]:
        shown = time.strftime("%Y-%m-%dT%H:%M:%S+00:00,1", time.gmtime(clock))
        command = [
            sys.executable,
            "-c",
            "from ldptrace.cli import main; main()",
            "shuffle",
            "--port",
            str(port),
        ]
        started = subprocess.Popen(
            [*command, "--data", str(folder), "--trial-clock", shown], stderr=subprocess.DEVNULL
        )
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz").close()
                return started
            except OSError:
                time.sleep(0.1)

    shuffler = start(until - 10**6)
    try:
        print(f"holding {held:,} reports of {size} bytes")
        for tenth in range(1, 11):
            rows = np.frombuffer(os.urandom(held // 10 * size), dtype=np.uint8).reshape(-1, size).copy()
            rows[:, 0] = 4
            before = processor(shuffler.pid)
            took, waits = asyncio.run(send(port, f"/v2/plans/{plan.id}/reports", rows))
            each = 1000 * (processor(shuffler.pid) - before) / len(rows)
            print(
                f"{tenth * held // 10:10,} held  {len(rows) / took:7,.0f} per second  {each:.3f} ms of a processor  "
                f"{memory(shuffler.pid):5.0f} MB  {waiting(waits)}",
                flush=True,
            )
        assert [one.reports for one in store.batches()] == [held // 10 * 10]
    finally:
        shuffler.terminate()
        shuffler.wait()
    begun = time.perf_counter()
    shuffler = start(until + 10)
    try:
        most = 0.0
        while not [one for one in store.batches() if one.state == "sent"]:
            most = max(most, memory(shuffler.pid))
            time.sleep(0.2)
        took = time.perf_counter() - begun
        print(f"closed, sent and deleted in {took:.1f} s, {most:.0f} MB; {Curator.arrived:,} bytes arrived")
        assert Curator.arrived == held // 10 * 10 * size
    finally:
        shuffler.terminate()
        shuffler.wait()
        store.close()
        curator.server_close()


def opening(count: int) -> None:
    """Measure how long a batch takes to open."""
    key = CuratorKey.drawn()
    plan = plan_of(key, 10)
    reporter, sealer = Reporter(PLAN, "none"), Sealer.of_plan(key.public, plan.id)
    report = reporter.report([(0.5, 0.5), (2.5, 3.5)])
    some = [sealer.seal(report, None) for _ in range(min(count, DIFFERENT))]
    body = b"".join(some) * -(-count // len(some))
    begun = time.perf_counter()
    found = open_batch(key.text, plan.id, None, body, len(some[0]))
    took = time.perf_counter() - begun
    assert len(found) == len(body) // len(some[0])
    print(f"opening {len(found):,} reports: {took:.1f} s with {os.cpu_count()} processors")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--held", type=int, default=1_000_000)
    parser.add_argument("--opened", type=int, default=300_000)
    parser.add_argument("--data", help="not used; every benchmark takes it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        hold(Path(folder), arguments.held)
    opening(arguments.opened)


if __name__ == "__main__":
    main()
