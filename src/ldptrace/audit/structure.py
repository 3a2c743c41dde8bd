"""Do number, size and kind of the messages depend on the trajectory? The device code is asked.

Every trajectory is answered with the same random bytes. Then everything but the payload must come out equal
to the last bit: version, plan, round, group, report id, and the number of bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from ldptrace.audit.system import Asked, tape
from ldptrace.audit.trajectories import extreme_trajectories
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import ReportRejected
from ldptrace.protocol.reports import HEADER_BYTES, read_report

# Random tapes that every trajectory is answered with.
TAPES = 20


@dataclass(frozen=True)
class StructuralFinding:
    """One property of the messages of one round, and the trajectories it tells apart, if any."""

    round: int
    checked: str
    stands: bool
    detail: str


def structural_findings(plan: Plan) -> list[StructuralFinding]:
    """Size, header and form of what the device sends for trajectories that differ as much as possible."""
    everybody = extreme_trajectories(plan.grid)
    found = []
    for number in range(len(plan.rounds)):
        device = Asked(plan, number)
        sent = {
            name: [device.answer([points], tape(luck)) for luck in range(TAPES)]
            for name, points in everybody.items()
        }
        sizes = {name: [f"1 message of {len(m)} bytes" for m in messages] for name, messages in sent.items()}
        headers = {name: [m[:HEADER_BYTES].hex() for m in messages] for name, messages in sent.items()}
        found += [_equal(number, "number and size", sizes), _equal(number, "header", headers)]
        if plan.rounds[number].padded:
            found.append(_valid(plan, number, sent))
    return found


def _equal(number: int, what: str, values: dict[str, list[str]]) -> StructuralFinding:
    names = list(values)
    first = values[names[0]]
    other = next((name for name in names if values[name] != first), None)
    if other is None:
        detail = f"the same for {len(names)} extreme trajectories, {len(first)} draws each"
        return StructuralFinding(number, what, True, detail)
    seen, instead = next((a, b) for a, b in zip(first, values[other], strict=True) if a != b)
    detail = (
        f"{seen} for {names[0]!r}, {instead} for {other!r}: one look tells them apart, epsilon is infinite"
    )
    return StructuralFinding(number, what, False, detail)


def _valid(plan: Plan, number: int, sent: dict[str, list[bytes]]) -> StructuralFinding:
    for name, messages in sent.items():
        for message in messages:
            try:
                read_report(message, plan, number)
            except ReportRejected as problem:
                return StructuralFinding(
                    number, "form", False, f"what is sent for {name!r} is not valid: {problem}"
                )
    return StructuralFinding(number, "form", True, "every message follows the protocol, padding included")
