"""What the requests of one process share: threads, tokens, and releases in processes of their own."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from starlette.requests import Request

from ldptrace.protocol.problems import Problem
from ldptrace.server import campaigns, registry, releases, tokens
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.releases import SILENT
from ldptrace.server.state import BUCKETS, TRIES, Metrics, State
from ldptrace.server.storage import Database, open_database, stored
from ldptrace.server.views import releases_of
from ldptrace.web.limits import Settings
from ldptrace.web.problems import Refused, ServerProblem
from server_kit import SINGLE, drawn, opened


@pytest.fixture
def database(tmp_path: Path) -> Database:
    found = open_database(tmp_path)
    opened(found, "trips", SINGLE, min_reports=5)
    return found


def request(authorization: str) -> Request:
    return Request({"type": "http", "headers": [(b"authorization", authorization.encode())]})


def test_work_that_waits_is_done_in_another_thread(database: Database) -> None:
    async def run() -> None:
        state = State(database, Settings())
        assert await state.call(threading.get_ident) != threading.get_ident()
        assert await state.read(lambda session: registry.find(session, "trips").state) == "open"
        await state.stop()

    asyncio.run(run())


def test_a_request_comes_with_a_valid_token(database: Database) -> None:
    text, kept = tokens.create_token(database, "trips", "read", "", actor="test")

    async def problem(authorization: str) -> object:
        try:
            return await state.token(request(authorization))
        except Refused as refused:
            return refused.problem

    async def run() -> None:
        assert await problem(f"Bearer {text}") == kept
        assert await problem(f"bearer  {text} ") == kept
        for none in ("", text, f"Basic {text}", "Bearer", f"Bearer {text[:-1]}"):
            assert await problem(none) is ServerProblem.UNAUTHORIZED
        await state.stop()

    state = State(database, Settings())
    asyncio.run(run())


def test_a_release_whose_process_was_ended_is_told_as_failed(
    database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Counter(database).count("trips", [Submission(report) for report in drawn(SINGLE, 5)])
    campaigns.close(database, "trips", actor="test", now=0)
    attempt = releases.begin(database, "trips", actor="test")
    # A program that reads the address of the database and ends badly.
    program = tmp_path / "ended"
    program.write_text("#!/bin/sh\ncat > /dev/null\nexit 3\n")
    program.chmod(0o700)

    async def run() -> None:
        state = State(database, Settings())
        monkeypatch.setattr(sys, "executable", str(program))
        state.start_release(attempt)
        await asyncio.gather(*state._releases)
        found = await state.read(lambda session: releases_of(session, "trips").get(stored(None)))
        assert found is not None
        assert (found["state"], found["error"]) == ("failed", "the process that made it was ended")
        await state.stop()

    asyncio.run(run())


def test_a_release_whose_server_and_worker_have_ended_is_taken_up_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    Counter(database).count("trips", [Submission(report) for report in drawn(SINGLE, 5)])
    campaigns.close(database, "trips", actor="test", now=0)
    first = releases.begin(database, "trips", actor="test", count=7)
    begun: list[releases.Attempt] = []
    monkeypatch.setattr(State, "start_release", lambda _, attempt: begun.append(attempt))
    now = [1000.0]
    monkeypatch.setattr("ldptrace.server.state.time.monotonic", lambda: now[0])

    async def run() -> None:
        state = State(database, Settings())
        await state.advance()
        now[0] += SILENT - 1
        first.beat()
        await state.advance()
        now[0] += SILENT - 1
        await state.advance()
        assert begun == []
        now[0] += 1
        await state.advance()
        await state.advance()
        await state.stop()

    asyncio.run(run())
    # It is begun once, with the number of trips that was asked for; the attempt before writes no more.
    assert [(one.name, one.count, one.number) for one in begun] == [("trips", 7, None)]
    with pytest.raises(Refused, match="another attempt"):
        first.beat()


def test_what_is_due_is_released_by_itself_one_after_the_other(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the clock of the server; a release that fails is begun a few times, then an operator has to look."""
    Counter(database).count("trips", [Submission(report) for report in drawn(SINGLE, 5)])
    with database.writing() as session:
        session.run("UPDATE campaigns SET until = 100")
    begun: list[tuple[str, int | None]] = []

    def start(self: State, attempt: releases.Attempt) -> None:
        begun.append((attempt.name, attempt.number))
        attempt.fail("no room")

    monkeypatch.setattr(State, "start_release", start)

    async def run() -> None:
        now = [99.0]
        state = State(database, Settings(clock=lambda: now[0]))
        await state.advance()
        assert begun == []
        now[0] = 100.0
        for _ in range(TRIES + 2):
            await state.advance()
        await state.stop()

    asyncio.run(run())
    assert begun == [("trips", None)] * TRIES
    with database.reading() as session:
        assert registry.find(session, "trips").state == "closed"


def test_uploads_that_wait_are_forgotten_when_the_server_stops(database: Database) -> None:
    begun, ending, read = threading.Event(), threading.Event(), []

    def first() -> None:
        begun.set()
        ending.wait(60)

    async def run() -> None:
        state = State(database, Settings())
        uploads = [asyncio.ensure_future(state.upload(first))]
        await asyncio.to_thread(begun.wait, 60)
        uploads.append(asyncio.ensure_future(state.upload(lambda: read.append("second"))))
        await asyncio.sleep(0)
        threading.Timer(0.2, ending.set).start()
        await state.stop()
        await asyncio.gather(*uploads, return_exceptions=True)

    asyncio.run(run())
    assert read == []


def test_an_error_does_not_end_what_is_done_by_the_clock(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []

    def maintain() -> None:
        done.append(1)
        raise ValueError("something that nobody expects")

    async def run() -> None:
        state = State(database, Settings())
        monkeypatch.setattr("ldptrace.server.state.MAINTAIN", 0.01)
        monkeypatch.setattr(database, "maintain", maintain)
        working = asyncio.create_task(state.maintain())
        while len(done) < 2:
            assert not working.done()
            await asyncio.sleep(0.01)
        working.cancel()
        await state.stop()

    asyncio.run(run())


def numbers(metrics: Metrics) -> dict[str, float]:
    lines = [line for line in metrics.text(7).splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_reports_are_counted_by_outcome() -> None:
    metrics = Metrics()
    good, mixed = np.zeros(5, dtype=np.uint8), np.array([0, Problem.DUPLICATE.number, 0], dtype=np.uint8)
    metrics.counted("town", [good, mixed], 0.003)
    found = numbers(metrics)
    assert found['ldptrace_reports_total{campaign="town",outcome="counted"}'] == 7
    assert found['ldptrace_reports_total{campaign="town",outcome="duplicate"}'] == 1
    assert found["ldptrace_waiting_bytes"] == 7


def test_buckets_are_cumulative() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.002, 0.3, 99.0):
        metrics.counted("town", [], seconds)
    found = [numbers(metrics)[f'ldptrace_commit_seconds_bucket{{le="{end}"}}'] for end in (*BUCKETS, "+Inf")]
    assert found == sorted(found)
    assert (found[0], found[-2], found[-1]) == (2, 3, 4)
    assert numbers(metrics)["ldptrace_commit_seconds_count"] == 4
