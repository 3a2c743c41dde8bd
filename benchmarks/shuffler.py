"""The shuffler under load, and the opening of a batch beside a serving server, with the load on the same machine over
loopback.

    python -m benchmarks.shuffler [--held 1000000] [--opened 300000] [--measured 300000]

Prints one table: how many sealed reports the shuffler takes per second while it holds more and more of them, with its
processor time for each, its memory and the waiting times; how long it takes to close and send the batch; and how long
the curator takes to open one while it serves others. Reports that are held are random bytes, because a shuffler cannot
tell them from sealed ones. Only `--measured` of them come over HTTP, in ten stretches; those between the stretches are
stored directly, to save time.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from benchmarks.server import PLAN, Link, drawn, memory, processor, waiting
from ldptrace.curator.opening import CuratorKey
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import REPORTS_TYPE, SEALED_TYPE
from ldptrace.protocol.seals import Schedule, bound_info
from ldptrace.protocol.shuffled import Shuffled
from ldptrace.server import campaigns
from ldptrace.server.storage import open_database
from ldptrace.server.tokens import create_token
from ldptrace.shuffler.served import NO_WINDOW, Served
from ldptrace.shuffler.store import SENT, Sealed, Store
from ldptrace.web.answers import BATCH_TYPE

# Devices that wait for an acknowledgement at once; each connection sends one report after the other.
CONNECTIONS = 256
STRETCHES = 10
# Reports of one transaction between the stretches.
DIRECT = 5_000
# Seconds between the requests of somebody else while a batch is opened.
BESIDE = 0.02


def plan_of(key: CuratorKey, until: int, batch: int = 2) -> Plan:
    """A shuffled plan that closes at this time."""
    delta, epsilon = Fraction(1, 10**8), Fraction(1)
    row = Shuffled(key.public, batch, Fraction(1), delta, epsilon, None, until, "Nobody", "http://localhost")
    return PLAN.changed(shuffled=row)


@contextmanager
def process(command: str, folder: Path, clock: int) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A server in a process of its own, whose clock begins at this time, and its port."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    shown = time.strftime("%Y-%m-%dT%H:%M:%S+00:00,1", time.gmtime(clock))
    options = ["--data", str(folder), "--port", str(port), "--trial-clock", shown]
    program = "from ldptrace.cli import main; main()"
    started = subprocess.Popen([sys.executable, "-c", program, command, *options], stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz").close()
                break
            except OSError:
                time.sleep(0.1)
        yield started, port
    finally:
        started.terminate()
        started.wait()


def made_up(count: int, size: int) -> np.ndarray:
    """Random bytes in the form of sealed reports."""
    rows = np.frombuffer(os.urandom(count * size), dtype=np.uint8).reshape(-1, size).copy()
    rows[:, 0] = 4
    return rows


async def send(port: int, path: str, rows: np.ndarray) -> tuple[float, np.ndarray]:
    """Send single reports over some connections: seconds, and how long each waited."""
    size = rows.shape[1]
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {SEALED_TYPE}\r\nContent-Length: {size}\r\n\r\n"
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


def hold(folder: Path, held: int, measured: int) -> None:
    """Measure the intake, and then the sending of the batch."""
    until = int(time.time()) + 10**7
    plan = plan_of(CuratorKey.drawn(), until, max(2, held * 4 // 5))
    size = Served.of(plan).size
    curator = HTTPServer(("127.0.0.1", 0), Curator)
    threading.Thread(target=curator.handle_request, daemon=True).start()
    store = Store(folder, time.time)
    address = f"http://127.0.0.1:{curator.server_port}/v1/campaigns/load"
    store.add_plan(plan, address, "token", admission=False)
    each, total = measured // STRETCHES, 0
    print(
        f"{'held before':>12}  {'reports/s':>9}  {'processor':>9}  {'memory':>6}  waiting, of {size} bytes each"
    )
    with process("shuffle", folder, until - 10**6) as (shuffler, port):
        begun = time.perf_counter()
        store.take(plan.id, [Sealed(made_up(1, size).tobytes(), NO_WINDOW)])
        total += 1
        first = time.perf_counter() - begun
        for stretch in range(STRETCHES):
            goal = stretch * (held - each) // max(1, STRETCHES - 1)
            while total < goal:
                rows = made_up(min(DIRECT, goal - total), size)
                store.take(plan.id, [Sealed(row.tobytes(), NO_WINDOW) for row in rows])
                total += len(rows)
            rows, before = made_up(each, size), processor(shuffler.pid)
            took, waits = asyncio.run(send(port, f"/v2/plans/{plan.id}/reports", rows))
            spent = 1000 * (processor(shuffler.pid) - before) / len(rows)
            print(
                f"{total:12,}  {len(rows) / took:9,.0f}  {spent:6.3f} ms  {memory(shuffler.pid):3.0f} MB  "
                f"{waiting(waits)}",
                flush=True,
            )
            total += each
        assert [one.reports for one in store.batches()] == [total]
    begun = time.perf_counter()
    with process("shuffle", folder, until + 10) as (shuffler, port):
        most = 0.0
        while not [one for one in store.batches() if one.state == SENT]:
            most = max(most, memory(shuffler.pid))
            time.sleep(0.2)
        took = time.perf_counter() - begun
    store.close()
    curator.server_close()
    assert Curator.arrived == total * size
    print(
        f"{'':12}  the first report waits {first:.1f} s for its table; {total:,} closed, sent and deleted in "
        f"{took:.1f} s, {most:.0f} MB",
        flush=True,
    )


def seals(plan: Plan, reports: np.ndarray) -> bytes:
    """Seal reports with one fresh key for all, to save time; opening takes as long as with a key for each."""
    assert plan.shuffled is not None
    fresh = CuratorKey.drawn()
    schedule = Schedule(plan.shuffled.key, bound_info(plan.id))
    key, nonce = schedule.keys(fresh.agreed(plan.shuffled.key), fresh.public)
    cipher = AESGCM(key)
    return b"".join(fresh.public + cipher.encrypt(nonce, row.tobytes(), b"") for row in reports)


def opening(folder: Path, count: int) -> None:
    """Measure how long the curator takes to count a batch, and how long others wait before and meanwhile."""
    until = int(time.time()) + 10**7
    database = open_database(folder)
    key = CuratorKey.drawn()
    shuffled = plan_of(key, until, count)
    for name, one in (("load", shuffled), ("direct", PLAN)):
        campaigns.create(database, name, one.changed(campaign=None), actor="benchmark", key=key)
    plan, direct = (
        campaigns.open_round(database, name, actor="benchmark").plan for name in ("load", "direct")
    )
    token, _ = create_token(database, "load", "shuffle", "", actor="benchmark")
    database.close()
    body, answers = seals(plan, drawn(count, plan)), list[bytes]()
    with process("serve", folder, until + 10) as (server, port):
        others, before = Others(port, server.pid, drawn(20_000, direct)), _spent(server.pid)
        # The first reports wait for code to be compiled.
        others.send(20, lambda: False)
        print(f"{'':12}  beside nothing, a direct report waits: {waiting(others.send(200, lambda: False))}")
        begun = time.perf_counter()
        thread = threading.Thread(target=lambda: answers.append(_put(port, plan.id, token, body)))
        thread.start()
        waits = others.send(15_000, lambda: not thread.is_alive())
        took, spent = time.perf_counter() - begun, _spent(server.pid) - before
        print(
            f"{'':12}  {count:,} opened and counted in {took:.1f} s, {spent:.1f} s of a processor, "
            f"{others.memory:.0f} MB; beside it, a direct report waits: {waiting(waits)}"
        )
    assert json.loads(answers[0])["counted"] == count, answers


class Others:
    """Devices of a direct campaign on the same server: one report every few milliseconds."""

    def __init__(self, port: int, server: int, reports: np.ndarray) -> None:
        self._link = http.client.HTTPConnection("127.0.0.1", port)
        self._server = server
        self._reports = iter(reports)
        self.memory = 0.0

    def send(self, most: int, over: Callable[[], bool]) -> np.ndarray:
        """Send up to this many reports until something is over, and return how long each waited."""
        waits: list[float] = []
        while len(waits) < most and not over():
            begun, body = time.perf_counter(), next(self._reports).tobytes()
            self._link.request("POST", "/v1/campaigns/direct/reports", body, {"Content-Type": REPORTS_TYPE})
            answer = self._link.getresponse()
            answer.read()
            assert answer.status == 200
            waits.append(time.perf_counter() - begun)
            self.memory = max(self.memory, memory(self._server))
            time.sleep(BESIDE)
        return np.array(waits)


def _put(port: int, plan: str, token: str, body: bytes) -> bytes:
    link = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": BATCH_TYPE}
    link.request("PUT", f"/v1/campaigns/load/plans/{plan}/batch", body, headers)
    return link.getresponse().read()


def _spent(pid: int) -> float:
    """Seconds of processor time of a process and of those that it started and that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(fields[place]) for place in range(11, 15)) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--held", type=int, default=1_000_000)
    parser.add_argument("--measured", type=int, default=300_000)
    parser.add_argument("--opened", type=int, default=300_000)
    parser.add_argument("--data", help="not used; every benchmark takes it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        hold(Path(folder), arguments.held, arguments.measured)
    with tempfile.TemporaryDirectory() as folder:
        opening(Path(folder), arguments.opened)


if __name__ == "__main__":
    main()
