from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from ldptrace.shuffler import app as module
from ldptrace.shuffler.app import State, create_app
from ldptrace.shuffler.sender import Request, Sender
from ldptrace.shuffler.store import FIXED, OPEN, SENT, Sealed, Store
from ldptrace.web.limits import Settings
from ldptrace.web.problems import StorageUnavailable
from shuffler_kit import BATCH, HOUR, NOW, sealed, serving, serving_both, standing, telling

TYPE = {"Content-Type": "application/vnd.ldptrace.sealed"}


def clock() -> float:
    return NOW


def client_of(store: Store, **settings: Any) -> TestClient:
    def unreachable(request: Request) -> tuple[int, str]:
        raise OSError

    app = create_app(store, Settings(clock=clock, **settings), unreachable)
    return TestClient(app, client=("192.0.2.1", 1))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return serving_both(tmp_path, clock)


@pytest.fixture
def client(store: Store) -> Iterator[TestClient]:
    with client_of(store) as found:
        yield found


def path_of(one: Sealed) -> str:
    if one.window < 0:
        return f"/v2/plans/{telling().id}/reports"
    return f"/v2/plans/{standing().id}/windows/{one.window}/reports"


def test_a_report_is_acknowledged_when_it_is_held(client: TestClient, store: Store) -> None:
    one = sealed(telling(), 5)
    for _ in range(2):
        answer = client.post(path_of(one), content=one.body, headers=TYPE)
        assert (answer.status_code, answer.json()) == (200, {"taken": 1})
        assert [(batch.state, batch.reports) for batch in store.batches()] == [(OPEN, 1)]


def test_a_code_admits_a_report(client: TestClient, store: Store) -> None:
    one = sealed(standing(), 5, 0)
    answer = client.post(path_of(one), content=one.body, headers=TYPE)
    assert (answer.status_code, answer.json()["code"]) == (403, "not-admitted")
    [[code]] = store.make_codes(standing().id, [0], 1)
    assert client.post(path_of(one), content=one.body, headers=TYPE | {"Ldptrace-Admission": code}).is_success
    assert client.post(path_of(one), content=one.body, headers=TYPE).is_success


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        (f"/v2/plans/{'0' * 64}/reports", sealed(telling(), 1).body, "not-found"),
        ("/v2/plans/../reports", b"", "not-found"),
        (f"/v2/plans/{telling().id}/reports", b"", "wrong-size"),
        (f"/v2/plans/{telling().id}/windows/1/reports", sealed(telling(), 1).body, "wrong-window"),
        (f"/v2/plans/{standing().id}/windows/99/reports", sealed(standing(), 1, 99).body, "wrong-window"),
        (f"/v2/plans/{standing().id}/windows/4294967296/reports", b"", "not-found"),
        (f"/v2/plans/{standing().id}/reports", sealed(standing(), 1, 0).body, "wrong-window"),
    ],
)
def test_problems(path: str, body: bytes, code: str, client: TestClient, store: Store) -> None:
    answer = client.post(path, content=body, headers=TYPE)
    assert answer.json()["code"] == code
    assert answer.headers["access-control-allow-origin"] == "*"
    assert store.batches() == []


def test_another_media_type_is_refused(client: TestClient) -> None:
    one = sealed(telling(), 1)
    headers = {"Content-Type": "application/vnd.ldptrace.reports"}
    assert (
        client.post(path_of(one), content=one.body, headers=headers).json()["code"]
        == "unsupported-media-type"
    )


def test_pages_of_another_origin_can_send(client: TestClient) -> None:
    answer = client.options(path_of(sealed(telling(), 1)))
    assert (answer.status_code, answer.headers["access-control-allow-methods"]) == (204, "GET, POST")
    assert answer.headers["access-control-allow-headers"] == "content-type, ldptrace-admission"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers


def test_the_plan_is_served_byte_for_byte(client: TestClient) -> None:
    plan = telling()
    answer = client.get(f"/v2/plans/{plan.id}")
    assert (answer.text, answer.headers["content-type"]) == (
        plan.to_json(),
        "application/vnd.ldptrace.plan+json",
    )
    served = {one["id"]: one for one in client.get("/v2/plans").json()["plans"]}
    assert served[plan.id]["operator"] == "A club"
    assert not any("token" in one for one in served.values())
    assert served[standing().id]["admission"] is True
    assert client.get("/healthz").json() == {"status": "ok"}


def test_an_address_is_limited(store: Store) -> None:
    one = sealed(telling(), 1)
    with client_of(store, rate=0.001, burst=2.0) as client:
        got = [client.post(path_of(one), content=one.body, headers=TYPE).status_code for _ in range(3)]
    assert got == [200, 200, 429]


def test_batches_are_sent_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAINTAIN", 0.001)
    now, plan, sent = [float(NOW)], telling(), list[bytes]()
    store = serving(tmp_path, plan, lambda: now[0])

    def put(request: Request) -> tuple[int, str]:
        sent.append(b"".join(request.body))
        return 200, "{}"

    failures: list[Exception] = [StorageUnavailable("full"), ValueError("whatever"), RecursionError()]
    step = Sender.step

    def failing(self: Sender) -> None:
        if failures:
            raise failures.pop()
        step(self)

    monkeypatch.setattr(Sender, "step", failing)

    async def run() -> None:
        state = State(store, Settings(clock=lambda: now[0]), put)
        made = [sealed(plan, value) for value in range(BATCH)]
        async with state.running():
            assert await asyncio.gather(*(state.intake.submit(plan.id, one) for one in made)) == [0] * BATCH
            now[0] += HOUR
            while [one.state for one in await state.call(store.batches)] != [SENT]:
                await asyncio.sleep(0.001)
        assert [len(body) for body in sent] == [sum(len(one.body) for one in made)]

    asyncio.run(asyncio.wait_for(run(), 20))


def test_a_silent_curator_does_not_keep_it_from_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAINTAIN", 0.001)
    plan = telling()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = serving(tmp_path, plan, lambda: NOW)
        for one in (plan, telling(operator="Another")):
            store.add_plan(one, f"http://127.0.0.1:{silent.getsockname()[1]}", "token", admission=False)
            store.take(one.id, [sealed(one, value) for value in range(BATCH)])
        store.close()
        store = Store(tmp_path, lambda: NOW + HOUR)

        async def run() -> socket.socket:
            async with State(store, Settings()).running():
                # The curator takes the connection, and says nothing.
                link, _ = await asyncio.to_thread(silent.accept)
            return link

        with asyncio.run(asyncio.wait_for(run(), 20)):
            end = time.monotonic() + 20
            while [one for one in threading.enumerate() if one.name.startswith("sending")]:
                assert time.monotonic() < end, "it is still sending"
                time.sleep(0.01)
    store.close()
    assert [one.state for one in store.batches()] == [FIXED, FIXED]
