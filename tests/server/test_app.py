"""The HTTP interface: what it answers, and that nothing but documented problems comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis.errors
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem
from ldptrace.server import tokens
from ldptrace.server.app import ROUTES, create_app, openapi_text
from ldptrace.server.limits import Settings
from ldptrace.server.problems import ServerProblem
from ldptrace.server.storage import open_database
from server_kit import SINGLE, TELLING, TYPE, drawn, opened

DOCUMENT: dict[str, Any] = json.loads(openapi_text())


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


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


def code(answer: Any) -> str:
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code
    return str(answer.json()["code"])


def test_devices(client: Client) -> None:
    with client as http:
        opened(client.database, "trips", SINGLE)
        shown = http.get("/v1/campaigns/trips").json()
        assert (shown["state"], shown["round"], shown["plan"]) == ("open", 1, SINGLE.id)
        assert "reports" not in shown
        plan = http.get("/v1/campaigns/trips/plan")
        assert plan.headers["content-type"] == "application/vnd.ldptrace.plan+json"
        assert Plan.from_json(plan.content) == SINGLE
        same = http.get("/v1/campaigns/trips/plan", headers={"If-None-Match": plan.headers["etag"]})
        assert (same.status_code, same.content) == (304, b"")
        one, two, three = drawn(SINGLE, 3)
        path = "/v1/campaigns/trips/reports"
        assert http.post(path, content=one, headers=TYPE).json() == {"counted": 1, "problems": []}
        again = http.post(path, content=one, headers=TYPE)
        assert (again.status_code, code(again)) == (409, "duplicate")
        batch = http.post(path, content=one + two + b"\x02" + three[1:] + three, headers=TYPE)
        assert batch.status_code == 200
        assert batch.json() == {
            "counted": 2,
            "problems": [{"report": 0, "problem": "duplicate"}, {"report": 2, "problem": "unknown-version"}],
        }
        elsewhere = one[:1] + bytes(16) + one[17:]
        for body, problem in ((b"", "wrong-size"), (one[:-1], "wrong-size"), (elsewhere, "wrong-plan")):
            assert code(http.post(path, content=body, headers=TYPE)) == problem
        assert code(http.post(path, content=two)) == "unsupported-media-type"
        assert code(http.post("/v1/campaigns/no/reports", content=one, headers=TYPE)) == "no-such-campaign"


def test_a_draft_is_nobodys_business(client: Client) -> None:
    with client as http:
        answer = http.post(
            "/v1/operator/campaigns",
            json={"name": "trips", "plan": SINGLE.document(), "title": "Trips in town"},
            headers=client.token,
        )
        assert answer.status_code == 201
        assert answer.json()["plan"] == SINGLE.id
        for path in ("/v1/campaigns/trips", "/v1/campaigns/trips/plan", "/c/trips"):
            assert code(http.get(path)) == "no-such-campaign"
        assert http.get("/v1/campaigns").json() == {"campaigns": []}


def test_operators(client: Client) -> None:
    with client as http:
        facts = {"name": "trips", "users": 500, "epsilon": 1.5, "grid": 6, "bounds": [0, 0, 6, 6]}
        made = http.post("/v1/operator/campaigns", json=facts | {"min_reports": 4}, headers=client.token)
        assert made.status_code == 201
        base = "/v1/operator/campaigns/trips"
        assert http.post(f"{base}/open", headers=client.token).json()["state"] == "open"
        plan = Plan.from_json(http.get("/v1/campaigns/trips/plan").content)
        reports = drawn(plan, 4)
        path = "/v1/campaigns/trips/reports"
        http.post(path, content=b"".join(reports[:3]), headers=TYPE)
        assert code(http.get(f"{base}/estimates", headers=client.token)) == "not-enough-reports"
        assert code(http.get(f"{base}/tallies/1", headers=client.token)) == "not-enough-reports"
        http.post(path, content=reports[3], headers=TYPE)
        assert len(http.get(f"{base}/estimates", headers=client.token).json()["density"]["values"]) == 36
        tally = http.get(f"{base}/tallies/1", headers=client.token)
        assert sum(ask["users"] for ask in tally.json()["asks"]) == 4
        assert code(http.post(f"{base}/publish", headers=client.token)) == "wrong-state"
        assert code(http.delete(base, headers=client.token)) == "wrong-state"
        assert http.post(f"{base}/close", headers=client.token).json()["state"] == "closed"
        late = http.post(path, content=drawn(plan, 1)[0], headers=TYPE)
        assert (late.status_code, code(late)) == (409, "round-closed")
        assert code(http.post(path, content=reports[0], headers=TYPE)) == "duplicate"
        shown = http.get(base, headers=client.token).json()
        assert (shown["reports"], shown["rejected"]) == (4, {"duplicate": 1, "round-closed": 1})
        metrics = http.get("/metrics", headers=client.token).text
        assert 'ldptrace_reports_total{campaign="trips",outcome="counted"} 4' in metrics
        assert 'route="/v1/campaigns/{name}/reports",status="200"' in metrics
        assert (
            http.put(f"{base}/roads/nodes.csv", content=b"id,x,y\n", headers=client.token).status_code == 204
        )
        assert http.get(base, headers=client.token).json()["files"] == []
        log = http.get("/v1/operator/audit", headers=client.token).json()["entries"]
        assert [entry["action"] for entry in log] == ["create token", "create", "open", "close", "roads"]
        assert http.delete(base, headers=client.token).status_code == 204
        assert code(http.get(base, headers=client.token)) == "no-such-campaign"


def test_every_request_of_operators_needs_a_token(client: Client) -> None:
    opened(client.database, "trips", SINGLE)
    opened(client.database, "other", SINGLE)
    reader, _ = tokens.create_token(client.database, "trips", "read", "", actor="test")
    read = {"Authorization": f"Bearer {reader}"}
    with client as http:
        for method, path, _ in ROUTES:
            if not path.startswith(("/v1/operator", "/metrics")):
                continue
            here = (
                path.format(name="trips", file="x", round=1)
                if "round:" not in path
                else ("/v1/operator/campaigns/trips/tallies/1")
            )
            for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic eDp5"}):
                answer = http.request(method, here, headers=headers)
                assert (answer.status_code, code(answer)) == (401, "unauthorized"), path
            if method != "GET":
                assert code(http.request(method, here, headers=read)) == "forbidden"
            elif "{name}" in path:
                other = here.replace("trips", "other")
                assert code(http.request(method, other, headers=read)) == "forbidden"
        # A list shows what the token can see.
        listed = http.get("/v1/operator/campaigns", headers=read).json()["campaigns"]
        assert [entry["name"] for entry in listed] == ["trips"]


def test_limits(tmp_path: Path) -> None:
    client = Client(tmp_path, max_body=1_000, rate=0.001, burst=6)
    opened(client.database, "trips", SINGLE)
    path = "/v1/campaigns/trips/reports"
    with client as http:
        large = http.post(path, content=bytes(1_001), headers=TYPE)
        assert (large.status_code, code(large)) == (413, "body-too-large")
        streamed = http.post(path, content=iter([bytes(600), bytes(600)]), headers=TYPE)
        assert code(streamed) == "body-too-large"
        for _ in range(4):
            assert http.get("/healthz").status_code == 200
        refused = http.get("/healthz")
        assert (refused.status_code, code(refused)) == (429, "rate-limited")
        assert refused.headers["retry-after"]


def test_headers(client: Client) -> None:
    with client as http:
        for path in ("/operate", "/healthz", "/nowhere", "/v1/operator/audit", "/assets/style.css"):
            answer = http.get(path)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert "server" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../openapi.json",
        "/assets/..%2fopenapi.json",
        "/assets/%2e%2e/%2e%2e/run.py",
        "/assets//etc/passwd",
        "/assets/client/../../app.py",
        "/assets/client/package.json",
        "/v1/operator/campaigns/trips/files/..%2f..%2fetc%2fpasswd",
        "/v1/campaigns/..%2f..",
        "/v1/campaigns/%00",
        "/v1/campaigns/trips/",
    ],
)
def test_tricks_with_paths(client: Client, path: str) -> None:
    with client as http:
        answer = http.get(path, headers=client.token)
        assert answer.status_code == 404
        assert code(answer) in ("not-found", "no-such-campaign")


def test_bodies_that_are_no_campaign(client: Client) -> None:
    bodies: list[Any] = [
        [],
        {},
        {"name": 3},
        {"name": "a"},
        {"name": "a", "plan": 3},
        {"name": "a", "plan": {}, "users": 3},
        {"name": "a", "users": 3, "epsilon": 1},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1]},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, "1"]},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [1, 0, 0, 1]},
        {"name": "a", "users": 0, "epsilon": 1, "bounds": [0, 0, 1, 1]},
        {"name": "a", "users": True, "epsilon": 1, "bounds": [0, 0, 1, 1]},
        {"name": "a", "users": 3, "epsilon": 0, "bounds": [0, 0, 1, 1]},
        {"name": "a", "users": 3, "epsilon": "1e400", "bounds": [0, 0, 1, 1]},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "grid": 1},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "grid": 6.5},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "crs": 4326},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1e308, 1e308]},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "colour": "red"},
        {"name": "a", "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1], "min_reports": -1},
        {"name": "a" * 70, "users": 3, "epsilon": 1, "bounds": [0, 0, 1, 1]},
    ]
    with client as http:
        for body in bodies:
            answer = http.post("/v1/operator/campaigns", json=body, headers=client.token)
            assert answer.status_code in (400, 422), (body, answer.text)
            assert code(answer) in ("bad-request", "plan-malformed")
        for text in (b"{", b"\xff", b"[" * 100_000):
            answer = http.post(
                "/v1/operator/campaigns",
                content=text,
                headers=client.token | {"Content-Type": "application/json"},
            )
            assert code(answer) == "bad-request"
        assert http.get("/v1/operator/campaigns", headers=client.token).json()["campaigns"] == []


def test_the_document_lists_every_address_and_every_problem() -> None:
    described = {
        (method.upper(), path)
        for path, item in DOCUMENT["paths"].items()
        for method in item
        if method != "parameters"
    }
    pages = {"/", "/operate", "/c/{name}", "/assets/{path:path}"}
    assert described == {
        (method, path.replace(":int", "")) for method, path, _ in ROUTES if path not in pages
    }
    codes = DOCUMENT["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
    assert codes == [problem.code for problem in (*Problem, *ServerProblem)]
    numbers = [problem.number for problem in (*Problem, *ServerProblem)]
    assert len(set(numbers)) == len(numbers)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An application with a campaign in every state, for the fuzzer."""
    client = Client(tmp_path_factory.mktemp("fuzzed"), rate=0, timeout=5.0)
    opened(client.database, "trips", TELLING, min_reports=1)
    with client:
        yield client


@pytest.fixture(scope="module")
def interface(fuzzed: Client) -> Any:
    return schemathesis.openapi.from_asgi("/v1/openapi.json", fuzzed.app)


schemathesis.serializer.alias("application/vnd.ldptrace.reports", "application/octet-stream")
OPERATIONS = sorted(
    (method, path) for path, item in DOCUMENT["paths"].items() for method in item if method != "parameters"
)
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_the_interface_is_as_described(
    interface: Any, fuzzed: Client, method: str, path: str, mode: schemathesis.GenerationMode
) -> None:
    """Every answer has a status, a media type and a shape that the document names; there is no 500."""

    @settings(max_examples=10, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(case=interface[path][method].as_strategy(generation_mode=mode))
    def answers(case: Any) -> None:
        if "name" in (case.path_parameters or {}):
            case.path_parameters["name"] = "trips"
        response = case.call(headers=fuzzed.token)
        assert response.status_code != 500
        case.validate_response(response, checks=CHECKS)

    try:
        answers()
    except hypothesis.errors.Unsatisfiable:
        # There is nothing to get wrong in a request without parameters.
        assert mode is schemathesis.GenerationMode.NEGATIVE
