from __future__ import annotations

import pytest

from ldptrace.device import Reporter
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem, ReportRejected
from ldptrace.protocol.reports import HEADER_BYTES, Report, asked_of, read_report, report_bytes

PLAN = Plan.single_report(Grid((0, 0, 6, 6), 6), 1.0)


def problem(data: bytes, plan: Plan = PLAN) -> Problem:
    with pytest.raises(ReportRejected) as caught:
        read_report(data, plan, 0)
    return caught.value.problem


def test_what_a_device_writes_can_be_read() -> None:
    for _ in range(30):
        data = Reporter(PLAN, "none").report([(1, 1), (4, 4)])
        assert len(data) == report_bytes(PLAN.rounds[0])
        assert Report.decode(data).encode() == data
        ((ask, slots),) = read_report(data, PLAN, 0)
        assert ask in asked_of(PLAN.rounds[0], Report.decode(data).group)
        assert len(slots) == ask.question.slots


def test_every_field_is_checked() -> None:
    data = Reporter(PLAN, "none").report([(1, 1)])
    assert problem(b"\x02" + data[1:]) is Problem.UNKNOWN_VERSION
    with pytest.raises(ReportRejected, match="the report has version 9, known are 1 and 2"):
        Report.decode(b"\x09" + data[1:])
    assert problem(data[: HEADER_BYTES - 1]) is Problem.WRONG_SIZE
    assert problem(b"") is Problem.WRONG_SIZE
    assert problem(data + b"\0") is Problem.WRONG_SIZE
    assert problem(data[:1] + b"\0" * 16 + data[17:]) is Problem.WRONG_PLAN
    assert problem(data[:17] + b"\1" + data[18:]) is Problem.WRONG_ROUND
    assert problem(data[:18] + b"\xfe" + data[19:]) is Problem.UNKNOWN_GROUP


def test_bytes_after_the_payload_are_zero() -> None:
    sizes = [ask.payload_bytes for ask in PLAN.rounds[0].asks]
    group = sizes.index(min(sizes))
    while True:
        data = Reporter(PLAN, "none").report([(1, 1)])
        if Report.decode(data).group == group:
            break
    assert problem(data[:-1] + b"\1") is Problem.BAD_PADDING
