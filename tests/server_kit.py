"""What tests of the server share: databases, a server in a process of its own, reports that can be told apart."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from ldptrace.device import Reporter
from ldptrace.options import from_options
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Ask, CampaignName, Plan, Round
from ldptrace.protocol.problems import Problem
from ldptrace.protocol.questions import Length
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.reports import Report, plan_prefix
from ldptrace.server import campaigns, registry, releases, rounds, tokens, views
from ldptrace.server.app import create_app
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.state import State
from ldptrace.server.storage import Database, open_database
from ldptrace.server.terms import Terms
from ldptrace.web.limits import Settings
from ldptrace.web.problems import Refused, ServerProblem
from ports_kit import free_port
from programs_kit import require

GRID = Grid((0.0, 0.0, 6.0, 6.0), 6)
# Plans of the campaign `trips`; in a campaign of another name, `opened` makes them that one's.
TRIPS = CampaignName("trips", "0" * 32)
SINGLE = Plan.single_report(GRID, 1).changed(campaign=TRIPS)
TYPE = {"Content-Type": "application/vnd.ldptrace.reports"}
# Reports of this plan name one item each; a report per item makes every loss and every double visible.
VALUES = 4_096
# What a counter says of a report: no problem, or that it is known.
COUNTED, DUPLICATE = 0, Problem.DUPLICATE.number
TELLING = Plan(
    "telling",
    GRID,
    1,  # type: ignore[arg-type]
    (Round((Ask(Length(6, VALUES), GRR(VALUES, 1, ratio_at_most(1))),), "everyone"),),
    campaign=TRIPS,
)
REPOSITORY = Path(__file__).parents[1]
# What SQLite writes in the definition of a table, and PostgreSQL's words for it.
POSTGRES_WORDS = {
    "number INTEGER PRIMARY KEY": "number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "key INTEGER PRIMARY KEY": "key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    "INTEGER": "BIGINT",
    "BLOB": "BYTEA",
    " WITHOUT ROWID": "",
}


def telling_report(value: int, plan: Plan = TELLING, window: int = 0) -> bytes:
    """A report of the plan `TELLING`, or one like it, that names this item."""
    payload = value.to_bytes(2, "big")
    return Report(plan_prefix(plan), 0, 0, window, os.urandom(16), payload, plan.version).encode()


def of(plan: Plan, name: str) -> Plan:
    """The plan as one of the campaign of this name."""
    return plan.changed(campaign=CampaignName(name, "0" * 32))


def texts() -> dict[str, Any]:
    """All texts of the contributor's page, by language."""
    script = 'import("./src/ldptrace/server/assets/texts.js").then((file) => console.log(JSON.stringify(file.TEXTS)))'
    done = subprocess.run(["node", "-e", script], cwd=REPOSITORY, check=True, capture_output=True, timeout=60)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def streets(folder: Path) -> Path:
    """A town of 7 x 7 crossings, 1 apart."""
    folder.mkdir()
    at = [(x, y) for x in range(7) for y in range(7)]
    nodes = ["id,x,y", *(f"{7 * x + y},{x},{y}" for x, y in at)]
    pairs = [
        (7 * x + y, 7 * (x + dx) + y + dy)
        for x, y in at
        for dx, dy in ((0, 1), (1, 0))
        if x + dx < 7 and y + dy < 7
    ]
    (folder / "nodes.csv").write_text("\n".join(nodes) + "\n")
    (folder / "edges.csv").write_text("\n".join(["from,to", *(f"{a},{b}" for a, b in pairs)]) + "\n")
    return folder


def drawn(plan: Plan, count: int) -> list[bytes]:
    """Reports of devices that all made the same trip."""
    reporter = Reporter(plan, "none")
    return [reporter.report([(0.5, 0.5), (2.5, 3.5), (5.5, 3.0)]) for _ in range(count)]


def terms(**options: Any) -> Terms:
    """What is stated about a campaign besides its plan, by name."""
    return from_options(Terms, options)


def opened(database: Database, name: str, plan: Plan, **options: Any) -> Plan:
    """A campaign that is open; its plan."""
    campaigns.create(database, name, of(plan, name), terms(**options), actor="test")
    return campaigns.open_round(database, name, actor="test").plan


def counts(database: Database, name: str) -> list[int]:
    """The counts of the first question of the first round."""
    with database.reading() as session:
        row = session.row(
            "SELECT counts FROM tallies JOIN rounds ON rounds.key = tallies.round "
            "WHERE campaign = ? AND number = 0 AND ask = 0",
            name,
        )
    assert row is not None
    data = bytes(row[0])
    return [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]


def reports_counted(database: Database, name: str) -> int:
    with database.reading() as session:
        return sum(entry.reports for entry in rounds.rounds_of(session, name))


@dataclass
class Server:
    """`ldptrace serve` in a process of its own, with everything it said."""

    arguments: list[str]
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    log: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="serve-")) / "said.log")
    command: str = "serve"
    ready: str = "/readyz"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, **options: Any) -> None:
        command = [sys.executable, "-c", "from ldptrace.cli import main; main()", self.command]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port), *self.arguments], stderr=log, stdout=log, **options
            )
        self.wait()

    def wait(self, seconds: float = 300) -> None:
        """Until it can count reports."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if self.ask("GET", self.ready)[0] == 200:
                    return
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.05)
        raise AssertionError(f"the server did not start: {self.log.read_text()}")

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """One request on a connection of its own: status, and the JSON or the bytes of the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            data = answer.read()
            kind = answer.headers.get("content-type", "")
            return answer.status, json.loads(data) if "json" in kind and data else data
        finally:
            connection.close()

    def post(self, campaign: str, body: bytes, **headers: str) -> tuple[int, Any]:
        return self.ask("POST", f"/v1/campaigns/{campaign}/reports", body, TYPE | headers)

    def kill(self) -> None:
        """SIGKILL: no time to say goodbye."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """SIGTERM, and its exit status."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(60)


@contextlib.contextmanager
def running(*arguments: str, **options: Any) -> Iterator[Server]:
    """A server that is ended afterwards."""
    server = Server(list(arguments))
    server.start(**options)
    try:
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.stop()
        shutil.rmtree(server.log.parent)


class Postgres:
    """A PostgreSQL server of its own, in a temporary folder, on a port of the machine."""

    def __init__(self) -> None:
        self._bin = require("PostgreSQL").resolve().parent
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="ldptrace-pg-"))
        self._as: list[str] = []
        if os.getuid() == 0:
            # PostgreSQL refuses to run as root.
            shutil.chown(self.folder, "postgres")
            self._as = ["runuser", "-u", "postgres", "--"]
        self._run(
            "initdb", "-D", "data", "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C"
        )
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [
                *(
                    *self._as,
                    str(self._bin / "postgres"),
                    "-D",
                    str(self.folder / "data"),
                    "-p",
                    str(self.port),
                ),
                *("-h", "127.0.0.1", "-k", str(self.folder), "-c", "fsync=off", "-c", "max_connections=60"),
            ],
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
        )
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with contextlib.suppress(psycopg.OperationalError):
                self.execute("SELECT 1")
                return
            time.sleep(0.05)
        raise AssertionError("PostgreSQL did not start")

    def url(self, name: str = "postgres") -> str:
        return f"postgresql://postgres:not-asked-for@127.0.0.1:{self.port}/{name}"

    def new(self) -> str:
        """The address of an empty database."""
        name = f"t{os.urandom(6).hex()}"
        self.execute(f"CREATE DATABASE {name}")
        return self.url(name)

    def execute(self, sql: str) -> list[Any]:
        with psycopg.connect(self.url(), autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(sql)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []

    def crash(self) -> None:
        """End at once, without a checkpoint, and recover."""
        self._end()
        self._start()

    def _end(self) -> None:
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "stop")
        self._process.wait(30)

    def stop(self) -> None:
        self._end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [*self._as, str(self._bin / program), *arguments],
            cwd=self.folder,
            check=True,
            capture_output=True,
            timeout=120,
        )


class Client:
    """A client of an application in this process, with a token that may do everything."""

    def __init__(self, folder: Path, **limits: Any) -> None:
        self.database = open_database(folder / "data")
        self.app = create_app(self.database, Settings(**limits))
        text, _ = tokens.create_token(self.database, "*", "manage", "tests", actor="test")
        self.token = {"Authorization": f"Bearer {text}"}

    def __enter__(self) -> TestClient:
        self.http = TestClient(self.app, client=("192.0.2.7", 5000)).__enter__()
        return self.http

    def __exit__(self, *_: object) -> None:
        self.http.__exit__(None, None, None)

    @property
    def shared(self) -> State:
        """What the requests of the running application share."""
        found: State = self.app.inner.state.shared  # type: ignore[attr-defined]
        return found


def code(answer: Any) -> str:
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code
    return str(answer.json()["code"])


def refused(problem: ServerProblem, call: object, *arguments: object, **options: object) -> None:
    with pytest.raises(Refused) as caught:
        call(*arguments, **options)  # type: ignore[operator]
    assert caught.value.problem is problem


def answered(database: Database, name: str, reports: int) -> None:
    """So many devices, all with the same trip, answer the open round, which is then closed."""
    with database.reading() as session:
        plan = registry.find(session, name).plan
    reporter = Reporter(plan, "none")
    trip = [(0.0, 0.0), (0.0, 3.0), (3.0, 3.0), (6.0, 3.0)]
    bodies = [Submission(reporter.report(trip)) for _ in range(reports)]
    Counter(database).count(name, bodies)
    campaigns.close(database, name, actor="test", now=0)


def published(database: Database, name: str, count: int, folder: Path) -> Path:
    """The folder with the files of the release."""
    stages: list[tuple[str, int]] = []
    attempt = releases.begin(database, name, actor="test", count=count)
    attempt.make(lambda stage, done: stages.append((stage, done)))
    assert [done for _, done in stages] == sorted(done for _, done in stages)
    folder.mkdir()
    with database.reading() as session:
        assert registry.find(session, name).state == "published"
        for file in views.files_of(session, name):
            parts = releases.parts_of(session, name, file["name"])
            data = b"".join(releases.part(session, name, file["name"], number) for number in parts)
            assert len(data) == file["bytes"]
            (folder / file["name"]).write_bytes(data)
    return folder


def codes(counter: Counter, name: str, *bodies: bytes) -> list[list[int]]:
    return [part.tolist() for part in counter.count(name, [Submission(body) for body in bodies])]
