"""The ASGI application: paths and their handlers. `openapi.json` describes all paths."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from starlette.applications import Starlette
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ldptrace.errors import LdptraceError
from ldptrace.protocol.problems import PlanRefused
from ldptrace.server import devices, operators, pages
from ldptrace.server.state import State
from ldptrace.server.storage import Database, StorageUnavailable
from ldptrace.web.answers import Envelope, JsonAnswer, problem_answer
from ldptrace.web.limits import Settings
from ldptrace.web.problems import Refused, ServerProblem

Endpoint = Callable[[Request], Awaitable[Response]]


async def healthz(request: Request) -> Response:
    """The process runs."""
    return JsonAnswer({"status": "ok"})


async def readyz(request: Request) -> Response:
    """The process can count reports: compiled, and the database answers."""
    state = State.of(request)
    if not state.ready:
        raise Refused(ServerProblem.BUSY, "the server is starting")
    await state.read(lambda session: session.row("SELECT 1"))
    return JsonAnswer({"status": "ready"})


@cache
def openapi_text() -> bytes:
    return (Path(__file__).parent / "openapi.json").read_bytes()


async def openapi(request: Request) -> Response:
    return Response(openapi_text(), media_type="application/json")


class Number(IntegerConvertor):
    """A number of at most nine digits in a path; any other text gives "not found"."""

    regex = "[0-9]{1,9}"


register_url_convertor("number", Number())

ROUTES: tuple[tuple[str, str, Endpoint], ...] = (
    # The one that is asked most comes first.
    ("POST", "/v1/campaigns/{name}/reports", devices.reports),
    ("GET", "/v1/campaigns/{name}/plan", devices.plan),
    ("GET", "/v1/campaigns/{name}/words", devices.words),
    ("GET", "/v1/campaigns/{name}/streets", devices.streets),
    ("GET", "/v1/campaigns/{name}", devices.show_campaign),
    ("GET", "/v1/campaigns", devices.list_campaigns),
    ("GET", "/v1/operator/campaigns", operators.index),
    ("POST", "/v1/operator/campaigns", operators.create),
    ("GET", "/v1/operator/campaigns/{name}", operators.show),
    ("DELETE", "/v1/operator/campaigns/{name}", operators.delete),
    ("POST", "/v1/operator/campaigns/{name}/open", operators.open_round),
    ("POST", "/v1/operator/campaigns/{name}/close", operators.close_round),
    ("POST", "/v1/operator/campaigns/{name}/plan", operators.change_plan),
    ("POST", "/v1/operator/campaigns/{name}/publish", operators.publish),
    ("GET", "/v1/operator/campaigns/{name}/tallies/{round:number}", operators.tallies),
    ("GET", "/v1/operator/campaigns/{name}/estimates", operators.estimates),
    ("GET", "/v1/operator/campaigns/{name}/series", operators.series),
    ("GET", "/v1/operator/campaigns/{name}/travellers", operators.travellers),
    ("GET", "/v1/operator/campaigns/{name}/files/{file}", operators.download),
    ("GET", "/v1/operator/campaigns/{name}/rounds/{round:number}/files/{file}", operators.window_file),
    ("PUT", "/v1/operator/campaigns/{name}/roads/{file}", operators.roads),
    ("GET", "/v1/operator/audit", operators.audit),
    ("GET", "/v1/openapi.json", openapi),
    ("GET", "/metrics", operators.metrics),
    ("GET", "/healthz", healthz),
    ("GET", "/readyz", readyz),
    ("GET", "/", pages.home),
    ("GET", "/operate", pages.operator),
    ("GET", "/c/{name}", pages.contributor),
    ("GET", "/c/{name}/release", pages.release),
    ("GET", "/c/{name}/release/profile.html", pages.profile),
    ("GET", "/c/{name}/release/{round:number}", pages.released_page),
    ("GET", "/c/{name}/release/{round:number}/profile.html", pages.profile),
    ("GET", "/c/{name}/release/{round:number}/{file}", pages.released_file),
    ("GET", "/c/{name}/release/{file}", pages.released_file),
    ("GET", "/assets/{path:path}", pages.asset),
)


def create_app(database: Database, settings: Settings | None = None) -> ASGIApp:
    """Make the application for a database."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        state = State(database, settings or Settings())
        app.state.shared = state
        envelope.answered = state.metrics.answered
        state.intake.start()
        warming = asyncio.create_task(state.warm_up())
        maintaining = asyncio.create_task(state.maintain())
        yield
        maintaining.cancel()
        await asyncio.gather(warming, maintaining, return_exceptions=True)
        await state.stop()

    app = Starlette(
        routes=[
            Route(path, _limited(endpoint, path), methods=[method], name=endpoint.__name__)
            for method, path, endpoint in ROUTES
        ],
        exception_handlers={
            LdptraceError: _refused,
            HTTPException: _http_problem,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    envelope = Envelope(app)
    return envelope


def _limited(endpoint: Endpoint, path: str) -> Endpoint:
    """Return the endpoint with a rate limit, and with its path for the metrics."""

    async def limited(request: Request) -> Response:
        request.scope["route_path"] = path
        state, client = State.of(request), request.client
        if not state.rate.allows(client.host if client else None):
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
