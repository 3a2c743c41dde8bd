"""Does the device remember what it said? Its ledger is tried as a curator, a bad network and a restart would.

A device that draws again when it is asked again gives a second answer, and every answer tells more. Each scenario has
its own ledger, a script, and the result that the protocol demands after every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise

from ldptrace.audit.client import CommandDevice, Device, Json, trip_lines
from ldptrace.audit.system import Points
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.questions import Start
from ldptrace.protocol.randomizers import GRR
from ldptrace.protocol.reports import Report
from ldptrace.protocol.round import Ask, Round
from ldptrace.protocol.standing import Standing

GRID = Grid((0.0, 0.0, 1.0, 1.0), 2)
DAY, WEEK = 86_400, 7 * 86_400
# A clock that shows a real date: Monday 2026-06-01T08:00Z.
NOW = 1_780_300_800
# Plans that two processes answer at the same moment.
TWINS = 20
HERE: Points = [(0.2, 0.2)]
THERE: Points = [(0.8, 0.8), (0.2, 0.8)] * 200


@dataclass(frozen=True)
class LedgerFinding:
    """One scenario, and the first step after which the device did something else than it must."""

    checked: str
    steps: int
    stands: bool
    detail: str


@dataclass(frozen=True)
class Step:
    """One step of a scenario: what is done, and the result: `fresh`, the number of an earlier step, or a problem."""

    do: str
    plan: str = ""
    result: str | int = ""
    round: int = 0
    now: int = NOW
    limit: str = "5"
    trips: tuple[Points, ...] = (HERE,)


# Ask for a report; say that the report of an earlier step has arrived; start the client again.
ask, sent, RESTART = partial(Step, "report"), partial(Step, "sent"), Step("restart")


def ledger_findings(device: Device) -> list[LedgerFinding]:
    """Check retries, restarts, forks, limits and windows."""
    plans = {name: plan.to_json() for name, plan in _plans().items()}
    findings = [
        _tried(device, f"audit-{place}", name, steps, plans)
        for place, (name, steps) in enumerate(_scenarios().items())
    ]
    return [*findings, _side_by_side(device)] if isinstance(device, CommandDevice) else findings


def _scenarios() -> dict[str, list[Step]]:
    other = (THERE, HERE, THERE)
    return {
        "a retry gets the same bytes": [
            ask("one", "fresh"),
            ask("one", 0),
            ask("one", 0, trips=other),
            ask("one", 0, trips=()),
            ask("one", 0, now=NOW + WEEK),
        ],
        "a restart forgets nothing": [
            ask("one", "fresh"),
            RESTART,
            ask("one", 0, trips=other),
            sent("one", 0),
            ask("one", "plan-answered"),
            RESTART,
            ask("one", "plan-answered", trips=other),
        ],
        "a later round is answered once": [
            ask("one", "fresh"),
            ask("two", "fresh", round=1),
            ask("two", "plan-answered", round=0),
            ask("two", 1, round=1),
            ask("two", "plan-no-such-round", round=2),
        ],
        "a fork is refused": [
            ask("one", "fresh"),
            ask("two", "fresh", round=1),
            ask("fork", "plan-answered", round=1),
            ask("longer fork", "plan-forked", round=2),
            RESTART,
            ask("longer fork", "plan-forked", round=2),
        ],
        "a fork of a plan that was sent is refused": [
            ask("two", "fresh", round=1),
            sent("two", 0),
            ask("one", "plan-forked"),
            ask("longer fork", "plan-forked", round=2),
        ],
        "the limit holds": [
            ask("one", "fresh", limit="2"),
            ask("another campaign", "fresh", limit="2"),
            ask("a third campaign", "plan-over-limit", limit="2"),
            RESTART,
            ask("a third campaign", "plan-over-limit", limit="2"),
            ask("a third campaign", "plan-over-limit", limit="2.999999999999999999"),
            ask("one", 0, limit="1"),
            ask("a third campaign", "fresh", limit="3"),
        ],
        "a window is answered once": [
            Step("accept", "week"),
            ask("week", "plan-not-due"),
            ask("week", "fresh", now=NOW + WEEK),
            ask("week", 2, now=NOW + WEEK, trips=other),
            RESTART,
            ask("week", 2, now=NOW + WEEK + 1),
            ask("week", 2, now=NOW - 5 * WEEK),
            sent("week", 2),
            ask("week", "plan-not-due", now=NOW + WEEK),
            ask("week", "plan-not-due", now=NOW - WEEK),
        ],
        "windows end with the lifetime": [
            Step("accept", "week"),
            *(ask("week", "fresh", now=NOW + k * WEEK) for k in (1, 2, 5)),
            ask("week", 3, now=NOW + 3 * WEEK),
            ask("week", "plan-lifetime", now=NOW + 6 * WEEK),
            RESTART,
            ask("week", "plan-lifetime", now=NOW + 60 * WEEK),
        ],
        "windows count towards the limit": [
            Step("accept", "week"),
            ask("week", "fresh", now=NOW + WEEK, limit="2"),
            ask("one", "fresh", limit="2"),
            ask("week", "plan-over-limit", now=NOW + 2 * WEEK, limit="2"),
            ask("another campaign", "plan-over-limit", limit="2"),
        ],
    }


def _side_by_side(device: CommandDevice) -> LedgerFinding:
    """Let two processes of one person answer the same plans at the same moment."""
    name, twin = "two processes give one answer", device.twin()
    try:
        for nonce in range(TWINS):
            plan = _campaign(100 + nonce).to_json()
            line = {
                "plan": plan,
                "ledger": "audit-twins",
                "limit": "999",
                "now": NOW,
                "trips": trip_lines([HERE]),
            }
            for process in (device, twin):
                process.send(line)
            one, other = device.receive(), twin.receive()
            if one.get("report") is None or one != other:
                return LedgerFinding(name, TWINS, False, f"one process answers {one}, the other {other}")
    finally:
        twin.close()
    return LedgerFinding(name, TWINS, True, "the same bytes from both")


def _campaign(nonce: int, standing: Standing | None = None) -> Plan:
    campaign = CampaignName("audit", f"{nonce:032x}")
    return Plan("audit", GRID, Fraction(1), (_round("0.1"),), campaign=campaign, standing=standing)


def _plans() -> dict[str, Plan]:
    one = _campaign(1)
    two, fork = one.extended(_round("0.2")), one.extended(_round("0.3"))
    week = Standing.of(WEEK, epsilon=1, lifetime=3, grace=DAY)
    return {
        "one": one,
        "two": two,
        "fork": fork,
        "longer fork": fork.extended(_round("0.1")),
        "another campaign": _campaign(2),
        "a third campaign": _campaign(3),
        "week": _campaign(4, week),
    }


def _round(epsilon: str) -> Round:
    return Round((Ask(Start(2), GRR(4, 1, ratio_at_most(Fraction(epsilon)))),), "everyone")


def _tried(device: Device, ledger: str, name: str, steps: list[Step], plans: dict[str, str]) -> LedgerFinding:
    """Take the steps of a scenario one after the other."""
    reports: list[str | None] = []
    for number, step in enumerate(steps):
        answer = _taken(device, ledger, step, plans, reports)
        reports.append(answer.get("report"))
        result = _result(answer, reports)
        if step.do == "report" and result != step.result:
            detail = (
                f"step {number + 1}, {step.plan!r}: {_words(step.result)} was due, and came {_words(result)}"
            )
            return LedgerFinding(name, len(steps), False, detail)
    if not _in_order([report for report in reports if report]):
        return LedgerFinding(
            name, len(steps), False, "the windows of the reports do not follow from one phase"
        )
    return LedgerFinding(name, len(steps), True, "as the protocol demands, step by step")


def _taken(device: Device, ledger: str, step: Step, plans: dict[str, str], reports: list[str | None]) -> Json:
    if step.do == "restart":
        device.restart()
        return {}
    line: Json = {"plan": plans[step.plan], "ledger": ledger, "limit": step.limit, "now": step.now}
    if step.do == "sent":
        return device.ask(line | {"sent": reports[int(step.result)]})
    if step.do == "accept":
        return device.ask(line | {"accept": True})
    arrivals = [float(step.now - DAY)] * len(step.trips)
    return device.ask(line | {"round": step.round, "trips": trip_lines(step.trips, arrivals)})


def _result(answer: Json, reports: list[str | None]) -> str | int:
    if answer.get("report") is None:
        return str(answer.get("problem") or answer.get("error") or "nothing")
    first = reports.index(answer["report"])
    return "fresh" if first == len(reports) - 1 else first


def _words(result: str | int) -> str:
    if isinstance(result, int):
        return f"the report of step {result + 1}"
    return "a fresh report" if result == "fresh" else result


def _in_order(reports: list[str]) -> bool:
    """Check that windows which were answered a whole number of weeks apart are as many windows apart."""
    windows = [Report.decode(bytes.fromhex(report)).window for report in dict.fromkeys(reports)]
    standing = [window for window in windows if window]
    return all(b - a in (1, 3) for a, b in pairwise(standing))
