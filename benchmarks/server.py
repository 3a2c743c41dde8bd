"""The server under load, with the load on the same machine over loopback.

    python -m benchmarks.server [--seconds 60] [--hour 5400000] [--database postgresql://...]

Prints single reports per second with their waiting times at full and at half load, reports per second in batches of
500, and the server's memory after each tenth of an hour's worth of reports. Every acknowledged report must have been
counted, or it says so and ends with status 1. Reports are drawn beforehand: this measures the server.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np

from ldptrace.device import Reporter
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.reports import plan_prefix
from ldptrace.server import campaigns, rounds
from ldptrace.server.storage import Database, open_database

PLAN = Plan.single_report(Grid((0.0, 0.0, 6.0, 6.0), 12), 1).changed(campaign=CampaignName.fresh("load"))
BATCH = 500
CONNECTIONS = 64


def drawn(count: int, plan: Plan = PLAN) -> np.ndarray:
    """Draw reports of `PLAN`, or of one that asks the same, with fresh ids: answers of 2,000 devices, repeated."""
    rng = np.random.default_rng(1)
    reporter = Reporter(PLAN, "none")
    some = [reporter.report(rng.uniform(0, 6, size=(4, 2)).tolist()) for _ in range(2_000)]
    rows = np.frombuffer(b"".join(some), dtype=np.uint8).reshape(len(some), -1)
    many = np.tile(rows, (-(-count // len(rows)), 1))[:count]
    head = bytes([plan.version]) + plan_prefix(plan)
    many[:, : len(head)] = np.frombuffer(head, dtype=np.uint8)
    many[:, 23:39] = np.frombuffer(os.urandom(16 * count), dtype=np.uint8).reshape(count, 16)
    return many


class Link(asyncio.Protocol):
    """One connection that sends a request and waits for its answer: as little work as a client can do."""

    def __init__(self) -> None:
        self._answer: asyncio.Future[int] | None = None
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, found, body = self._data.partition(b"\r\n\r\n")
        if not found:
            return
        size = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) >= size and self._answer is not None:
            self._data = b""
            self._answer.set_result(int(head[9:12]))

    async def post(self, head: bytes, body: bytes) -> int:
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(head + body)
        return await self._answer


async def load(
    port: int, rows: np.ndarray, batch: int, connections: int, seconds: float, rate: float | None = None
) -> tuple[int, float, np.ndarray]:
    """Send until the time is over or nothing is left: reports acknowledged, seconds, and how long each waited."""
    size = batch * rows.shape[1]
    head = (
        "POST /v1/campaigns/load/reports HTTP/1.1\r\nHost: x\r\n"
        f"Content-Type: application/vnd.ldptrace.reports\r\nContent-Length: {size}\r\n\r\n"
    ).encode()
    loop = asyncio.get_running_loop()
    numbers = iter(range(len(rows) // batch))
    waits: list[float] = []
    started = time.perf_counter()

    async def player() -> None:
        _, link = await loop.create_connection(Link, "127.0.0.1", port)
        for number in numbers:
            begin = time.perf_counter()
            if rate is not None:
                # A fixed timetable: a slow answer does not slow the others down, and its wait counts in full.
                due = started + number * batch / rate
                await asyncio.sleep(max(0.0, due - begin))
                begin = max(begin, due)
            if begin - started > seconds:
                return
            status = await link.post(head, rows[number * batch : (number + 1) * batch].tobytes())
            if status == 200:
                waits.append(time.perf_counter() - begin)

    await asyncio.gather(*(player() for _ in range(connections)))
    return batch * len(waits), time.perf_counter() - started, np.array(waits)


def counted(database: Database) -> int:
    with database.reading() as session:
        return sum(entry.reports for entry in rounds.rounds_of(session, "load"))


def memory(pid: int) -> float:
    """Resident memory of a process in MB."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


def processor(pid: int) -> float:
    """Seconds of processor time that a process has used: comparable also on a machine that does other things."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def waiting(waits: np.ndarray) -> str:
    middle, late, last = (1000 * float(np.quantile(waits, part)) for part in (0.5, 0.99, 1.0))
    return f"median {middle:.1f} ms, p99 {late:.1f} ms, longest {last:.0f} ms"


def run(database: Database, arguments: list[str], seconds: float, hour: int) -> int:
    """All measurements on one database; the number of acknowledged reports that were not counted."""
    campaigns.create(database, "load", PLAN, actor="benchmark")
    campaigns.open_round(database, "load", actor="benchmark")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-c", "from ldptrace.cli import main; main()", "serve", "--port", str(port)]
    server = subprocess.Popen([*command, *arguments], stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz").close()
                break
            except OSError:
                time.sleep(0.1)
        total = 0
        rows = drawn(int(seconds * 8_000))
        before = processor(server.pid)
        done, took, waits = asyncio.run(load(port, rows, 1, CONNECTIONS, seconds))
        each = 1000 * (processor(server.pid) - before) / max(done, 1)
        total += done
        print(
            f"single reports     {done / took:10,.0f} per second for {took:.0f} s; {waiting(waits)}",
            flush=True,
        )
        print(f"                   {each:10.3f} ms of a processor for each", flush=True)
        rows = drawn(int(seconds * 750))
        done, took, waits = asyncio.run(load(port, rows, 1, CONNECTIONS, seconds, 750.0))
        total += done
        print(
            f"at half the goal   {done / took:10,.0f} per second for {took:.0f} s; {waiting(waits)}",
            flush=True,
        )
        rows = drawn(600_000)
        done, took, waits = asyncio.run(load(port, rows, BATCH, 8, seconds))
        total += done
        print(
            f"batches of {BATCH}     {done / took:10,.0f} per second for {took:.0f} s; {waiting(waits)}",
            flush=True,
        )
        sizes = [memory(server.pid)]
        for _ in range(10):
            done, _, _ = asyncio.run(load(port, drawn(hour // 10), 1_000, 8, 1e9))
            total += done
            sizes.append(memory(server.pid))
        print(
            f"memory over {hour:,} reports, in MB: {', '.join(f'{size:.0f}' for size in sizes)}", flush=True
        )
        return total - counted(database)
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--hour", type=int, default=5_400_000, help="reports over which memory is watched")
    parser.add_argument("--database", help="an empty PostgreSQL database, besides SQLite")
    parser.add_argument("--data", help="not used; every benchmark takes it")
    arguments = parser.parse_args()
    missing = 0
    with tempfile.TemporaryDirectory() as folder:
        print("SQLite")
        missing += run(open_database(folder), ["--data", folder], arguments.seconds, arguments.hour)
    if arguments.database:
        print("PostgreSQL")
        database = open_database(url=arguments.database)
        missing += run(database, ["--database", arguments.database], arguments.seconds, arguments.hour)
    print(f"acknowledged but not counted: {missing}")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
