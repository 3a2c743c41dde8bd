"""An application of routes: each with a rate limit, and with problem documents for everything that is refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

from starlette.applications import Starlette
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ldptrace.errors import LdptraceError
from ldptrace.protocol.problems import PlanRefused
from ldptrace.web.answers import HEADERS, Envelope, JsonAnswer, problem_answer
from ldptrace.web.problems import Refused, ServerProblem, StorageUnavailable

Endpoint = Callable[[Request], Awaitable[Response]]


class Number(IntegerConvertor):
    """A number of at most nine digits in a path; any other text gives "not found"."""

    regex = "[0-9]{1,9}"


class Window(IntegerConvertor):
    """The number of a window in a path, without zeros before it."""

    regex = "0|[1-9][0-9]{0,9}"


register_url_convertor("number", Number())
register_url_convertor("window", Window())


async def healthz(request: Request) -> Response:
    """Tell that the process runs."""
    return JsonAnswer({"status": "ok"})


def make_app(
    routes: Sequence[tuple[str, str, Endpoint]],
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]],
    headers: Mapping[str, str] = HEADERS,
) -> Envelope:
    """Make an application. `lifespan` sets `app.state.shared`, whose `rate` limits the requests of an address."""
    app = Starlette(
        routes=[
            Route(path, _limited(endpoint, path), methods=[method], name=endpoint.__name__)
            for method, path, endpoint in routes
        ],
        exception_handlers={
            LdptraceError: _refused,
            HTTPException: _http_problem,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return Envelope(app, headers)


def _limited(endpoint: Endpoint, path: str) -> Endpoint:
    """Return the endpoint with a rate limit, and with its path for the metrics."""

    async def limited(request: Request) -> Response:
        request.scope["route_path"] = path
        client = request.client
        if not request.app.state.shared.rate.allows(client.host if client else None):
            return problem_answer(ServerProblem.RATE_LIMITED)
        return await endpoint(request)

    return limited


async def _refused(request: Request, error: Exception) -> Response:
    if isinstance(error, Refused):
        return problem_answer(error.problem, error.detail)
    if isinstance(error, PlanRefused):
        return problem_answer(error.problem, str(error))
    if isinstance(error, StorageUnavailable):
        return problem_answer(ServerProblem.STORAGE_UNAVAILABLE)
    return problem_answer(ServerProblem.BAD_REQUEST, str(error))


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        answer = problem_answer(ServerProblem.METHOD_NOT_ALLOWED)
        answer.headers.update(error.headers or {})
        return answer
    return problem_answer(ServerProblem.NOT_FOUND if error.status_code == 404 else ServerProblem.BAD_REQUEST)
