"""Does every report follow from fresh bytes of the operating system, and from nothing else?

The bytes that the system hands out while a device answers are written down. The same report must follow from them
alone, read in order: then no byte was used twice, made up, kept from an earlier report or shared with another
process. Besides the rounds of the plan, each randomizer that a plan can name answers a probe that needs thousands of
bytes, so that a source which goes bad after a while shows too.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ldptrace.audit.system import Asked, Points, extreme_trajectories
from ldptrace.errors import ProtocolError
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.questions import Steps
from ldptrace.protocol.randomizers import RANDOMIZERS, PrivSet
from ldptrace.protocol.randomness import BytesReader, Source
from ldptrace.protocol.reports import ID_AT
from ldptrace.protocol.round import Ask, Round

# Reports of each round, and of each probe, that are watched.
REPORTS, PROBES = 40, 8
# Slots of a probe.
PROBE = 150


@dataclass(frozen=True)
class SourceFinding:
    """Where the reports of one round, or of the probe of one randomizer, got their randomness from."""

    target: str
    reports: int
    bytes: int
    stands: bool
    detail: str


def source_findings(plan: Plan) -> list[SourceFinding]:
    """Return one finding for each round of the plan, and one for each randomizer there is."""
    inputs = [points for points in extreme_trajectories(plan.grid).values() if len(points) < 50]
    found = [
        _finding(f"round {number}" if plan.standing is None else "windows", Asked(plan, number), inputs)
        for number in range(len(plan.rounds))
    ]
    for kind in RANDOMIZERS:
        probe = probe_plan(kind)
        walks = [points for points in extreme_trajectories(probe.grid).values() if len(points) < 50]
        found.append(_finding(f"probe of {kind}", Asked(probe, 0), walks, PROBES))
    return found


def probe_plan(kind: str) -> Plan:
    """Return a plan whose reports need many random bytes of one randomizer.

    >>> [probe_plan(kind).rounds[0].asks[0].randomizer.kind for kind in RANDOMIZERS]
    ['grr', 'oue', 'privset']
    """
    question = Steps(3, PROBE)
    channel = RANDOMIZERS[kind]
    own = {"size": 8} if channel is PrivSet else {}
    ratio = ratio_at_most(Fraction(1, PROBE))
    ask = Ask(question, channel(domain=question.domain, capacity=1, ratio=ratio, **own))
    return Plan("probe", Grid((0, 0, 3, 3), 3), Fraction(1), (Round((ask,), "everyone"),))


def _finding(target: str, device: Asked, inputs: list[Points], reports: int = REPORTS) -> SourceFinding:
    """Check that each report follows from the bytes that the system handed out for it, and that no two have one id."""
    ids, total = set[bytes](), 0
    for draw in range(reports):
        points = inputs[draw % len(inputs)]
        message, handed = device.watched(points)
        total += sum(map(len, handed))
        wrong = _unlike(device, points, message, handed)
        if wrong:
            return SourceFinding(target, draw + 1, total, False, wrong)
        ids.add(message[ID_AT])
    if len(ids) < reports:
        return SourceFinding(target, reports, total, False, "two reports have one id")
    detail = "each report follows from fresh bytes of the system alone"
    return SourceFinding(target, reports, total, True, detail)


def _unlike(device: Asked, points: Points, message: bytes, handed: list[bytes]) -> str | None:
    """Return how a report differs from what follows from the bytes that were handed out for it, if it does."""
    reader = BytesReader(b"".join(handed))
    try:
        again = device.drawn(points, Source(reader))
    except ProtocolError:
        return f"the system handed out {len(reader.data)} bytes, which are not enough for the report"
    if again != message:
        return "the report does not follow from the bytes that the system handed out for it"
    if handed and reader.position <= len(reader.data) - len(handed[-1]):
        return "bytes were read that the report did not need"
    return None
