"""Faults under load. Every report names a value of its own: a loss is a 0 in the tally, a double a 2."""

from __future__ import annotations

import asyncio
import json
import random
import resource
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from ldptrace.server import campaigns
from ldptrace.server.app import create_app
from ldptrace.server.fleet import Connection, Target
from ldptrace.server.seen import split
from ldptrace.server.storage import Database, open_database
from server_kit import TELLING, TYPE, Postgres, counts, opened, reports_counted, running, telling_report

pytestmark = pytest.mark.slow

PATH = "/v1/campaigns/trips/reports"
HEADERS = tuple(TYPE.items())


class Load:
    """Devices that send their report until it is acknowledged, to any of some servers."""

    def __init__(self, urls: Sequence[str], values: int, *, both: float = 0.0, seed: int = 1) -> None:
        self._targets = [Target.of(url) for url in urls]
        self._both = both
        self._chance = random.Random(seed)
        self.reports = [telling_report(value) for value in range(values)]
        self.acknowledged: set[int] = set()
        self.problems: set[str] = set()

    async def send(self, connections: int = 24) -> None:
        """Return when everything is acknowledged."""
        values = iter(range(len(self.reports)))

        async def device() -> None:
            links = [Connection(target) for target in self._targets]
            for value in values:
                chosen = self._chance.sample(links, len(links) if self._chance.random() < self._both else 1)
                await asyncio.gather(*(self._until_acknowledged(link, value) for link in chosen))
            for link in links:
                link.close()

        await asyncio.gather(*(device() for _ in range(connections)))

    async def _until_acknowledged(self, link: Connection, value: int) -> None:
        while True:
            try:
                answer = await link.request("POST", PATH, self.reports[value], HEADERS)
            except ConnectionError:
                await asyncio.sleep(0.02)
                continue
            problem = "" if answer.status == 200 else str(json.loads(answer.body)["code"])
            if problem in ("", "duplicate"):
                self.acknowledged.add(value)
                return
            self.problems.add(problem)
            await asyncio.sleep(0.02)


async def with_trouble(load: Load, trouble: Callable[[], None]) -> None:
    """Send while something happens in another thread."""
    sending = asyncio.create_task(load.send())
    await asyncio.to_thread(trouble)
    await sending


def test_killed_at_random_moments_with_two_processes(address: str, database: Database) -> None:
    opened(database, "trips", TELLING)
    chance = random.Random(2)
    with running("--database", address) as one, running("--database", address) as two:
        load = Load([one.url, two.url], 3_000, both=0.3)

        def kill() -> None:
            for server in (one, two, one):
                time.sleep(chance.uniform(0.05, 0.4))
                server.kill()
                server.start()

        asyncio.run(with_trouble(load, kill))
    assert len(load.acknowledged) == 3_000
    assert counts(database, "trips")[:3_001] == [1] * 3_000 + [0]
    assert reports_counted(database, "trips") == 3_000
    assert load.problems <= {"storage-unavailable", "stopping"}


def test_told_to_stop_under_load(tmp_path: Path) -> None:
    """What was acknowledged before the end is there; nothing else is needed to be."""
    database = open_database(tmp_path)
    opened(database, "trips", TELLING)
    with running("--data", str(tmp_path)) as server:
        load = Load([server.url], 4_000)

        async def stop_early() -> None:
            sending = asyncio.create_task(load.send())
            while len(load.acknowledged) < 200:
                await asyncio.sleep(0.01)
            status = await asyncio.to_thread(server.stop)
            assert status in (0, -15)
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

        asyncio.run(stop_early())
        said = server.log.read_text()
    found = counts(database, "trips")
    assert max(found) == 1
    assert all(found[value] == 1 for value in load.acknowledged)
    assert sum(found) == reports_counted(database, "trips") < 4_000
    assert "Finished server process" in said
    assert "Traceback" not in said


def test_the_disk_is_full(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    opened(database, "trips", TELLING)
    with running("--data", str(tmp_path)) as server:
        assert server.process is not None
        assert server.post("trips", telling_report(0))[0] == 200
        limits = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (4096, limits[1]))
        kept = telling_report(1)
        status, answer = server.post("trips", kept)
        assert (status, answer["code"]) == (503, "storage-unavailable")
        assert server.ask("GET", "/healthz")[0] == 200
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limits)
        assert server.post("trips", kept)[0] == 200
        assert server.post("trips", kept)[1]["code"] == "duplicate"
        assert '"error": "StorageUnavailable"' in server.log.read_text()
    assert counts(database, "trips")[:3] == [1, 1, 0]


def test_the_database_cuts_its_connections(postgres: Postgres) -> None:
    address = postgres.new()
    database = open_database(url=address)
    opened(database, "trips", TELLING)
    name = address.rpartition("/")[2]
    with running("--database", address) as server:
        load = Load([server.url], 1_500)

        def cut() -> None:
            for _ in range(8):
                time.sleep(0.1)
                postgres.execute(
                    f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
                )

        asyncio.run(with_trouble(load, cut))
        assert "not-asked-for" not in server.log.read_text()
    database.close()
    assert counts(database, "trips")[:1_501] == [1] * 1_500 + [0]
    assert load.problems <= {"storage-unavailable"}
    database.close()


def test_the_clock_is_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = open_database(tmp_path)
    opened(database, "trips", TELLING)
    with TestClient(create_app(database)) as http:
        reports = [telling_report(value) for value in range(6)]
        for number, report in enumerate(reports):
            monkeypatch.setattr(time, "time", lambda day=number: 1e9 - 86_400.0 * day)
            assert http.post(PATH, content=report, headers=TYPE).status_code == 200
            assert http.post(PATH, content=reports[0], headers=TYPE).status_code == 409
    assert counts(database, "trips")[:7] == [1] * 6 + [0]


def test_nothing_of_a_report_is_kept(tmp_path: Path) -> None:
    """The files of the database and the log, read byte by byte: no payload, no address, no time of a report."""
    database = open_database(tmp_path)
    opened(database, "trips", TELLING)
    reports = [telling_report(value) for value in range(300)]
    with running("--data", str(tmp_path)) as server:
        for report in reports[:250]:
            assert server.post("trips", report)[0] == 200
        server.post("trips", b"".join(reports[250:]))
        files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert reports[0][1:19] not in files
        # The newest ids are there in sorted lists, so not in the order in which they came.
        with database.reading() as session:
            fresh = [bytes(ids) for (ids,) in session.rows("SELECT ids FROM fresh")]
        assert sorted(b"".join(fresh)) == sorted(b"".join(report[23:39] for report in reports))
        assert all(list(split(ids)) == sorted(split(ids)) for ids in fresh)
        said = server.log.read_text()
        assert "127.0.0.1" not in said.replace("http://127.0.0.1:", "")
        lines = [json.loads(line)["message"] for line in said.splitlines() if line.startswith("{")]
        assert len(lines) < 12
    campaigns.close(database, "trips", actor="test", now=0)
    with database.reading() as session:
        kept = [bytes(row[0]) for row in session.rows("SELECT id FROM ids")]
        assert session.rows("SELECT * FROM fresh") == []
        stored = session.rows("SELECT * FROM audit")
    assert kept == sorted(report[23:39] for report in reports)
    assert len(stored) == 3
    database.close()
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert not files.get("campaigns.sqlite-wal")
    # Where an id lies in the file follows from the id: in every leaf page they are in their order, reversed.
    places = [files["campaigns.sqlite"].index(one) for one in kept]
    within = [second < first for first, second in pairwise(places) if abs(first - second) < 64]
    assert len(within) > 250
    assert all(within)
