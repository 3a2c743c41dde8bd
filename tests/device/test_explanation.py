from __future__ import annotations

import re

import pytest

from ldptrace.device import Reporter
from ldptrace.device.explanation import explain_asking, explain_report
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import report_bytes

GRID = Grid((0.0, 0.0, 6.0, 6.0), 6)
SINGLE = Plan.single_report(GRID, 1.0)


def test_before_anything_is_drawn_size_lot_and_promise_are_told() -> None:
    told = explain_asking(SINGLE, 0)
    assert f"one message of {report_bytes(SINGLE.rounds[0])} bytes" in told[0]
    shares = [float(share) for share in re.findall(r"^  ([\d.]+) %", "\n".join(told), re.MULTILINE)]
    assert len(shares) == len(SINGLE.rounds[0].asks)
    assert sum(shares) == pytest.approx(100, abs=0.1 * len(shares))
    # e^1 to one are the odds: 73 % sure.
    assert any("at most 2.72 times as likely" in line and "at most 73.1 % sure" in line for line in told)


def test_a_plan_that_leaks_says_so() -> None:
    leaking = Plan.paper(GRID, 1.0, method="paper-unpadded").paper_second_round(4)
    assert any(line.startswith("NOT PRIVATE") for line in explain_asking(leaking, 1))
    assert not any("NOT PRIVATE" in line for line in explain_asking(SINGLE, 0))


def test_a_report_in_words_is_the_one_that_leaves() -> None:
    data = Reporter(SINGLE).report([(0.5, 0.5), (3.5, 3.5)])
    told = explain_report(SINGLE, data)
    assert told[0] == f"The message, {len(data)} bytes: {data.hex()}"
    assert any(line.startswith("To the question about") for line in told)
    assert "nobody who reads the message can tell which" in told[-1]
