"""The bytes of a report: one size for everybody who answers the same round of the same plan.

    offset  size  field
         0     1  version: 2 in shuffled plans, otherwise 1
         1    16  first half of the plan's id
        17     1  round, from 0
        18     1  group: the number of the question that was drawn; 0 in a round for everyone
        19     4  window of a standing plan; 0 in other plans
        23    16  random report id
        39     p  payload, followed by zeros up to the round's payload size

A batch is reports of one plan and round one after the other, nothing else; one report is a batch too. The layout
stands here and nowhere else: `PLAN_AT` to `ID_AT` are the slices of its fields.
"""

from __future__ import annotations

import struct

from ldptrace.errors import ProtocolError
from ldptrace.protocol.plan import DIRECT, SHUFFLED, Plan
from ldptrace.protocol.problems import Problem, ReportRejected
from ldptrace.protocol.records import Record
from ldptrace.protocol.round import Ask, Round

# Media types of a batch of reports and of a sealed report, and the header of requests with admission codes.
REPORTS_TYPE = "application/vnd.ldptrace.reports"
SEALED_TYPE = "application/vnd.ldptrace.sealed"
ADMISSION = "Ldptrace-Admission"

PLAN_BYTES = 16
ID_BYTES = 16

_HEADER = struct.Struct(f">B{PLAN_BYTES}sBBI{ID_BYTES}s")
HEADER_BYTES = _HEADER.size
PLAN_AT = slice(1, 1 + PLAN_BYTES)
ROUND_AT = slice(PLAN_AT.stop, PLAN_AT.stop + 1)
GROUP_AT = slice(ROUND_AT.stop, ROUND_AT.stop + 1)
WINDOW_AT = slice(GROUP_AT.stop, GROUP_AT.stop + 4)
ID_AT = slice(WINDOW_AT.stop, HEADER_BYTES)

# For each question that a report answers, what each of its slots names.
Answers = list[tuple[Ask, list[tuple[int, ...]]]]


class Report(Record):
    """A report taken apart, not yet checked against its plan."""

    plan: bytes
    round: int
    group: int
    window: int
    id: bytes
    payload: bytes
    version: int = DIRECT

    def encode(self) -> bytes:
        """Encode the report.

        >>> Report(bytes(16), 0, 2, 0, bytes(16), b"xyz").encode().hex()[-20:]
        '0000000000000078797a'
        """
        head = (self.version, self.plan, self.round, self.group, self.window, self.id)
        return _HEADER.pack(*head) + self.payload

    @staticmethod
    def decode(data: bytes) -> Report:
        """Decode the fields of a report of any plan."""
        if data[:1] not in (b"", bytes([DIRECT]), bytes([SHUFFLED])):
            raise _unknown(data[0], f"known are {DIRECT} and {SHUFFLED}")
        if len(data) < HEADER_BYTES:
            raise ReportRejected(
                Problem.WRONG_SIZE, f"a report has at least {HEADER_BYTES} bytes, this one has {len(data)}"
            )
        version, plan, round_number, group, window, id_ = _HEADER.unpack_from(data)
        return Report(plan, round_number, group, window, id_, data[HEADER_BYTES:], version)


def plan_prefix(plan: Plan) -> bytes:
    """Return what a report says of its plan."""
    return bytes.fromhex(plan.id)[:PLAN_BYTES]


def report_bytes(round_: Round) -> int:
    """Return the size of every report of this round."""
    return HEADER_BYTES + round_.payload_bytes


def window_of(report: bytes) -> int:
    """Return the window that a report names, of at least `HEADER_BYTES` bytes."""
    return int.from_bytes(report[WINDOW_AT], "big")


def read_report(data: bytes, plan: Plan, round_number: int, window: int | None = None) -> Answers:
    """Read what a report of this round says. Raises `ReportRejected` with the first problem found.

    Of a standing plan, reports of one `window` only, or with None those of any.
    """
    if data[:1] not in (b"", bytes([plan.version])):
        raise _unknown(data[0], f"those of this plan have {plan.version}")
    report = Report.decode(data)
    if report.plan != plan_prefix(plan):
        raise ReportRejected(Problem.WRONG_PLAN)
    if report.round != round_number:
        raise ReportRejected(
            Problem.WRONG_ROUND, f"the report answers round {report.round + 1}, this is {round_number + 1}"
        )
    round_ = plan.rounds[round_number]
    if len(report.payload) != round_.payload_bytes:
        raise ReportRejected(
            Problem.WRONG_SIZE,
            f"a report of this round has {report_bytes(round_)} bytes, this one has {len(data)}",
        )
    wanted = window if plan.standing is not None else 0
    if wanted is not None and report.window != wanted:
        raise ReportRejected(
            Problem.WRONG_WINDOW, f"the report answers window {report.window}, this is {wanted}"
        )
    if report.group >= (1 if round_.assignment == "everyone" else len(round_.asks)):
        raise ReportRejected(Problem.UNKNOWN_GROUP, f"the round has no group {report.group}")
    asks = asked_of(round_, report.group)
    used = sum(ask.payload_bytes for ask in asks)
    if any(report.payload[used:]):
        raise ReportRejected(Problem.BAD_PADDING)
    answers, position = [], 0
    for ask in asks:
        slots, size = [], ask.randomizer.payload_bytes
        for _ in range(ask.question.slots):
            try:
                slots.append(ask.randomizer.decode(report.payload[position : position + size]))
            except ProtocolError as error:
                raise ReportRejected(Problem.BAD_PAYLOAD, str(error)) from None
            position += size
        answers.append((ask, slots))
    return answers


def asked_of(round_: Round, group: int) -> tuple[Ask, ...]:
    """Return the questions that a member of this group answers."""
    return round_.asks if round_.assignment == "everyone" else (round_.asks[group],)


def _unknown(version: int, known: str) -> ReportRejected:
    return ReportRejected(Problem.UNKNOWN_VERSION, f"the report has version {version}, {known}")
