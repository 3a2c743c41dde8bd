"""The ASGI application of the shuffler (section 9 of `protocol/v2.md`), and the page on which people answer its plans.
The shuffler serves that page: whoever serves a page controls its code and sees who opens it, and the curator must not.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from ldptrace.protocol.limits import MAX_WINDOW
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import ADMISSION, SEALED_TYPE
from ldptrace.protocol.words import asked_words
from ldptrace.shuffler.sender import Network, Put, Sender
from ldptrace.shuffler.served import NO_WINDOW, Served
from ldptrace.shuffler.store import Sealed, Store
from ldptrace.web.answers import (
    HEADERS,
    PLAN_TYPE,
    JsonAnswer,
    expect_type,
    problem_answer,
    read_body,
)
from ldptrace.web.app import Endpoint, Shared, asset, asset_answer, healthz, make_app
from ldptrace.web.intake import Intake
from ldptrace.web.limits import Settings
from ldptrace.web.problems import BY_NUMBER, StorageUnavailable, not_found

# Seconds between two looks for batches that are due.
MAINTAIN = 1.0
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
log = logging.getLogger("ldptrace.shuffler")


class State(Shared):
    """The storage, intake, limits and sender of a shuffler that runs in the loop in which this is made."""

    def __init__(self, store: Store, settings: Settings, send: Put | None = None) -> None:
        super().__init__(settings, Intake(store.take), threads=2)
        self.beside = (self.maintain,)
        self.store = store
        self._network = Network()
        self.sender = Sender(store, send or self._network.put, asyncio.get_running_loop().time)
        self._sending = ThreadPoolExecutor(1, thread_name_prefix="sending")

    async def maintain(self) -> None:
        """Close and send what is due, for as long as the shuffler runs."""
        while True:
            try:
                await asyncio.get_running_loop().run_in_executor(self._sending, self.sender.step)
            except StorageUnavailable as error:
                log.error("batches could not be closed or sent: %s", error)
            except Exception as error:  # The next batches are closed and sent all the same.
                log.error("batches could not be closed or sent", exc_info=error)
            await asyncio.sleep(MAINTAIN)

    async def stop(self) -> None:
        await super().stop()
        # A batch that is being sent is sent again after the next start.
        self._sending.shutdown(wait=False, cancel_futures=True)
        self._network.stop()
        self.store.close()


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
    return Response((await _served(request)).plan.to_json(), media_type=PLAN_TYPE)


async def plans(request: Request) -> Response:
    """Return what the shuffler serves."""
    state = State.of(request)
    return JsonAnswer({"plans": [overview(served) for served in await state.call(state.store.plans)]})


def overview(served: Served) -> dict[str, object]:
    """Return what everybody may know of a plan that is served."""
    campaign = served.plan.campaign
    return {
        "id": served.plan.id,
        "name": "" if campaign is None else campaign.name,
        "campaign": served.campaign,
        "operator": served.shuffled.operator,
        "address": served.shuffled.address,
        "batch": served.shuffled.batch,
        "admission": served.admission,
        "size": served.size,
    }


async def contributor(request: Request) -> Response:
    """Return the page of one plan, which stands in the address by its id."""
    await _served(request)
    return asset_answer("contributor.html")


async def about(request: Request) -> Response:
    """Return what the page shows of a plan, in the form of a campaign on the curator's server."""
    served, state = await _served(request), State.of(request)
    plan, until = served.plan, served.shuffled.until
    over = until is not None and state.settings.clock() >= until
    return JsonAnswer(
        {
            "name": plan.id,
            "title": plan.id[:12] if plan.campaign is None else plan.campaign.name,
            "state": "closed" if over else "open",
            "rounds": 1,
            "round": 1,
            "plan": plan.id,
            "until": until,
            "organiser": "",
            "contact": "",
            # The curator's own page of the campaign has the notice.
            "notice": served.campaign.replace("/v1/campaigns/", "/c/"),
            "admission": served.admission,
            "size": served.size,
        }
    )


async def words(request: Request) -> Response:
    """Return what the plan asks, in words for the person who is asked."""
    return Response(_words((await _served(request)).plan), media_type="application/json")


@lru_cache(maxsize=16)
def _words(plan: Plan) -> bytes:
    return json.dumps({"questions": asked_words(plan, 0)}).encode()


async def _served(request: Request) -> Served:
    state, number = State.of(request), _plan_id(request)
    return await state.call(lambda: state.store.plan(number))


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
    ("GET", "/v2/plans/{plan}/about", about),
    ("GET", "/v2/plans/{plan}/words", words),
    ("GET", "/c/{plan}", contributor),
    ("GET", "/assets/{path:path}", asset),
    ("GET", "/v2/plans", plans),
    ("GET", "/healthz", healthz),
)


def create_app(store: Store, settings: Settings | None = None, send: Put | None = None) -> ASGIApp:
    """Make the application of a shuffler."""
    return make_app(ROUTES, lambda: State(store, settings or Settings(), send), OPEN_HEADERS)
