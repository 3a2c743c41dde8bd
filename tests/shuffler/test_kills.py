"""Real processes that are killed under load: every acknowledged report is counted once.

`LDPTRACE_KILLS=20` kills each process so often; PostgreSQL is killed once.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ldptrace.server.fleet import Connection, Target
from ldptrace.server.storage import Database, open_database
from ldptrace.server.tokens import create_token
from ldptrace.shuffler.store import SENT, Store
from server_kit import Postgres, Server, counts, running
from shuffler_kit import opened_shuffled, sealed, telling

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("LDPTRACE_KILLS", "1"))
# Enough that the processes are killed at work.
REPORTS = min(4_000, 500 + 500 * KILLS)
TYPE = (("Content-Type", "application/vnd.ldptrace.sealed"),)


async def send(server: Server, path: str, bodies: list[bytes]) -> None:
    """Devices that send their report until it is acknowledged."""
    values, target = iter(bodies), Target.of(server.url)

    async def device() -> None:
        link = Connection(target)
        for body in values:
            while True:
                try:
                    answer = await link.request("POST", path, body, TYPE)
                except ConnectionError:
                    await asyncio.sleep(0.02)
                    continue
                if answer.status == 200:
                    break
                assert answer.status == 503, answer
                await asyncio.sleep(0.02)
        link.close()

    await asyncio.gather(*(device() for _ in range(24)))


def kill(servers: list[Server], kills: int, seed: int, done: Callable[[], bool]) -> int:
    """Kill these processes again and again, until the work is done; return how often."""
    chance, count = random.Random(seed), 0
    while count < kills * len(servers) and not done():
        time.sleep(chance.uniform(0.02, 0.3))
        server = servers[count % len(servers)]
        server.kill()
        server.start()
        count += 1
    return count


def sent(store: Store) -> bool:
    return [one.state for one in store.batches()] == [SENT]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_killed_under_load(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    address = str(tmp_path / "curator")
    found: Postgres | None = None
    if kind == "postgres":
        found = Postgres()
        request.addfinalizer(found.stop)
        address = found.new()
    database: Database = open_database(url=address)
    # The batch closes when all devices have been acknowledged, by the clock of the shuffler.
    until = int(time.time()) + 10**6
    plan = opened_shuffled(database, telling(until=until, batch=REPORTS), min_reports=1)
    text, _ = create_token(database, "trips", "shuffle", "", actor="test")
    bodies = [sealed(plan, value).body for value in range(REPORTS)]
    folder = str(tmp_path / "shuffler")
    with running("--database", address, "--trial-clock", _clock(until + 9_000)) as curator:
        store = Store(tmp_path / "shuffler", time.time)
        store.add_plan(plan, f"{curator.url}/v1/campaigns/trips", text, admission=False)
        open_, closed = (["--data", folder, "--trial-clock", _clock(until + by)] for by in (-9_000, 9_000))
        shuffler = Server(open_, command="shuffle", ready="/healthz")
        shuffler.start()
        request.addfinalizer(shuffler.kill)

        async def load() -> None:
            sending = asyncio.create_task(send(shuffler, f"/v2/plans/{plan.id}/reports", bodies))
            kills = await asyncio.to_thread(kill, [shuffler], KILLS, 1, sending.done)
            await sending
            assert kills > 0

        asyncio.run(load())
        assert [one.reports for one in store.batches()] == [REPORTS]
        # Now the batch is closed and sent, while everything is killed.
        shuffler.kill()
        shuffler.arguments = closed
        shuffler.start()
        if found is not None:
            found.crash()
        kill([curator, shuffler], KILLS, 2, lambda: False)
        end = time.monotonic() + 300
        while not sent(store) and time.monotonic() < end:
            time.sleep(0.1)
        assert sent(store), curator.log.read_text()[-2_000:] + shuffler.log.read_text()[-2_000:]
        store.close()
    assert counts(open_database(url=address), "trips")[: REPORTS + 1] == [1] * REPORTS + [0]


def _clock(start: int) -> str:
    """A clock that shows this time now."""
    day = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(start))
    return f"{day},1"
