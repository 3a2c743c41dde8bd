"""Requests and responses: bodies with limited size, problem documents, and common headers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ldptrace.web.limits import Arriving
from ldptrace.web.problems import AnyProblem, Refused, ServerProblem, bad_request, document

PLAN_TYPE = "application/vnd.ldptrace.plan+json"
BATCH_TYPE = "application/vnd.ldptrace.batch"
TALLY_TYPE = "application/vnd.ldptrace.tally+json"
PROBLEM_TYPE = "application/problem+json"

# Pages load only what this server has, send only to it, and cannot be framed.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "geolocation=(), camera=(), microphone=()",
    "cache-control": "no-store",
}


class JsonAnswer(Response):
    """A response with plain data as JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        # Half of a surrogate pair, quoted from a request, has no UTF-8: it is written as JSON escapes it.
        return text.encode("utf-8", "backslashreplace")


def problem_answer(problem: AnyProblem, detail: str = "") -> Response:
    """Return a problem as a response."""
    answer = JsonAnswer(document(problem, detail), status_code=problem.status, media_type=PROBLEM_TYPE)
    if problem.status == 401:
        answer.headers["www-authenticate"] = "Bearer"
    if problem.status in (429, 503):
        answer.headers["retry-after"] = "1"
    if problem in (ServerProblem.TOO_SLOW, ServerProblem.BODY_TOO_LARGE, ServerProblem.BUSY):
        # The rest of the body is not read.
        answer.headers["connection"] = "close"
    return answer


async def read_body(request: Request, most: int, seconds: float, arriving: Arriving | None = None) -> bytes:
    """Return the body, if it is at most this long, arrives in this time, and finds room beside the others that
    arrive."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > most:
        raise Refused(ServerProblem.BODY_TOO_LARGE, f"at most {most:,} bytes are taken")
    body, arriving = bytearray(), arriving or Arriving()
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                if len(body) + len(part) > most:
                    raise Refused(ServerProblem.BODY_TOO_LARGE, f"at most {most:,} bytes are taken")
                if not arriving.grow(len(body), len(body) + len(part)):
                    raise Refused(ServerProblem.BUSY, "more bodies arrive at once than the server takes")
                body += part
    except TimeoutError:
        raise Refused(ServerProblem.TOO_SLOW, f"the body did not arrive within {seconds:g} seconds") from None
    except ClientDisconnect:
        raise bad_request("the connection ended within the body") from None
    finally:
        arriving.end(len(body))
    return bytes(body)


async def read_json(request: Request, most: int, seconds: float) -> dict[str, Any]:
    """Return the JSON object in the body; an empty body is an empty object."""
    body = await read_body(request, most, seconds)
    if not body:
        return {}
    expect_type(request, "application/json")
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise bad_request("the body is not a JSON document") from None
    if not isinstance(data, dict):
        raise bad_request("the body is not a JSON object")
    return data


def expect_type(request: Request, *wanted: str) -> None:
    """Raise an error for a body of another media type."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in wanted:
        raise Refused(ServerProblem.UNSUPPORTED_MEDIA_TYPE, f"the body must be {' or '.join(wanted)}")


class Envelope:
    """The outermost layer, which adds the headers to every response and counts it."""

    def __init__(self, app: ASGIApp, headers: Mapping[str, str] = HEADERS) -> None:
        self.inner = app
        self._headers = headers
        # Counts an answer by its route and status; set when the application has started.
        self.answered: Callable[[str, int], None] = lambda route, status: None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return

        async def wrapped(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                self.answered(scope.get("route_path", "other"), message["status"])
            await send(message)

        await self.inner(scope, receive, wrapped)
