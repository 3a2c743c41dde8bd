"""The HTTP interface for operators: campaigns, their states, estimates and downloads. Every request needs a token."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict, TypeVar

from starlette.responses import Response, StreamingResponse

from ldptrace.curator.facts import Facts
from ldptrace.errors import InputError
from ldptrace.options import option, settle
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem
from ldptrace.server import campaigns, releases, views
from ldptrace.server.interface import AFTER, ANY, Call, operation
from ldptrace.server.pages import FILE, file_answer
from ldptrace.server.registry import all_campaigns, audit_log, find
from ldptrace.server.rounds import tally_of
from ldptrace.server.state import State
from ldptrace.server.storage import Session
from ldptrace.server.terms import Publishing, Terms
from ldptrace.server.tokens import EVERY
from ldptrace.server.views import Estimated, Overview
from ldptrace.web.answers import TALLY_TYPE, JsonAnswer, read_body
from ldptrace.web.problems import Refused, ServerProblem, not_found

T = TypeVar("T")
# Campaigns in one answer; the rest follow after the last of them.
LISTED = 100
# Entries of the log in one answer.
ENTRIES = 1_000
BASE = "/v1/operator/campaigns"
ONE = f"{BASE}/{{name}}"
PLANS = (
    *(Problem.PLAN_MALFORMED, Problem.PLAN_UNKNOWN_VERSION, Problem.PLAN_OVERSPENDS),
    *(Problem.PLAN_TOO_LARGE, Problem.PLAN_NOT_PRIVATE),
)
STATES = (ServerProblem.WRONG_STATE, ServerProblem.NOT_ENOUGH_REPORTS)


class SeenCampaigns(TypedDict):
    """The campaigns that a token can see."""

    campaigns: list[Overview]
    more: Annotated[bool, f"Whether there are more: an answer has at most {LISTED}."]
    scope: Literal["read", "manage"]
    campaign: Annotated[str, f"The campaign that the token is for; {EVERY} for all."]


class Entry(TypedDict):
    """What an operator did."""

    at: str
    actor: str
    action: str
    campaign: str
    detail: str


class Log(TypedDict):
    """The newest entries of the log, oldest first."""

    entries: list[Entry]
    more: Annotated[bool, f"Whether there are older ones: an answer has at most {ENTRIES:,}."]


class OverTime(TypedDict):
    """Estimates with standard errors for each time window, and the time windows in which travel changed."""

    name: str
    windows: list[dict[str, Any]]
    lines: list[dict[str, Any]]
    changes: list[dict[str, Any]]


def _plan(value: Any) -> Plan:
    return Plan.from_json(json.dumps(value, sort_keys=True, separators=(",", ":")))


@dataclass(frozen=True, kw_only=True)
class NewPlan:
    """A plan, or the facts from which the server makes one."""

    plan: Plan | None = option(
        None,
        help="The plan document (protocol/v1/plan.schema.json); without it, the server makes a plan from --users, "
        "--epsilon, --bounds and further facts.",
        parse=_plan,
    )
    facts: Facts | None = None

    def __post_init__(self) -> None:
        settle(self)
        if (self.plan is None) == (self.facts is None):
            raise InputError("give a plan, or the facts users, epsilon, bounds and others")

    def chosen(self) -> Plan:
        """Return the plan, or make it."""
        if self.plan is not None:
            return self.plan
        assert self.facts is not None
        return self.facts.campaign_plan()


@dataclass(frozen=True, kw_only=True)
class NewCampaign(NewPlan):
    """A new campaign: its name, its plan or the facts of it, and what else is stated."""

    name: str = option(help="Name of the campaign: up to 64 small letters, digits and hyphens.")
    terms: Terms = field(default_factory=Terms)


@operation("GET", BASE, scope=ANY, parameters=(AFTER,))
async def operator_campaigns(call: Call) -> SeenCampaigns:
    """List the campaigns that the token can see."""
    token, after = call.token, State.after(call.request)
    if not token.allows("read", token.campaign):
        raise Refused(ServerProblem.FORBIDDEN, f"the token allows {token.scope} of {token.campaign}")

    def shown(session: Session) -> tuple[list[Overview], bool]:
        if token.campaign != EVERY:
            return [views.overview(session, find(session, token.campaign))], False
        listed = all_campaigns(session, after, LISTED + 1)
        return [views.overview(session, one) for one in listed[:LISTED]], len(listed) > LISTED

    overviews, more = await call.state.read(shown)
    scope: Any = token.scope
    return {"campaigns": overviews, "more": more, "scope": scope, "campaign": token.campaign}


@operation(
    *("POST", BASE),
    scope="manage",
    takes=NewCampaign,
    gives=Overview,
    status=201,
    problems=(ServerProblem.CAMPAIGN_EXISTS, *PLANS),
)
async def create_campaign(call: Call) -> Response:
    """Create a campaign in the state draft."""
    new, state = call.body, call.state
    plan, actor = await state.call(new.chosen), call.token.actor
    made = await state.call(campaigns.create, state.database, new.name, plan, new.terms, actor=actor)
    shown = await state.read(lambda session: views.overview(session, made))
    return JsonAnswer(shown, status_code=201, headers={"location": f"{BASE}/{new.name}"})


@operation("GET", ONE, scope="read")
async def operator_campaign(call: Call) -> Overview:
    """Return the counts, rejections and predicted errors of a campaign."""
    return await call.state.read(lambda session: views.overview(session, find(session, call.name)))


@operation(
    *("DELETE", ONE),
    scope="manage",
    status=204,
    answer="The campaign is deleted.",
    problems=(ServerProblem.WRONG_STATE,),
)
async def delete_campaign(call: Call) -> Response:
    """Delete a campaign that is not open."""
    await _done(call, campaigns.delete)
    return Response(status_code=204)


@operation("POST", f"{ONE}/open", scope="manage", problems=STATES)
async def open_round(call: Call) -> Overview:
    """Open the next round."""
    await _done(call, campaigns.open_round)
    return await operator_campaign.handler(call)


@operation("POST", f"{ONE}/close", scope="manage", problems=STATES)
async def close_round(call: Call) -> Overview:
    """Close the open round, or begin no further time window."""
    await _done(call, campaigns.close, now=call.state.clock())
    return await operator_campaign.handler(call)


@operation("POST", f"{ONE}/plan", scope="manage", takes=NewPlan, problems=(*STATES, *PLANS))
async def change_plan(call: Call) -> Overview:
    """Change the plan of a standing campaign.

    Time windows of the old plan that have begun are counted until their time is over.
    """
    plan = await call.state.call(call.body.chosen)
    await _done(call, campaigns.change_plan, plan=plan, now=call.state.clock())
    return await operator_campaign.handler(call)


@operation("POST", f"{ONE}/publish", scope="manage", takes=Publishing, status=202, problems=STATES)
async def publish(call: Call) -> Overview:
    """Make the release, in a separate process.

    The field `release` of the answer shows the progress of the release.
    """
    call.state.start_release(await _done(call, releases.begin, **vars(call.body)))
    return await operator_campaign.handler(call)


@operation(
    *("GET", f"{ONE}/tallies/{{round:number}}"),
    scope="read",
    gives={TALLY_TYPE: dict[str, Any]},
    answer="The tally.",
    problems=(ServerProblem.NOT_FOUND, ServerProblem.NOT_ENOUGH_REPORTS),
)
async def tally(call: Call) -> Response:
    """Return the tally of one round or time window."""
    number = int(call.request.path_params["round"])
    _, counts = await call.state.read(
        lambda session: tally_of(session, find(session, call.name), number - 1, closed=False)
    )
    return Response(counts.to_json(), media_type=TALLY_TYPE)


@operation("GET", f"{ONE}/estimates", scope="read", problems=(ServerProblem.NOT_ENOUGH_REPORTS,))
async def estimates(call: Call) -> Estimated:
    """Return the density, flows and lengths with standard errors."""
    return await call.state.read(lambda session: views.estimated(session, find(session, call.name)))


@operation("GET", f"{ONE}/series", scope="read", gives=OverTime, problems=STATES)
async def series(call: Call) -> Any:
    """Return the estimates over time, one point for each time window with enough reports."""

    def over_time(session: Session) -> dict[str, Any]:
        # Statistics take a second to load, which a server that only counts need not spend, and nobody waits for.
        from ldptrace.server.series import series as series_of

        return series_of(session, find(session, call.name))

    return await call.state.read(over_time)


@operation(
    *("GET", f"{ONE}/travellers"),
    scope="read",
    gives={"text/event-stream": str},
    answer="Events `travellers`. Each trip is an array: seconds until departure, duration in seconds, x, y, and then "
    "the steps from point to point.",
    problems=(ServerProblem.NOT_FOUND,),
)
async def travellers(call: Call) -> Response:
    """Stream synthetic travellers of the newest release, as server-sent events."""
    data = await call.state.read(lambda session: releases.newest_file(session, call.name, "travellers.json"))
    if not data:
        raise not_found(f"campaign {call.name} has no release yet")
    from ldptrace.server.streets import stream

    return StreamingResponse(
        stream(data, call.state.settings.stopping.is_set),
        media_type="text/event-stream",
        headers={"x-accel-buffering": "no"},
    )


@operation("GET", f"{ONE}/files/{{file}}", scope="read", **FILE)
async def download(call: Call) -> Response:
    """Return a file of the release."""
    return await file_answer(call.request, None, f"{call.name}-")


@operation("GET", f"{ONE}/rounds/{{round:number}}/files/{{file}}", scope="read", **FILE)
async def window_file(call: Call) -> Response:
    """Return a file of the release of one time window."""
    number = int(call.request.path_params["round"])
    return await file_answer(call.request, number - 1, f"{call.name}-{number}-")


@operation(
    *("PUT", f"{ONE}/roads/{{file}}"),
    scope="manage",
    takes=bytes,
    status=204,
    answer="The file is stored.",
    problems=(ServerProblem.WRONG_STATE,),
)
async def roads(call: Call) -> Response:
    """Store a file of the road network of the campaign."""
    state, file = call.state, call.request.path_params["file"]
    body = await read_body(call.request, state.settings.max_upload, 600.0, state.uploading)
    actor = call.token.actor
    await state.upload(releases.keep_roads, state.database, call.name, {file: body}, actor=actor)
    return Response(status_code=204)


@operation("GET", "/v1/operator/audit", scope="read")
async def audit(call: Call) -> Log:
    """Return the log of what operators did."""
    entries: Any = await call.state.read(lambda session: audit_log(session, most=ENTRIES + 1))
    return {"entries": entries[-ENTRIES:], "more": len(entries) > ENTRIES}


async def _done(call: Call, work: Callable[..., T], **named: Any) -> T:
    """Do the work on the campaign in the name of the token's holder."""
    return await call.state.call(work, call.state.database, call.name, actor=call.token.actor, **named)
