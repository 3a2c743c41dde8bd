"""The HTTP interface for devices and shufflers: campaigns, their plans, and the intake of reports and batches."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, NotRequired, TypedDict

from starlette.responses import Response

from ldptrace.device.explanation import explain_asking
from ldptrace.options import decoded, option, settle
from ldptrace.protocol.limits import MAX_BATCH
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem
from ldptrace.protocol.reports import ADMISSION, REPORTS_TYPE
from ldptrace.protocol.words import asked_words
from ldptrace.server import views
from ldptrace.server.counting import Label, Submission, count_batch, note_deleted
from ldptrace.server.interface import AFTER, Call, operation, parameter
from ldptrace.server.registry import all_campaigns, find_public, is_name, no_such
from ldptrace.server.releases import STREETS, file_of
from ldptrace.server.state import State
from ldptrace.server.storage import Session
from ldptrace.server.tokens import ADMISSION_LETTERS, SHUFFLE, token_hash
from ldptrace.server.views import PublicCampaign
from ldptrace.web.answers import (
    BATCH_TYPE,
    PLAN_TYPE,
    expect_type,
    problem_answer,
    read_body,
    read_json,
)
from ldptrace.web.limits import MAX_HEAD
from ldptrace.web.problems import BY_NUMBER, Refused, ServerProblem, not_found

# Tokens that fit into the head of a request.
MOST_ADMISSIONS = MAX_HEAD // (ADMISSION_LETTERS + 1)
# Campaigns in one answer; the rest follow after the last of them.
LISTED = 1_000
# Seconds within which a batch must arrive.
PATIENCE = 600.0
BASE = "/v1/campaigns"
ONE = f"{BASE}/{{name}}"


class Campaigns(TypedDict):
    """The campaigns that are or were open."""

    campaigns: list[PublicCampaign]
    more: Annotated[bool, f"Whether there are more: an answer has at most {LISTED:,}."]


class AskedWords(TypedDict):
    """A question, and the meaning of its items; null for too many of them."""

    name: str
    about: str
    share: int
    named: Annotated[list[float], "Probabilities with which a true and an untrue item are named."]
    items: list[str] | None


class Words(TypedDict):
    """Sentences that explain the plan, and for each question the meaning of its items."""

    asking: list[str]
    questions: list[AskedWords]


class Streets(TypedDict):
    """Lines of streets, widest first, and place names with their positions, in whole steps within the bounds."""

    format: str
    version: int
    steps: int
    lines: list[list[list[int]]]
    names: list[list[Any]]


class Refusal(TypedDict):
    """A report of a batch that was not counted."""

    report: Annotated[int, "Position of the report in the batch, from 0."]
    problem: str


class Counted(TypedDict):
    """The report is counted. For a batch, the answer lists the reports that are not counted."""

    counted: views.Count
    problems: list[Refusal]


class Acknowledged(TypedDict):
    """The batch is counted, now or before. For a deleted batch, the number of its reports."""

    counted: NotRequired[views.Count]
    omitted: NotRequired[Annotated[views.Count, "Number of reports that were not counted."]]
    problems: NotRequired[
        Annotated[
            dict[str, int],
            "Number of omitted reports by problem code; `not-opened`: the seal cannot be opened.",
        ]
    ]
    deleted: NotRequired[views.Count]


@dataclass(frozen=True)
class Deleted:
    """What a shuffler says of a batch that it deleted."""

    deleted: int = option(
        help=f"Number of reports of the batch, up to {MAX_BATCH:,}.", least=0, below=MAX_BATCH + 1
    )

    def __post_init__(self) -> None:
        settle(self)


# Asked most, and therefore the first.
@operation(
    *("POST", f"{ONE}/reports"),
    takes={REPORTS_TYPE: bytes},
    gives=Counted,
    parameters=(
        parameter(
            ADMISSION,
            "header",
            "Admission codes separated by commas, one for each report, if the campaign requires them.",
            {"type": "string"},
        ),
    ),
    problems=(
        *(Problem.UNKNOWN_VERSION, Problem.WRONG_SIZE, Problem.UNKNOWN_GROUP, Problem.BAD_PADDING),
        *(
            Problem.BAD_PAYLOAD,
            Problem.WRONG_PLAN,
            Problem.WRONG_ROUND,
            Problem.WRONG_WINDOW,
            Problem.DUPLICATE,
        ),
        *(ServerProblem.NOT_OPEN, ServerProblem.ROUND_CLOSED, ServerProblem.CAMPAIGN_FULL),
        *(ServerProblem.NOT_SHUFFLED, ServerProblem.NOT_ADMITTED, ServerProblem.HEAD_TOO_LARGE),
        ServerProblem.STOPPING,
    ),
)
async def reports(call: Call) -> Response | Counted:
    """Count one report or a batch.

    The answer to one report is 200 or a problem. The answer to several reports is 200, with a list of the reports that
    were not counted; the other reports are counted. The problem `duplicate` means that this report was counted before,
    so the device need not send it again. The server answers after the reports are stored on disk.
    """
    request, state, name = call.request, call.state, call.name
    if not is_name(name):
        raise no_such(name)
    expect_type(request, REPORTS_TYPE)
    tokens = request.headers.get(ADMISSION, "")
    texts = tokens.split(",", MOST_ADMISSIONS) if tokens else []
    if len(tokens) > MAX_HEAD or len(texts) > MOST_ADMISSIONS:
        raise Refused(ServerProblem.HEAD_TOO_LARGE)
    body = await read_body(request, state.settings.max_body, state.settings.timeout, state.arriving)
    hashes = tuple(token_hash(text.strip()) for text in texts)
    # A client that goes away does not take back what it sent.
    codes = await asyncio.shield(state.intake.submit(name, Submission(body, hashes)))
    if len(codes) == 1 and codes[0]:
        return problem_answer(BY_NUMBER[int(codes[0])])
    problems: list[Refusal] = [
        {"report": place, "problem": BY_NUMBER[number].code}
        for place, number in enumerate(codes.tolist())
        if number
    ]
    return {"counted": len(codes) - len(problems), "problems": problems}


@operation("GET", BASE, parameters=(AFTER,))
async def list_campaigns(call: Call) -> Campaigns:
    """List all campaigns that are or were open."""
    after = State.after(call.request)
    campaigns = await call.state.read(lambda session: all_campaigns(session, after, LISTED + 1, drafts=False))
    return {"campaigns": [views.public(one) for one in campaigns[:LISTED]], "more": len(campaigns) > LISTED}


@operation("GET", ONE)
async def show_campaign(call: Call) -> PublicCampaign:
    """Return one campaign that is or was open."""
    return await call.state.read(lambda session: views.public(find_public(session, call.name)))


@operation(
    *("GET", f"{ONE}/plan"),
    gives={PLAN_TYPE: dict[str, Any]},
    answer="The plan as a canonical document (protocol/v1/plan.schema.json); its SHA-256 is the plan id and the entity "
    "tag.",
    also={304: "The plan has not changed: its id is the entity tag in If-None-Match."},
    parameters=(parameter("If-None-Match", "header", "The entity tag of a known plan.", {"type": "string"}),),
)
async def plan(call: Call) -> Response:
    """Return the plan of the newest round."""
    campaign = await call.state.read(lambda session: find_public(session, call.name))
    tag = f'"{campaign.plan.id}"'
    if tag in re.findall(r'"[0-9a-f]{64}"', call.request.headers.get("if-none-match", "")):
        return Response(status_code=304, headers={"etag": tag})
    return Response(campaign.plan.to_json(), media_type=PLAN_TYPE, headers={"etag": tag})


@operation("GET", f"{ONE}/words", gives=Words)
async def words(call: Call) -> Response:
    """Explain the newest plan in words."""
    campaign = await call.state.read(lambda session: find_public(session, call.name))
    number = campaign.plan.place(campaign.round - 1)
    return Response(_words(campaign.plan, number), media_type="application/json")


@operation("GET", f"{ONE}/streets", gives=Streets, problems=(ServerProblem.NOT_FOUND,))
async def streets(call: Call) -> Response:
    """Return the streets of the campaign as a drawing."""

    def drawing(session: Session) -> bytes:
        find_public(session, call.name)
        return file_of(session, call.name, STREETS)

    data = await call.state.read(drawing)
    if not data:
        raise not_found(f"campaign {call.name} has no road network")
    return Response(data, media_type="application/json", headers={"cache-control": "no-cache"})


@lru_cache(maxsize=16)
def _words(plan: Plan, number: int) -> bytes:
    return json.dumps(
        {"asking": explain_asking(plan, number), "questions": asked_words(plan, number)}
    ).encode()


@operation(
    *("PUT", f"{ONE}/plans/{{plan}}/batch"),
    scope=SHUFFLE,
    takes={BATCH_TYPE: bytes, "application/json": Deleted},
    problems=(
        *(Problem.WRONG_SIZE, Problem.WRONG_PLAN, Problem.WRONG_WINDOW, ServerProblem.WRONG_STATE),
        *(ServerProblem.BATCH_TOO_SMALL, ServerProblem.ANOTHER_BATCH, ServerProblem.HEAD_TOO_LARGE),
    ),
)
async def batch(call: Call) -> Acknowledged:
    """Take the batch of a shuffled plan without time windows.

    For shufflers, with a token of the scope `shuffle`: sealed reports, one after the other, or the number of reports of
    a batch that was deleted. See section 9 of version 2 of the protocol.
    """
    request, state = call.request, call.state
    label = Label(call.name, request.path_params["plan"], request.path_params.get("window"))
    answer: Any
    if request.headers.get("content-type", "").startswith("application/json"):
        gone = decoded(Deleted, await read_json(request, 1 << 10, state.settings.timeout))
        answer = await state.call(note_deleted, state.database, label, gone.deleted, state.clock())
        return answer
    expect_type(request, BATCH_TYPE, "application/json")
    body = await read_body(request, state.settings.max_upload, PATIENCE, state.uploading)
    # One at a time, after the uploads before it, in a thread of its own.
    answer = await state.upload(count_batch, state.database, label, body, state.clock())
    return answer


window_batch = replace(
    batch,
    path=f"{ONE}/plans/{{plan}}/windows/{{window:window}}/batch",
    id="windowBatch",
    summary="Take the batch of one time window of a shuffled plan",
)
