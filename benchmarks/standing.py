"""Six weeks of a standing fleet on a quick clock, with a server that is killed twice and a database that crashes once.

    python -m benchmarks.standing [--users 20000] [--weeks 6] [--week-seconds 120] [--postgres FOLDER]

Every device must answer every window within its lifetime, every answer must be counted once in its window, every week
must have its release, and no device may give more than its lifetime; otherwise it says so and ends with status 1.
FOLDER has the programs of PostgreSQL, which then runs in a temporary folder; without it the database is SQLite, which
has nothing to crash. If windows are missed, the machine is too slow for the clock: give a week more seconds. Reports
are drawn from the operating system's source.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ldptrace.curator.facts import Facts
from ldptrace.server import campaigns
from ldptrace.server.fleet import Faults, Fleet, Outcome, city_trips
from ldptrace.server.registry import find
from ldptrace.server.rounds import rounds_of
from ldptrace.server.standing_fleet import run_standing_fleet
from ldptrace.server.storage import Database, open_database
from ldptrace.server.terms import Terms
from ldptrace.server.views import releases_of
from ldptrace.web.limits import trial_clock

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


class Postgres:
    """PostgreSQL in a temporary folder, stopped at once as a power cut would, and started again."""

    def __init__(self, programs: str, folder: Path, port: int) -> None:
        self._programs, self._folder, self._port = Path(programs), folder, port
        self._as: list[str] = []
        if os.getuid() == 0:
            # It refuses to run as root.
            shutil.chown(folder, "postgres")
            self._as = ["runuser", "-u", "postgres", "--"]
        self._run("initdb", "-D", "data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres:not-asked-for@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        options = f"-p {self._port} -h 127.0.0.1 -k {self._folder}"
        self._run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")

    def crash(self) -> None:
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [*self._as, str(self._programs / program), *arguments],
            cwd=self._folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )


@contextmanager
def postgres(programs: str | None) -> Iterator[Postgres | None]:
    """A database for the time of the benchmark; None where SQLite is to be used."""
    if programs is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="ldptrace-pg-", ignore_cleanup_errors=True) as folder:
        database = Postgres(programs, Path(folder), free_port())
        try:
            yield database
        finally:
            database.crash()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def trouble(server: Server, week: float, database: Postgres | None, sizes: list[float]) -> None:
    """Kill the server in the second and the fourth week, crash the database in the third."""
    for number in range(1, 6):
        time.sleep(week)
        sizes.append(server.memory())
        if number in (2, 4):
            server.kill()
            server.start()
        if number == 3 and database is not None:
            database.crash()
            time.sleep(1)
            database.start()


def faults_of(database: Database, outcome: Outcome, lifetime: float) -> list[str]:
    """What is not as it must be."""
    with database.reading() as session:
        found = rounds_of(session, NAME)
        released = {number: one["state"] for number, one in releases_of(session, NAME).items()}
        least = find(session, NAME).terms.min_reports
    counted = {entry.window: entry.reports for entry in found}
    faults = []
    if counted != dict(outcome.windows):
        faults.append(f"acknowledged by window {dict(outcome.windows)}, counted {counted}")
    if outcome.missed:
        faults.append(f"{outcome.missed:,} windows were missed: the clock is too quick for this machine")
    elif outcome.acknowledged != outcome.due:
        faults.append(f"{outcome.due:,} answers were due, {outcome.acknowledged:,} were acknowledged")
    if not outcome.complete:
        faults.append(
            f"{outcome.devices - outcome.acknowledged} answers were not acknowledged: {outcome.refused}"
        )
    if outcome.most_given > lifetime:
        faults.append(f"a device gave {outcome.most_given}, its lifetime is {lifetime}")
    for entry in found:
        if entry.reports >= least and released.get(entry.number) != "done":
            faults.append(f"window {entry.window} has {released.get(entry.number, 'no release')}")
    return faults


def is_over(database: Database) -> bool:
    """Whether every window is closed, and released if it has enough reports."""
    with database.reading() as session:
        done = {number for number, one in releases_of(session, NAME).items() if one["state"] == "done"}
        least = find(session, NAME).terms.min_reports
        return all(
            entry.state == "closed" and (entry.reports < least or entry.number in done)
            for entry in rounds_of(session, NAME)
        )


def show_windows(database: Database) -> None:
    with database.reading() as session:
        released = {number: one["state"] for number, one in releases_of(session, NAME).items()}
        for entry in rounds_of(session, NAME):
            said = released.get(entry.number, "no release")
            print(f"  window {entry.window}: {entry.reports:,} reports, {entry.state}, {said}", flush=True)


def run(
    database: Database, arguments: list[str], options: argparse.Namespace, crashing: Postgres | None
) -> list[str]:
    plan = Facts(options.users, "1", (0.0, 0.0, 20_000.0, 20_000.0), grid=6, every=WEEK, lifetime=5).plan()
    campaigns.create(database, NAME, plan, Terms(min_reports=options.users // 20), actor="benchmark")
    campaigns.open_round(database, NAME, actor="benchmark")
    text = f"2027-03-01,{WEEK / options.week_seconds},{time.time()}"
    clock = trial_clock(text)
    server = Server([*arguments, "--trial-clock", text], free_port())
    try:
        fleet = Fleet(server.url, NAME, Faults(0.01, 0.01, 0.01), 1, 120.0, concurrency=32)
        sizes: list[float] = []
        bad = threading.Thread(target=trouble, args=(server, options.week_seconds, crashing, sizes))
        bad.start()
        running = run_standing_fleet(fleet, city_trips(2_000, 1), options.users, options.weeks, clock)
        outcome = asyncio.run(running)
        bad.join()
        print(
            f"{outcome.acknowledged:,} of {outcome.due:,} answers acknowledged in {outcome.seconds:.0f} s, "
            f"{outcome.missed:,} windows missed; "
            f"{dict(outcome.events)}; most given by one device {float(outcome.most_given):g} of 5",
            flush=True,
        )
        print(f"memory of the server week by week, in MB: {', '.join(f'{size:.0f}' for size in sizes)}")
        # The last windows close two weeks and a day later; releases are made one after the other.
        end = time.monotonic() + 3.5 * options.week_seconds + options.patience
        while not is_over(database) and time.monotonic() < end:
            time.sleep(min(5.0, options.week_seconds / 2))
        show_windows(database)
        return faults_of(database, outcome, 5)
    finally:
        server.kill()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--weeks", type=int, default=6)
    parser.add_argument("--week-seconds", type=float, default=120.0)
    parser.add_argument("--patience", type=float, default=300.0, help="seconds for the last releases")
    parser.add_argument("--postgres", help="folder with the programs of PostgreSQL, instead of SQLite")
    parser.add_argument("--data", help="not used; every benchmark takes it")
    options = parser.parse_args()
    # Server and database end with it, also when it is ended itself.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as folder, postgres(options.postgres) as crashing:
        database = open_database(url=crashing.url) if crashing else open_database(folder)
        arguments = ["--database", crashing.url] if crashing else ["--data", folder]
        faults = run(database, arguments, options, crashing)
        database.close_all()
    for fault in faults:
        print(f"FAULT: {fault}")
    print(
        "every answer counted once in its window, every release there" if not faults else "not as it must be"
    )
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
