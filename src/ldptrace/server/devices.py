"""The HTTP interface for devices: the campaign, its plan, and the intake of reports."""

from __future__ import annotations

import asyncio
import json
import re
from functools import lru_cache

from starlette.requests import Request
from starlette.responses import Response

from ldptrace.device.explanation import explain_asking
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.words import asked_words
from ldptrace.server import views
from ldptrace.server.counting import Submission
from ldptrace.server.registry import all_campaigns, find_public, is_name, no_such
from ldptrace.server.releases import streets_of
from ldptrace.server.state import State
from ldptrace.server.storage import Session
from ldptrace.server.tokens import ADMISSION_LETTERS, admission_hash
from ldptrace.web.answers import (
    PLAN_TYPE,
    REPORTS_TYPE,
    JsonAnswer,
    expect_type,
    problem_answer,
    read_body,
)
from ldptrace.web.limits import MAX_HEAD
from ldptrace.web.problems import BY_NUMBER, Refused, ServerProblem, not_found

# Admission tokens, one for each report of the body, joined by commas.
ADMISSION = "ldptrace-admission"
# Tokens that fit into the head of a request.
MOST_ADMISSIONS = MAX_HEAD // (ADMISSION_LETTERS + 1)
# Campaigns in one answer; the rest follow after the last of them.
LISTED = 1_000


async def list_campaigns(request: Request) -> Response:
    """Campaigns that can be answered now, or could be: those after a name, as many as one answer has."""
    state, after = State.of(request), State.after(request)
    found = await state.read(lambda session: all_campaigns(session, after, LISTED + 1, drafts=False))
    shown = [views.public(one) for one in found[:LISTED]]
    return JsonAnswer({"campaigns": shown, "more": len(found) > LISTED})


async def show_campaign(request: Request) -> Response:
    state, name = State.of(request), request.path_params["name"]
    return JsonAnswer(await state.read(lambda session: views.public(find_public(session, name))))


async def plan(request: Request) -> Response:
    """The plan of the newest round, byte for byte as its id says."""
    state, name = State.of(request), request.path_params["name"]
    campaign = await state.read(lambda session: find_public(session, name))
    tag = f'"{campaign.plan_id}"'
    if tag in re.findall(r'"[0-9a-f]{64}"', request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers={"etag": tag})
    return Response(campaign.plan.to_json(), media_type=PLAN_TYPE, headers={"etag": tag})


async def words(request: Request) -> Response:
    """What the newest round asks, and what its items stand for, in words for the person who is asked."""
    state, name = State.of(request), request.path_params["name"]
    campaign = await state.read(lambda session: find_public(session, name))
    number = campaign.plan.place(campaign.round - 1)
    return Response(_words(campaign.plan, number), media_type="application/json")


async def streets(request: Request) -> Response:
    """The streets of the campaign's map as a drawing; without a road network there are none."""
    state, name = State.of(request), request.path_params["name"]

    def found(session: Session) -> bytes:
        find_public(session, name)
        return streets_of(session, name)

    data = await state.read(found)
    if not data:
        raise not_found(f"campaign {name} has no road network")
    return Response(data, media_type="application/json", headers={"cache-control": "no-cache"})


@lru_cache(maxsize=16)
def _words(plan: Plan, number: int) -> bytes:
    return json.dumps(
        {"asking": explain_asking(plan, number), "questions": asked_words(plan, number)}
    ).encode()


async def reports(request: Request) -> Response:
    """Count a report or a batch of them; answered when they are on the disk."""
    state, name = State.of(request), request.path_params["name"]
    if not is_name(name):
        raise no_such(name)
    expect_type(request, REPORTS_TYPE)
    tokens = request.headers.get(ADMISSION, "")
    texts = tokens.split(",", MOST_ADMISSIONS) if tokens else []
    if len(tokens) > MAX_HEAD or len(texts) > MOST_ADMISSIONS:
        raise Refused(ServerProblem.HEAD_TOO_LARGE)
    body = await read_body(request, state.settings.max_body, state.settings.timeout, state.arriving)
    hashes = tuple(admission_hash(text.strip()) for text in texts)
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
