"""The HTTP interface for operators: campaigns, their states, estimates and downloads. Every request needs a token."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ldptrace.curator.facts import Facts
from ldptrace.options import decoded, options_in
from ldptrace.protocol.plan import Plan
from ldptrace.server import campaigns, releases, standing, views
from ldptrace.server.campaigns import MAX_REPORTS, MIN_REPORTS, Numbers, Terms
from ldptrace.server.downloads import file_answer
from ldptrace.server.registry import About, Schedule, all_campaigns, audit_log, find
from ldptrace.server.state import State
from ldptrace.server.storage import Session
from ldptrace.server.tallies import tally_of
from ldptrace.server.tokens import EVERY
from ldptrace.web.answers import TALLY_TYPE, JsonAnswer, read_body, read_json
from ldptrace.web.problems import Refused, ServerProblem, bad_request, not_found

# Campaigns in one answer; the rest follow after the last of them.
LISTED = 100
FACTS = frozenset(entry.name for entry, _ in options_in(Facts))
_ABOUT = frozenset({"title", "organiser", "contact", "notice", "opens", "until"})
_KEYS = frozenset({"name", "plan", "min_reports", "max_reports", *_ABOUT, *FACTS})


async def index(request: Request) -> Response:
    """Campaigns that the token can see: those after a name, as many as one answer has."""
    state, after = State.of(request), State.after(request)
    token = await state.token(request)
    if not token.allows("read", token.campaign):
        raise Refused(ServerProblem.FORBIDDEN, f"the token allows {token.scope} of {token.campaign}")

    def shown(session: Session) -> tuple[list[dict[str, Any]], bool]:
        if token.campaign != EVERY:
            return [views.overview(session, find(session, token.campaign))], False
        found = all_campaigns(session, after, LISTED + 1)
        return [views.overview(session, one) for one in found[:LISTED]], len(found) > LISTED

    campaigns, more = await state.read(shown)
    return JsonAnswer(
        {"campaigns": campaigns, "more": more, "scope": token.scope, "campaign": token.campaign}
    )


async def create(request: Request) -> Response:
    state = State.of(request)
    token = await state.operator(request, "manage", EVERY)
    data = await read_json(request, 1 << 20, state.settings.timeout)
    unknown = sorted(set(data) - _KEYS)
    if unknown:
        raise bad_request(f"unknown key {unknown[0][:80]!r}")
    name = _text(data, "name")
    if ("plan" in data) == bool(FACTS & set(data)):
        raise bad_request(f"give a plan, or the facts {', '.join(sorted(FACTS))}")

    def make() -> dict[str, Any]:
        made = campaigns.create(state.database, name, _plan(data), _terms(data), actor=token.actor)
        with state.database.reading() as session:
            return views.overview(session, made)

    shown = await state.call(make)
    return JsonAnswer(shown, status_code=201, headers={"location": f"/v1/operator/campaigns/{name}"})


async def show(request: Request) -> Response:
    state, name, _ = await State.admit(request, "read")
    return JsonAnswer(await state.read(lambda session: views.overview(session, find(session, name))))


async def delete(request: Request) -> Response:
    state, name, token = await State.admit(request, "manage")
    await state.call(lambda: campaigns.delete(state.database, name, actor=token.actor))
    return Response(status_code=204)


async def open_round(request: Request) -> Response:
    state, name, token = await State.admit(request, "manage")
    await state.call(lambda: campaigns.open_round(state.database, name, actor=token.actor))
    return await _shown(state, name)


async def close_round(request: Request) -> Response:
    state, name, token = await State.admit(request, "manage")
    await state.call(lambda: standing.close(state.database, name, actor=token.actor, now=state.clock()))
    return await _shown(state, name)


async def change_plan(request: Request) -> Response:
    """Go on with another plan under the same campaign; the old one runs out."""
    state, name, token = await State.admit(request, "manage")
    data = await read_json(request, 1 << 20, state.settings.timeout)
    if ("plan" in data) == bool(FACTS & set(data)) or set(data) - {"plan", *FACTS}:
        raise bad_request(f"give a plan, or the facts {', '.join(sorted(FACTS))}")

    def change() -> None:
        standing.change_plan(state.database, name, _plan(data), actor=token.actor, now=state.clock())

    await state.call(change)
    return await _shown(state, name)


async def publish(request: Request) -> Response:
    """Start the release in a process of its own; `release` tells how far it is."""
    state, name, token = await State.admit(request, "manage")
    data = await read_json(request, 1 << 16, state.settings.timeout)
    if set(data) - {"count", "again"} or not isinstance(data.get("again", False), bool):
        raise bad_request("known are count, an integer, and again, true or false")
    count = _integer(data, "count", 0)
    if not 0 <= count <= releases.MAX_COUNT:
        raise bad_request(f"count is up to {releases.MAX_COUNT:,}; 0: as many as reports")
    again = bool(data.get("again"))
    attempt = await state.call(
        lambda: releases.begin(state.database, name, actor=token.actor, again=again, count=count)
    )
    state.start_release(name, attempt, count)
    return await _shown(state, name, status=202)


async def tallies(request: Request) -> Response:
    """The tally of one round or window."""
    state, name, _ = await State.admit(request, "read")
    number = int(request.path_params["round"])
    _, tally = await state.read(
        lambda session: tally_of(session, find(session, name), number - 1, closed=False)
    )
    return Response(tally.to_json(), media_type=TALLY_TYPE)


async def estimates(request: Request) -> Response:
    state, name, _ = await State.admit(request, "read")
    return JsonAnswer(await state.read(lambda session: views.estimated(session, find(session, name))))


async def series(request: Request) -> Response:
    """Estimates over time, window by window."""
    state, name, _ = await State.admit(request, "read")

    def over_time(session: Session) -> dict[str, Any]:
        # Statistics take a second to load, which a server that only counts need not spend, and nobody waits for.
        from ldptrace.server.series import series as found

        return found(session, find(session, name))

    return JsonAnswer(await state.read(over_time))


async def travellers(request: Request) -> Response:
    """Synthetic travellers of the newest release, as server-sent events."""
    state, name, _ = await State.admit(request, "read")
    data = await state.read(lambda session: releases.newest_file(session, name, "travellers.json"))
    if not data:
        raise not_found(f"campaign {name} has no release yet")
    from ldptrace.server.travellers import stream

    return StreamingResponse(
        stream(data, state.settings.stopping.is_set),
        media_type="text/event-stream",
        headers={"x-accel-buffering": "no"},
    )


async def window_file(request: Request) -> Response:
    """A file of the release of one window."""
    number = int(request.path_params["round"]) - 1
    return await _file(request, number)


async def download(request: Request) -> Response:
    """A file of the release."""
    return await _file(request, None)


async def _file(request: Request, number: int | None) -> Response:
    state, name, _ = await State.admit(request, "read")
    file = request.path_params["file"]
    shown = file if number is None else f"{number + 1}-{file}"
    return await file_answer(state, name, number, file, f"{name}-{shown}")


async def roads(request: Request) -> Response:
    """Take a file of the road network that the release goes by."""
    state, name, token = await State.admit(request, "manage")
    body = await read_body(request, state.settings.max_upload, 600.0, state.uploading)
    file = request.path_params["file"]
    await state.upload(lambda: releases.keep_roads(state.database, name, {file: body}, actor=token.actor))
    return Response(status_code=204)


async def audit(request: Request) -> Response:
    """List what operators did."""
    state = State.of(request)
    await state.operator(request, "read", EVERY)
    return JsonAnswer({"entries": await state.read(lambda session: list(audit_log(session)))})


async def metrics(request: Request) -> Response:
    state = State.of(request)
    await state.operator(request, "read", EVERY)
    return Response(state.metrics.text(state.intake.waiting), media_type="text/plain; version=0.0.4")


async def _shown(state: State, name: str, status: int = 200) -> Response:
    shown = await state.read(lambda session: views.overview(session, find(session, name)))
    return JsonAnswer(shown, status_code=status)


def _plan(data: dict[str, Any]) -> Plan:
    """Return the plan in a request, or make one from the facts in the request."""
    if "plan" in data:
        return Plan.from_json(json.dumps(data["plan"], sort_keys=True, separators=(",", ":")))
    return decoded(Facts, {key: data[key] for key in FACTS & data.keys()}).campaign_plan()


def _terms(data: dict[str, Any]) -> Terms:
    """Return the settings of a campaign in a request, without its plan."""
    about = About(**{key: _text(data, key, "") for key in ("title", "organiser", "contact", "notice")})
    numbers = Numbers(
        _integer(data, "min_reports", MIN_REPORTS),
        _integer(data, "max_reports", MAX_REPORTS),
        _integer(data, "users", 0) or None,
    )
    times = (_integer(data, key) if data.get(key) is not None else None for key in ("opens", "until"))
    return Terms(about, numbers, Schedule(*times))


def _text(data: dict[str, Any], key: str, default: str | None = None) -> str:
    value = data.get(key, default)
    if not isinstance(value, str):
        raise bad_request(f"{key} is a text")
    return value


def _integer(data: dict[str, Any], key: str, default: int | None = None) -> int:
    value = data.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**53) < value < 2**53:
        raise bad_request(f"{key} is an integer")
    return value
