"""The second promise of a shuffled plan: what the accountant says of it, and that reports leave a device sealed."""

from __future__ import annotations

from dataclasses import dataclass

from ldptrace.audit.client import StructuralFinding
from ldptrace.audit.driven import Device, reports_of, trip_lines
from ldptrace.curator.accounting import composed_epsilon
from ldptrace.curator.opening import CuratorKey
from ldptrace.protocol.limits import MAX_START
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import ReportRejected
from ldptrace.protocol.reports import read_report, report_bytes
from ldptrace.protocol.seals import POINT_BYTES, sealed_bytes
from ldptrace.protocol.shuffling import central_epsilon

# Seals that are looked at.
SEALS = 20


@dataclass(frozen=True)
class CentralFinding:
    """What the clones' pair gives for a delta, beside what the plan states."""

    checked: str
    delta: float
    epsilon: float
    claimed: float

    @property
    def stands(self) -> bool:
        return self.epsilon <= self.claimed


def central_findings(plan: Plan) -> list[CentralFinding]:
    """Compute the central epsilon of one answer, and of all answers to a standing plan by composition."""
    shuffled = plan.shuffled
    if shuffled is None:
        return []
    local, delta = float(plan.epsilon), float(shuffled.delta)
    one = central_epsilon(shuffled.hidden, local, delta)
    found = [CentralFinding("one answer", delta, one, float(shuffled.epsilon))]
    if plan.standing is not None and shuffled.lifetime is not None:
        most = plan.standing.answers(plan.epsilon)
        all_of_them = composed_epsilon(shuffled.hidden, local, most * delta, most)
        found.append(
            CentralFinding(f"all {most} answers", most * delta, all_of_them, float(shuffled.lifetime))
        )
    return found


def sealed_finding(plan: Plan, device: Device) -> StructuralFinding:
    """Look at what a device sends to the plan with a key of the audit: seals of one size with fresh keys, and in each a
    report of the plan. A standing plan is tried without its windows."""
    key = CuratorKey.drawn()
    row = plan.shuffled
    assert row is not None
    own = plan.changed(standing=None, shuffled=row.changed(key=key.public, lifetime=None, until=MAX_START))
    sent = reports_of(device, {"plan": own.to_json(), "trips": trip_lines([])}, SEALS)
    size = sealed_bytes(report_bytes(own.rounds[0]))
    opened, lost = key.opener(own.id).open_all(sent, None)
    wrong = ""
    if lost:
        wrong = f"{lost} of {SEALS} messages are not sealed for this plan"
    elif {len(one) for one in sent} != {size}:
        wrong = f"messages have {sorted({len(one) for one in sent})} bytes, not {size}"
    elif len({one[:POINT_BYTES] for one in sent}) < SEALS:
        wrong = "two seals have the same key"
    for report in opened:
        try:
            read_report(report, own, 0)
        except ReportRejected as rejection:
            wrong = wrong or str(rejection)
    detail = wrong or f"{SEALS} seals of {size} bytes, each with a fresh key"
    return StructuralFinding(0, "seal", not wrong, detail)
