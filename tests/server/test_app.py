"""The HTTP interface: what it answers, and that nothing but documented problems comes back."""

from __future__ import annotations

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

from ldptrace.server.app import OPERATIONS, ROUTES
from ldptrace.server.interface import Operation
from server_kit import TELLING, Client, code, opened


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


def test_everything_else_is_a_page() -> None:
    described = {(one.method, one.path) for one in OPERATIONS}
    rest = [(method, path) for method, path, _ in ROUTES if (method, path) not in described]
    assert all(method == "GET" and not path.startswith("/v1/") for method, path in rest)
    assert len(described) + len(rest) == len(ROUTES)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An application with an open campaign, for the fuzzer. Uploaded files are read by nobody."""
    client = Client(tmp_path_factory.mktemp("fuzzed"), rate=0, timeout=5.0)
    opened(client.database, "trips", TELLING, min_reports=1)
    with client, pytest.MonkeyPatch.context() as patched:
        patched.setattr("ldptrace.server.fence.drawing", lambda plan, files: b"{}")
        yield client


@pytest.fixture(scope="module")
def interface(fuzzed: Client) -> Any:
    return schemathesis.openapi.from_asgi("/v1/openapi.json", fuzzed.app)


schemathesis.serializer.alias("application/vnd.ldptrace.reports", "application/octet-stream")
CHECKS = [
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("one", OPERATIONS, ids=lambda one: one.id or one.handler.__name__)
def test_the_interface_is_as_described(
    interface: Any, fuzzed: Client, one: Operation, mode: schemathesis.GenerationMode
) -> None:
    """Every answer has a status, a media type and a shape that the document names; there is no 500."""

    @settings(max_examples=10, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(case=interface[one.plain_path][one.method].as_strategy(generation_mode=mode))
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
