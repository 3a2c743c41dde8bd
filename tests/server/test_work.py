"""The work of a request: how many functions run for it, against the size of each of its parts.

Functions are counted, those of Python and those of C; no clock is read. A part that a stranger chooses may be as large
as it likes: the work stays below a bound, or grows no faster than the bytes that were sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import report_bytes
from ldptrace.protocol.seals import sealed_bytes
from ldptrace.protocol.standing import Standing
from ldptrace.server import campaigns, devices, fence, operators, registry, tokens
from ldptrace.server.app import ROUTES
from ldptrace.web import run
from ldptrace.web.limits import MAX_ARRIVING, MAX_HEAD, Settings
from server_kit import SINGLE, TELLING, TYPE, Client, of, opened, telling_report
from shuffler_kit import HOUR, NOW, opened_shuffled, telling
from work_kit import FEW, Application

BASE = "/v1/campaigns/trips"
MINUTE, DAY = 60, 86_400


class Curator(Application):
    """The server of a curator."""

    def __init__(self, client: Client) -> None:
        self.client = client
        super().__init__(client.app, "_uploads")


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Curator]:
    client = Client(tmp_path)
    opened(client.database, "trips", TELLING)
    found = Curator(client)
    yield found
    found.stop()


ROOM = MAX_HEAD - 2_000
PARTS = {
    "commas of admission": ("POST", f"{BASE}/reports", {**TYPE, "Ldptrace-Admission": "," * ROOM}),
    "an admission code": ("POST", f"{BASE}/reports", {**TYPE, "Ldptrace-Admission": "a" * ROOM}),
    "entity tags": ("GET", f"{BASE}/plan", {"If-None-Match": '"a",' * (ROOM // 4)}),
    "a token": ("GET", "/v1/operator/campaigns", {"Authorization": "Bearer " + "ldpt_" * (ROOM // 5)}),
    "a media type": ("POST", f"{BASE}/reports", {"Content-Type": ";" * ROOM}),
    "a query": ("GET", f"/v1/campaigns?after={'a' * ROOM}", {}),
    "a path": ("GET", "/v1/campaigns/" + "a" * ROOM, {}),
    "folders of a path": ("GET", "/assets/" + "a/" * (ROOM // 2), {}),
    "a number": ("GET", "/c/trips/release/" + "9" * ROOM, {}),
}


@pytest.mark.parametrize("part", PARTS)
def test_a_large_part_of_the_head_costs_little(application: Curator, part: str) -> None:
    assert application.work(*PARTS[part]) < FEW


def _filled(path: str, /, **parts: str) -> str:
    """The address of a route, with what stands for its parameters."""
    values = {
        "name": "trips",
        "plan": "0" * 64,
        "round": "1",
        "window": "1",
        "file": "x",
        "path": "x",
    } | parts
    return re.sub(r"{(\w+)(?::\w+)?}", lambda found: values[found[1]], path)


def _part(path: str, token: dict[str, str], part: str) -> tuple[str, dict[str, str], bytes]:
    """Address, headers and body of a request with one large part."""
    if part == "query":
        return f"{_filled(path)}?after={'a' * (ROOM // 2)}&{'b=&' * (ROOM // 8)}", token, b""
    if part == "header":
        return _filled(path), token | {"X-Any": "a" * ROOM, "Cookie": "a=b;" * (ROOM // 4)}, b""
    if part == "body":
        kind = TYPE if path.endswith("/reports") else {"Content-Type": "application/json"}
        body = json.dumps({f"{'key' * 10}{number}": [number] * 9 for number in range(2_000)}).encode()
        return _filled(path), token | kind, body
    letters = "9" if part in ("round", "window") else "a"
    return _filled(path, **{part: letters * ROOM}), token, b""


@pytest.mark.parametrize(
    "part", ["query", "header", "body", "name", "plan", "round", "window", "file", "path"]
)
def test_every_address_bounds_the_work_of_every_part(
    application: Curator, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """Whatever is large in a request that is refused or answered, at any address, with a token of an operator."""
    monkeypatch.setattr(fence, "drawing", lambda plan, files: b"{}")
    # What changes the campaign comes last.
    routes = sorted(ROUTES, key=lambda one: (one[0] != "GET", one[0] == "DELETE", one[1].endswith("/close")))
    tried = 0
    for method, path, _ in routes:
        if part in ("query", "header", "body") or f"{{{part}" in path:
            where, headers, body = _part(path, application.client.token, part)
            most = FEW + len(body) // 4
            assert application.work(method, where, headers, body) < most, (method, path)
            tried += 1
    assert tried >= 1


@pytest.mark.slow
def test_a_json_body_costs_no_more_than_its_bytes(application: Curator) -> None:
    """Facts of a campaign whose lists are as long as they may be, or far too deep."""
    token = application.client.token | {"Content-Type": "application/json"}
    facts: dict[str, Any] = {"name": "new", "users": 9, "epsilon": 1, "bounds": [0, 0, 1, 1]}
    large: dict[str, Any] = {
        "questions": ["length"] * 20_000,
        "bounds": list(range(20_000)),
        "centre": list(range(20_000)),
        "epsilon": "1" * 100_000,
        "users": 10**4_000,
        "every": "9" * 100_000 + "d",
        "title": "a" * 100_000,
        "plan": {"rounds": [[]] * 20_000},
        "crs": "EPSG:" * 20_000,
    }
    for name, value in large.items():
        body = json.dumps(facts | {name: value}).encode()
        request = ("POST", "/v1/operator/campaigns", token, body)
        status, _ = application.ask(*request)
        assert 400 <= status < 500, name
        assert application.work(*request) < FEW + 2 * len(body), name
    for body in (b"[" * (1 << 19), b'{"name":' * (1 << 16), b" " * (1 << 21)):
        status, _ = application.ask("POST", "/v1/operator/campaigns", token, body)
        assert status in (400, 413)


def test_a_batch_costs_no_more_than_its_bytes(tmp_path: Path) -> None:
    """Seals that nobody can open, as a shuffler might send them."""
    client = Client(tmp_path, clock=lambda: NOW + 4.5 * HOUR)
    plan = opened_shuffled(client.database, telling())
    text, _ = tokens.create_token(client.database, "trips", "shuffle", "", actor="test")
    headers = {"Authorization": f"Bearer {text}", "Content-Type": "application/vnd.ldptrace.batch"}
    size = sealed_bytes(report_bytes(plan.rounds[0]))
    application = Curator(client)
    try:
        path = f"/v1/campaigns/trips/plans/{plan.id}/batch"
        for body in (bytes(size + 1), bytes(1_000 * size)):
            # Of another size, or all equal: fewer than a batch.
            assert application.work("PUT", path, headers, body) < FEW + len(body) // 10
        junk = b"".join(number.to_bytes(4, "big") + bytes(size - 4) for number in range(1_000))
        assert application.ask("PUT", path, headers, junk)[0] == 200
        # Sent again, nothing is opened.
        assert application.work("PUT", path, headers, junk) < FEW + len(junk) // 10
    finally:
        application.stop()


def test_the_log_of_operators_is_sent_in_part(application: Curator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "ENTRIES", 2)
    with application.client.database.writing() as session:
        for number in range(3):
            registry.note(session, "me", "look", "trips", str(number))
    shown = json.loads(application.ask("GET", "/v1/operator/audit", application.client.token)[1])
    assert ([one["detail"] for one in shown["entries"]], shown["more"]) == (["1", "2"], True)


def test_admission_codes_cost_a_few_functions_each(application: Curator) -> None:
    """As many as fit: each is cut and hashed, and nothing more is done with it."""
    most = ",".join(["ab" * 16] * devices.MOST_ADMISSIONS)
    assert len(most) <= MAX_HEAD
    headers = {**TYPE, "Ldptrace-Admission": most}
    assert application.work("POST", f"{BASE}/reports", headers) < FEW + 10 * devices.MOST_ADMISSIONS
    status, _ = application.ask("POST", f"{BASE}/reports", {**TYPE, "Ldptrace-Admission": most + ",a"})
    assert status == 431


def test_a_request_has_few_headers() -> None:
    class Asked:
        headers = [(b"a", b"")] * run.MAX_HEADERS

    with pytest.raises(ValueError, match="at most 128 headers"):
        run.GuardedProtocol.on_header(Asked(), b"a", b"")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["junk", "reports", "one id"])
def test_a_body_costs_no_more_than_its_bytes(application: Curator, kind: str) -> None:
    def body(count: int) -> bytes:
        if kind == "junk":
            return bytes(len(telling_report(0)) * count)
        return telling_report(7) * count if kind == "one id" else b"".join(map(telling_report, range(count)))

    small, large = (application.work("POST", f"{BASE}/reports", TYPE, body(count)) for count in (500, 2_000))
    assert large < 4.4 * small
    assert large < FEW + len(body(2_000))


@pytest.mark.slow
def test_a_list_costs_the_same_for_many_campaigns(
    application: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No plan is read a second time, whoever asks and however many campaigns there are."""
    database = application.client.database
    for number in range(70):
        campaigns.create(database, f"c{number}", of(SINGLE, f"c{number}"), actor="test")
        campaigns.open_round(database, f"c{number}", actor="test")
    read: list[str] = []
    whole = Plan.from_json
    monkeypatch.setattr(Plan, "from_json", lambda text: read.append(text) or whole(text))
    asked = [("GET", "/v1/campaigns"), ("GET", "/v1/operator/campaigns", application.client.token)]
    for request in asked:
        application.ask(*request)
        read.clear()
        status, _ = application.ask(*request)
        assert status == 200
        assert read == []
    assert registry.PLANS > devices.LISTED > operators.LISTED


def test_a_list_goes_on_after_a_name(application: Curator, monkeypatch: pytest.MonkeyPatch) -> None:
    database = application.client.database
    for name in ("a", "b"):
        campaigns.create(database, name, of(TELLING, name), actor="test")
        campaigns.open_round(database, name, actor="test")
    campaigns.create(database, "draft", of(TELLING, "draft"), actor="test")
    monkeypatch.setattr(devices, "LISTED", 2)
    monkeypatch.setattr(operators, "LISTED", 2)

    def names(path: str) -> tuple[list[str], bool]:
        found = json.loads(application.ask("GET", path, application.client.token)[1])
        return [one["name"] for one in found["campaigns"]], found["more"]

    assert names("/v1/campaigns") == (["a", "b"], True)
    assert names("/v1/campaigns?after=b") == (["trips"], False)
    assert names("/v1/operator/campaigns?after=a") == (["b", "draft"], True)
    assert names("/v1/operator/campaigns?after=draft") == (["trips"], False)
    assert application.ask("GET", "/v1/campaigns?after=..")[0] == 400


@pytest.mark.slow
def test_reports_that_are_refused_make_no_windows(tmp_path: Path) -> None:
    """A plan of minutes has 1,443 windows that are counted at once: junk for each of them leaves nothing."""
    clock = 10 * DAY
    client = Client(tmp_path, clock=lambda: float(clock))
    every_minute = TELLING.changed(standing=Standing.of(MINUTE, epsilon=1, start=0))
    plan = opened(client.database, "minutes", every_minute)
    assert plan.standing is not None
    windows = range(clock // MINUTE, clock // MINUTE + 40)
    good = [telling_report(1, plan, window) for window in windows]
    # The item is not one of the question: the first bytes are those of a report, and the last ones are not.
    junk = [report[:-2] + b"\xff\xff" for report in good]
    application = Curator(client)
    try:
        for report in junk:
            assert application.ask("POST", "/v1/campaigns/minutes/reports", TYPE, report)[0] == 400
        application.ask("POST", "/v1/campaigns/minutes/reports", TYPE, b"".join(junk))
        assert _rounds(client) == 0
        assert application.ask("POST", "/v1/campaigns/minutes/reports", TYPE, good[0])[0] == 200
        assert application.ask("POST", "/v1/campaigns/minutes/reports", TYPE, good[0])[0] == 409
        assert _rounds(client) == 1
        assert application.ask("POST", "/v1/campaigns/minutes/reports", TYPE, good[1] + junk[2])[0] == 200
        assert _rounds(client) == 2
    finally:
        application.stop()


def _rounds(client: Client) -> int:
    with client.database.reading() as session:
        [(count,)] = session.rows("SELECT count(*) FROM rounds")
    return int(count)


@pytest.mark.slow
def test_uploads_may_be_as_large_as_they_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What arrives of reports has a bound of its own, which uploads do not share."""
    size = MAX_ARRIVING + (2 << 20)
    client = Client(tmp_path, max_upload=size)
    opened(client.database, "trips", TELLING)
    application = Curator(client)
    try:
        path = "/v1/operator/campaigns/trips/roads/nodes.csv"
        assert application.ask("PUT", path, client.token, bytes(size))[0] == 204
        assert application.ask("PUT", path, client.token, bytes(size + 1))[0] == 413
        assert client.shared.uploading.bytes == 0
        monkeypatch.setattr("ldptrace.server.releases.MAX_ROADS", 150_000)
        assert application.ask("PUT", path, client.token, bytes(90_000))[0] == 204
        other = "/v1/operator/campaigns/trips/roads/edges.csv"
        assert application.ask("PUT", other, client.token, bytes(90_000))[0] == 400
    finally:
        application.stop()
    assert Settings().max_upload == 256 << 20
