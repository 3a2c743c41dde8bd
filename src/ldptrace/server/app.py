"""The ASGI application: the requests of the HTTP interface and the pages."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Literal, TypedDict

from starlette.responses import Response
from starlette.types import ASGIApp

from ldptrace.server import devices, interface, operators, pages
from ldptrace.server.interface import Call, Operation, operation
from ldptrace.server.state import State
from ldptrace.server.storage import Database
from ldptrace.web.app import Endpoint, asset, make_app
from ldptrace.web.limits import Settings
from ldptrace.web.problems import Refused, ServerProblem


class Health(TypedDict):
    """The server runs."""

    status: Literal["ok"]


class Readiness(TypedDict):
    """The server can count reports."""

    status: Literal["ready"]


@operation("GET", "/v1/openapi.json", gives=dict[str, Any], answer="The OpenAPI document.")
async def openapi(call: Call) -> Response:
    """Return the OpenAPI document."""
    return Response(openapi_text(), media_type="application/json")


@operation("GET", "/metrics", scope="read", gives={"text/plain": str}, answer="Prometheus text format 0.0.4.")
async def metrics(call: Call) -> Response:
    """Return numbers for Prometheus."""
    text = call.state.metrics.text(call.state.intake.waiting)
    return Response(text, media_type="text/plain; version=0.0.4")


@operation("GET", "/healthz")
async def healthz(call: Call) -> Health:
    """Tell whether the server runs."""
    return {"status": "ok"}


@operation("GET", "/readyz")
async def readyz(call: Call) -> Readiness:
    """Tell whether the server can count reports: its code is compiled, and the database answers."""
    if not call.state.ready:
        raise Refused(ServerProblem.BUSY, "the server is starting")
    await call.state.read(lambda session: session.row("SELECT 1"))
    return {"status": "ready"}


# In the order in which an address is looked up: reports, which are sent most, come first.
OPERATIONS = (
    *(one for module in (devices, operators) for one in vars(module).values() if isinstance(one, Operation)),
    *(openapi, metrics, healthz, readyz),
)
PAGES: tuple[tuple[str, str, Endpoint], ...] = (
    ("GET", "/", pages.home),
    ("GET", "/operate", pages.operator),
    ("GET", "/c/{name}", pages.contributor),
    ("GET", "/c/{name}/release", pages.release),
    ("GET", "/c/{name}/release/profile.html", pages.profile),
    ("GET", "/c/{name}/release/{round:number}", pages.released_page),
    ("GET", "/c/{name}/release/{round:number}/profile.html", pages.profile),
    ("GET", "/c/{name}/release/{round:number}/{file}", pages.released_file),
    ("GET", "/c/{name}/release/{file}", pages.released_file),
    ("GET", "/assets/{path:path}", asset),
)
ROUTES = (*((one.method, one.path, one.endpoint) for one in OPERATIONS), *PAGES)


@cache
def openapi_text() -> bytes:
    """Return the OpenAPI document as JSON."""
    return json.dumps(interface.openapi(OPERATIONS), indent=1).encode()


def create_app(database: Database, settings: Settings | None = None) -> ASGIApp:
    """Make the application for a database."""
    return make_app(ROUTES, lambda: State(database, settings or Settings()))
