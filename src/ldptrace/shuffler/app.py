"""The ASGI application of the shuffler (section 9 of `protocol/v2.md`)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from ldptrace.protocol.limits import MAX_WINDOW
from ldptrace.protocol.reports import ADMISSION, SEALED_TYPE
from ldptrace.shuffler import pages
from ldptrace.shuffler.sender import Put, put
from ldptrace.shuffler.served import NO_WINDOW, Served
from ldptrace.shuffler.state import State
from ldptrace.shuffler.store import Entry, Sealed, Store
from ldptrace.web.answers import (
    HEADERS,
    PLAN_TYPE,
    JsonAnswer,
    expect_type,
    problem_answer,
    read_body,
)
from ldptrace.web.app import Endpoint, healthz, make_app
from ldptrace.web.limits import Settings
from ldptrace.web.problems import BY_NUMBER, not_found

# Everything here is public, and pages of other origins send to it, without credentials.
OPEN_HEADERS = HEADERS | {
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
}
PREFLIGHT = {
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": f"content-type, {ADMISSION.lower()}",
    "access-control-max-age": "86400",
}


async def preflight(request: Request) -> Response:
    """Allow a page of another origin to send."""
    return Response(status_code=204, headers=PREFLIGHT)


async def take(request: Request) -> Response:
    """Hold one sealed report; answered when it is on the disk."""
    state, plan = State.of(request), _plan_id(request)
    window = int(request.path_params.get("window", NO_WINDOW))
    if window > MAX_WINDOW:
        raise not_found("there is no such window")
    expect_type(request, SEALED_TYPE)
    body = await read_body(request, state.settings.max_body, state.settings.timeout, state.arriving)
    sealed = Sealed(body, window, request.headers.get(ADMISSION, "").strip())
    # A device that goes away does not take back what it sent.
    code = await asyncio.shield(state.intake.submit(plan, sealed))
    return problem_answer(BY_NUMBER[code]) if code else JsonAnswer({"taken": 1})


async def plan(request: Request) -> Response:
    """Return the plan, byte for byte as its id says."""
    state, number = State.of(request), _plan_id(request)
    entry = await state.call(lambda: state.store.plan(number))
    return Response(entry.document, media_type=PLAN_TYPE)


async def plans(request: Request) -> Response:
    """Return what the shuffler serves."""
    state = State.of(request)
    return JsonAnswer({"plans": [overview(entry) for entry in await state.call(state.store.plans)]})


def overview(entry: Entry) -> dict[str, object]:
    """Return what everybody may know of a plan that is served."""
    shuffled, campaign = entry.plan.shuffled, entry.plan.campaign
    assert shuffled is not None
    return {
        "id": entry.plan.id,
        "name": "" if campaign is None else campaign.name,
        "campaign": entry.campaign,
        "operator": shuffled.operator,
        "address": shuffled.address,
        "batch": shuffled.batch,
        "admission": entry.admission,
        "size": Served.of(entry.plan).size,
    }


def _plan_id(request: Request) -> str:
    number: str = request.path_params["plan"]
    if not re.fullmatch("[0-9a-f]{64}", number):
        raise not_found("the shuffler does not serve this plan")
    return number


ROUTES: tuple[tuple[str, str, Endpoint], ...] = (
    ("POST", "/v2/plans/{plan}/windows/{window:window}/reports", take),
    ("POST", "/v2/plans/{plan}/reports", take),
    ("OPTIONS", "/v2/plans/{plan}/windows/{window:window}/reports", preflight),
    ("OPTIONS", "/v2/plans/{plan}/reports", preflight),
    ("OPTIONS", "/v2/plans/{plan}", preflight),
    ("GET", "/v2/plans/{plan}", plan),
    ("GET", "/v2/plans/{plan}/about", pages.about),
    ("GET", "/v2/plans/{plan}/words", pages.words),
    ("GET", "/c/{plan}", pages.page),
    ("GET", "/assets/{path:path}", pages.asset),
    ("GET", "/v2/plans", plans),
    ("GET", "/healthz", healthz),
)


def create_app(store: Store, settings: Settings | None = None, send: Put = put) -> ASGIApp:
    """Make the application of a shuffler."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        state = State(store, settings or Settings(), send)
        app.state.shared = state
        state.intake.start()
        maintaining = asyncio.create_task(state.maintain())
        yield
        maintaining.cancel()
        await asyncio.gather(maintaining, return_exceptions=True)
        await state.stop()

    return make_app(ROUTES, lifespan, OPEN_HEADERS)
