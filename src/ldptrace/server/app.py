"""The ASGI application: paths and their handlers. `openapi.json` describes all paths."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from ldptrace.server import devices, operators, pages, shufflers
from ldptrace.server.state import State
from ldptrace.server.storage import Database
from ldptrace.web.answers import JsonAnswer
from ldptrace.web.app import Endpoint, healthz, make_app
from ldptrace.web.limits import Settings
from ldptrace.web.problems import Refused, ServerProblem


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


ROUTES: tuple[tuple[str, str, Endpoint], ...] = (
    # The one that is asked most comes first.
    ("POST", "/v1/campaigns/{name}/reports", devices.reports),
    ("GET", "/v1/campaigns/{name}/plan", devices.plan),
    ("GET", "/v1/campaigns/{name}/words", devices.words),
    ("GET", "/v1/campaigns/{name}/streets", devices.streets),
    ("PUT", "/v1/campaigns/{name}/plans/{plan}/batch", shufflers.batch),
    ("PUT", "/v1/campaigns/{name}/plans/{plan}/windows/{window:window}/batch", shufflers.batch),
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
        made.answered = state.metrics.answered
        state.intake.start()
        warming = asyncio.create_task(state.warm_up())
        maintaining = asyncio.create_task(state.maintain())
        yield
        maintaining.cancel()
        await asyncio.gather(warming, maintaining, return_exceptions=True)
        await state.stop()

    made = make_app(ROUTES, lifespan)
    return made
