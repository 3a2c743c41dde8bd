"""Six weeks of a standing fleet on a quick clock, with a server that is killed twice and a database that restarts once.

    python -m benchmarks.standing [--users 20000] [--weeks 6] [--week-seconds 60] [--database URL --restart COMMAND]

Every answer must be counted once in its window, every closed week must have its release, and no device may give more
than its lifetime; otherwise it says so and ends with status 1. Without a database it runs on SQLite, which has nothing
to restart. Reports are drawn from the operating system's source.
"""

from __future__ import annotations

import argparse
import asyncio
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from ldptrace.protocol.standing import Standing
from ldptrace.server import campaigns
from ldptrace.server.campaigns import Numbers, Terms
from ldptrace.server.clocks import TrialClock
from ldptrace.server.fleet import Faults, Fleet, Playing, city_trips
from ldptrace.server.planning import plan_from_facts
from ldptrace.server.registry import find
from ldptrace.server.standing_fleet import Rhythm, StandingOutcome, run_standing_fleet
from ldptrace.server.storage import Database, open_database
from ldptrace.server.tallies import counts_of
from ldptrace.server.views import releases_of

WEEK = 7 * 86_400
NAME = "weeks"


class Server:
    """`ldptrace serve` in a process of its own, killed and started again."""

    def __init__(self, arguments: list[str], port: int) -> None:
        command = [
            sys.executable,
            "-c",
            "from ldptrace.cli import main; main()",
            "serve",
            "--port",
            str(port),
        ]
        self._command = [*command, *arguments]
        self.url = f"http://127.0.0.1:{port}"
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stderr=subprocess.DEVNULL)
        while True:
            try:
                urllib.request.urlopen(f"{self.url}/readyz").close()
                return
            except OSError:
                time.sleep(0.1)

    def memory(self) -> float:
        """Resident memory in MB."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0]) / 1024

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def trouble(server: Server, week: float, restart: str | None, sizes: list[float]) -> None:
    """Kill the server in the second and the fourth week, restart the database in the third."""
    for number in range(1, 6):
        time.sleep(week)
        sizes.append(server.memory())
        if number in (2, 4):
            server.kill()
            server.start()
        if number == 3 and restart:
            subprocess.run(shlex.split(restart), check=True, stdout=subprocess.DEVNULL)


def faults_of(database: Database, outcome: StandingOutcome, lifetime: float, clock: TrialClock) -> list[str]:
    """What is not as it must be."""
    with database.reading() as session:
        found = counts_of(session, NAME)
        released = {one["round"] - 1: one["state"] for one in releases_of(session, NAME)}
        least = find(session, NAME).min_reports
    counted = {entry.window: entry.reports for entry in found}
    faults = []
    if counted != dict(outcome.windows):
        faults.append(f"acknowledged by window {dict(outcome.windows)}, counted {counted}")
    if not outcome.complete:
        faults.append(
            f"{outcome.devices - outcome.acknowledged} answers were not acknowledged: {outcome.refused}"
        )
    if outcome.most_given > lifetime:
        faults.append(f"a device gave {outcome.most_given}, its lifetime is {lifetime}")
    for entry in found:
        if entry.state == "closed" and entry.reports >= least and released.get(entry.number) != "done":
            faults.append(f"window {entry.window} has {released.get(entry.number, 'no release')}")
    print(f"at {clock():.0f} by the trial clock:", flush=True)
    for entry in found:
        said = released.get(entry.number, "no release")
        print(f"  window {entry.window}: {entry.reports:,} reports, {entry.state}, {said}", flush=True)
    return faults


def run(database: Database, arguments: list[str], options: argparse.Namespace) -> list[str]:
    standing = Standing.of(WEEK, epsilon=1, lifetime=5)
    plan = plan_from_facts(options.users, "1", 6, (0.0, 0.0, 20_000.0, 20_000.0), standing=standing)
    campaigns.create(database, NAME, plan, Terms(numbers=Numbers(options.users // 20)), actor="benchmark")
    campaigns.open_round(database, NAME, actor="benchmark")
    text = f"2027-03-01,{WEEK / options.week_seconds},{time.time()}"
    clock = TrialClock.of(text)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    server = Server([*arguments, "--trial-clock", text], port)
    try:
        fleet = Fleet(server.url, NAME, Faults(0.01, 0.01, 0.01), 1, 120.0)
        sizes: list[float] = []
        bad = threading.Thread(target=trouble, args=(server, options.week_seconds, options.restart, sizes))
        bad.start()
        playing, rhythm = Playing(concurrency=32), Rhythm(clock, options.weeks, 1)
        outcome = asyncio.run(run_standing_fleet(fleet, city_trips(2_000, 1), options.users, rhythm, playing))
        bad.join()
        print(
            f"{outcome.acknowledged:,} of {outcome.devices:,} answers acknowledged in {outcome.seconds:.0f} s; "
            f"{dict(outcome.events)}; most given by one device {float(outcome.most_given):g} of 5",
            flush=True,
        )
        print(f"memory of the server week by week, in MB: {', '.join(f'{size:.0f}' for size in sizes)}")
        # The last windows close two weeks and a day later; releases are made one after the other.
        end = time.monotonic() + 3.5 * options.week_seconds + options.patience
        faults = ["not looked at"]
        while faults and time.monotonic() < end:
            time.sleep(options.week_seconds / 2)
            faults = faults_of(database, outcome, 5, clock)
            with database.reading() as session:
                if not faults and any(entry.state == "open" for entry in counts_of(session, NAME)):
                    faults = ["windows are open"]
        return faults
    finally:
        server.kill()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--weeks", type=int, default=6)
    parser.add_argument("--week-seconds", type=float, default=60.0)
    parser.add_argument("--patience", type=float, default=300.0, help="seconds for the last releases")
    parser.add_argument("--database", help="an empty PostgreSQL database instead of SQLite")
    parser.add_argument("--restart", help="a command that restarts the database")
    parser.add_argument("--data", help="not used; every benchmark takes it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(url=options.database) if options.database else open_database(folder)
        arguments = ["--database", options.database] if options.database else ["--data", folder]
        faults = run(database, arguments, options)
        database.close_all()
    for fault in faults:
        print(f"FAULT: {fault}")
    print(
        "every answer counted once in its window, every release there" if not faults else "not as it must be"
    )
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
