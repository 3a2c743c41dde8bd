"""The HTTP interface: what it answers, and that nothing but documented problems comes back."""

from __future__ import annotations

import json
from collections.abc import Iterator
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

from ldptrace.protocol.problems import Problem
from ldptrace.server.app import ROUTES, openapi_text
from ldptrace.web.problems import ServerProblem
from server_kit import TELLING, Client, code, opened

DOCUMENT: dict[str, Any] = json.loads(openapi_text())


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


@pytest.mark.parametrize("digits", [10, 5_000])
def test_a_number_of_many_digits_is_no_round(client: Client, digits: int) -> None:
    with client as http:
        for address in (
            "/c/trips/release/{}",
            "/v1/operator/campaigns/trips/tallies/{}",
            "/v1/operator/campaigns/trips/rounds/{}/files/model.npz",
        ):
            answer = http.get(address.format("9" * digits), headers=client.token)
            # As the address of a page, it is the name of a file.
            wanted = "no-such-campaign" if address.startswith("/c/") else "not-found"
            assert (answer.status_code, code(answer)) == (404, wanted)


def test_the_document_lists_every_address_and_every_problem() -> None:
    described = {
        (method.upper(), path)
        for path, item in DOCUMENT["paths"].items()
        for method in item
        if method != "parameters"
    }
    pages = {
        "/",
        "/operate",
        "/c/{name}",
        "/c/{name}/release",
        "/c/{name}/release/profile.html",
        "/c/{name}/release/{round:number}",
        "/c/{name}/release/{round:number}/profile.html",
        "/c/{name}/release/{round:number}/{file}",
        "/c/{name}/release/{file}",
        "/assets/{path:path}",
    }
    assert described == {
        (method, path.replace(":number", "").replace(":window", ""))
        for method, path, _ in ROUTES
        if path not in pages
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


@pytest.mark.slow
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
