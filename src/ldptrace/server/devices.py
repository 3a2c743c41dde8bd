"""What devices ask for: the campaign, its plan, and to count their reports."""

from __future__ import annotations

import asyncio
import re

from starlette.requests import Request
from starlette.responses import Response

from ldptrace.server import views
from ldptrace.server.answers import (
    PLAN_TYPE,
    REPORTS_TYPE,
    JsonAnswer,
    expect_type,
    problem_answer,
    read_body,
)
from ldptrace.server.campaigns import all_campaigns, find
from ldptrace.server.counting import Submission
from ldptrace.server.problems import BY_NUMBER, Refused, ServerProblem
from ldptrace.server.state import State
from ldptrace.server.tokens import admission_hash

# Admission tokens, one for each report of the body, joined by commas.
ADMISSION = "ldptrace-admission"


async def list_campaigns(request: Request) -> Response:
    """Campaigns that can be answered now, or could be."""
    state = State.of(request)
    shown = await state.read(lambda session: [views.public(one) for one in all_campaigns(session)])
    return JsonAnswer({"campaigns": [one for one in shown if one["state"] != "draft"]})


async def show_campaign(request: Request) -> Response:
    state, name = State.of(request), request.path_params["name"]
    shown = await state.read(lambda session: views.public(find(session, name)))
    if shown["state"] == "draft":
        raise Refused(ServerProblem.NO_SUCH_CAMPAIGN)
    return JsonAnswer(shown)


async def plan(request: Request) -> Response:
    """The plan of the newest round, byte for byte as its id says."""
    state, name = State.of(request), request.path_params["name"]
    campaign = await state.read(lambda session: find(session, name))
    if campaign.state == "draft":
        raise Refused(ServerProblem.NO_SUCH_CAMPAIGN)
    tag = f'"{campaign.plan.id}"'
    if tag in re.findall(r'"[0-9a-f]{64}"', request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers={"etag": tag})
    return Response(campaign.plan.to_json(), media_type=PLAN_TYPE, headers={"etag": tag})


async def reports(request: Request) -> Response:
    """Count a report or a batch of them; answered when they are on the disk."""
    state, name = State.of(request), request.path_params["name"]
    expect_type(request, REPORTS_TYPE)
    body = await read_body(request, state.settings.max_body, state.settings.timeout)
    tokens = request.headers.get(ADMISSION)
    hashes = tuple(admission_hash(text.strip()) for text in tokens.split(",")) if tokens else ()
    # A client that goes away does not take back what it sent.
    codes = await asyncio.shield(state.intake.submit(name, Submission(body, hashes)))
    if len(codes) == 1:
        if codes[0]:
            return problem_answer(BY_NUMBER[int(codes[0])])
        return JsonAnswer({"counted": 1, "problems": []})
    problems = [
        {"report": place, "problem": BY_NUMBER[number].code}
        for place, number in enumerate(codes.tolist())
        if number
    ]
    return JsonAnswer({"counted": len(codes) - len(problems), "problems": problems})
