"""An application of routes: problems are documents, and a limit is one for all routes of an address."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient

from ldptrace.errors import InputError
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.web.answers import JsonAnswer
from ldptrace.web.app import Shared, asset_answer, assets, healthz, make_app
from ldptrace.web.intake import Intake, WithBody
from ldptrace.web.limits import RateLimit, Settings
from ldptrace.web.problems import Refused, ServerProblem, StorageUnavailable

ERRORS = {
    "refused": (Refused(ServerProblem.NOT_OPEN, "not yet"), "not-open"),
    "plan": (PlanRefused(Problem.PLAN_MALFORMED), "plan-malformed"),
    "storage": (StorageUnavailable("gone"), "storage-unavailable"),
    "other": (InputError("what is this"), "bad-request"),
}


def begin() -> Shared:
    def store(name: str, given: Sequence[WithBody]) -> list[int]:
        return [0] * len(given)

    shared = Shared(Settings(), Intake(store), threads=1)
    shared.rate = RateLimit(1.0, 3.0, clock=lambda: 0.0)
    return shared


async def fail(request: Request) -> Response:
    raise ERRORS[request.path_params["name"]][0]


async def window(request: Request) -> Response:
    return JsonAnswer({"window": request.path_params["window"]})


ROUTES = (("GET", "/healthz", healthz), ("GET", "/fail/{name}", fail), ("GET", "/w/{window:window}", window))


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_a_problem(name: str) -> None:
    with TestClient(make_app(ROUTES, begin), client=("127.0.0.1", 1)) as client:
        assert client.get(f"/fail/{name}").json()["code"] == ERRORS[name][1]


def test_a_window_has_one_address() -> None:
    with TestClient(make_app(ROUTES, begin), client=("127.0.0.1", 1)) as client:
        assert client.get("/w/4294967295").json() == {"window": 4294967295}
        for text in ("01", "-1", "1e3", "12345678901", "\u0661"):
            assert client.get(f"/w/{text}").json()["code"] == "not-found"
        assert client.post("/healthz").json()["code"] == "method-not-allowed"


def test_an_address_has_one_limit() -> None:
    with TestClient(make_app(ROUTES, begin), client=("192.0.2.7", 1)) as client:
        assert [client.get("/healthz").status_code for _ in range(4)] == [200, 200, 200, 429]


def test_pages_and_the_client_are_there() -> None:
    assert {"contributor.html", "contributor.js", "client/index.js", "client/src/seals.js"} <= set(assets())
    assert asset_answer("style.css").media_type == "text/css"


@pytest.mark.parametrize("name", ["", "nothing.js", "../app.py", "client/package.json"])
def test_nothing_else_is_read(name: str) -> None:
    with pytest.raises(Refused):
        asset_answer(name)
