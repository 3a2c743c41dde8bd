"""The bytes of a report: one size for everybody who answers the same round of the same plan.

    offset  size  field
         0     1  version, 1
         1    16  first half of the plan's id
        17     1  round, from 0
        18     1  group: the number of the question that was drawn; 0 in a round for everyone
        19    16  random report id
        35     p  payload, followed by zeros up to the round's payload size

A batch is reports of one plan and round one after the other, nothing else; one report is a batch too.
"""

from __future__ import annotations

import struct

from ldptrace.errors import ProtocolError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem, ReportRejected
from ldptrace.protocol.records import Record
from ldptrace.protocol.round import Ask, Round

VERSION = 1
PLAN_BYTES = 16
ID_BYTES = 16

_HEADER = struct.Struct(f">B{PLAN_BYTES}sBB{ID_BYTES}s")
HEADER_BYTES = _HEADER.size

# For each question that a report answers, what each of its slots names.
Answers = list[tuple[Ask, list[tuple[int, ...]]]]


class Report(Record):
    """A report taken apart, not yet checked against its plan."""

    plan: bytes
    round: int
    group: int
    id: bytes
    payload: bytes

    def encode(self) -> bytes:
        """The report's bytes.

        >>> Report(bytes(16), 0, 2, bytes(16), b"xyz").encode().hex()[-20:]
        '0000000000000078797a'
        """
        return _HEADER.pack(VERSION, self.plan, self.round, self.group, self.id) + self.payload

    @staticmethod
    def decode(data: bytes) -> Report:
        """The fields of a report of any plan."""
        if data[:1] not in (b"", bytes([VERSION])):
            raise ReportRejected(
                Problem.UNKNOWN_VERSION, f"the report has version {data[0]}, known is {VERSION}"
            )
        if len(data) < HEADER_BYTES:
            raise ReportRejected(
                Problem.WRONG_SIZE, f"a report has at least {HEADER_BYTES} bytes, this one has {len(data)}"
            )
        _, plan, round_number, group, id_ = _HEADER.unpack_from(data)
        return Report(plan, round_number, group, id_, data[HEADER_BYTES:])


def plan_prefix(plan: Plan) -> bytes:
    """What a report says of its plan."""
    return bytes.fromhex(plan.id)[:PLAN_BYTES]


def report_bytes(round_: Round) -> int:
    """Size of every report of this round."""
    return HEADER_BYTES + round_.payload_bytes


def read_report(data: bytes, plan: Plan, round_number: int) -> Answers:
    """What a report of this round says; raises `ReportRejected` with the first problem found."""
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
    """The questions that a member of this group answers."""
    return round_.asks if round_.assignment == "everyone" else (round_.asks[group],)
