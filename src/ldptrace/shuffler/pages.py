"""The page on which people answer a shuffled plan. The shuffler serves it: whoever serves a page controls its code and
sees who opens it, and the curator must not.
"""

from __future__ import annotations

import json
from functools import lru_cache

from starlette.requests import Request
from starlette.responses import Response

from ldptrace.protocol.plan import Plan
from ldptrace.protocol.words import asked_words
from ldptrace.shuffler.served import Served
from ldptrace.shuffler.state import State
from ldptrace.shuffler.store import Entry
from ldptrace.web.answers import JsonAnswer
from ldptrace.web.assets import asset_answer


async def page(request: Request) -> Response:
    """Return the page of one plan, which stands in the address by its id."""
    await _entry(request)
    return asset_answer("contributor.html")


async def asset(request: Request) -> Response:
    return asset_answer(request.path_params["path"])


async def about(request: Request) -> Response:
    """Return what the page shows of a plan, in the form of a campaign on the curator's server."""
    entry, state = await _entry(request), State.of(request)
    plan = entry.plan
    assert plan.shuffled is not None
    over = plan.shuffled.until is not None and state.settings.clock() >= plan.shuffled.until
    return JsonAnswer(
        {
            "name": plan.id,
            "title": plan.id[:12] if plan.campaign is None else plan.campaign.name,
            "state": "closed" if over else "open",
            "rounds": 1,
            "round": 1,
            "plan": plan.id,
            "until": plan.shuffled.until,
            "organiser": "",
            "contact": "",
            # The curator's own page of the campaign has the notice.
            "notice": entry.campaign.replace("/v1/campaigns/", "/c/"),
            "admission": entry.admission,
            "size": Served.of(plan).size,
        }
    )


async def words(request: Request) -> Response:
    """Return what the plan asks, in words for the person who is asked."""
    return Response(_words((await _entry(request)).plan), media_type="application/json")


@lru_cache(maxsize=16)
def _words(plan: Plan) -> bytes:
    return json.dumps({"questions": asked_words(plan, 0)}).encode()


async def _entry(request: Request) -> Entry:
    state, number = State.of(request), request.path_params["plan"]
    return await state.call(lambda: state.store.plan(number))
