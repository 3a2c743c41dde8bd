from __future__ import annotations

import re
from pathlib import Path

import pytest

from ldptrace.device import Ledger, Reporter
from ldptrace.device.explanation import explain_asking, explain_ledger, explain_report, moment_words
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.reports import report_bytes
from ldptrace.protocol.standing import Standing
from ldptrace.protocol.trips import NO_TRIP

GRID = Grid((0.0, 0.0, 6.0, 6.0), 6)
SINGLE = Plan.single_report(GRID, 1.0)


def test_before_anything_is_drawn_size_lot_and_promise_are_told() -> None:
    told = explain_asking(SINGLE, 0)
    assert f"one message of {report_bytes(SINGLE.rounds[0])} bytes" in told[1]
    assert SINGLE.id in told[0]
    shares = [float(share) for share in re.findall(r"^  ([\d.]+) %", "\n".join(told), re.MULTILINE)]
    assert len(shares) == len(SINGLE.rounds[0].asks)
    assert sum(shares) == pytest.approx(100, abs=0.1 * len(shares))
    # e^1 to one are the odds: 73 % sure.
    assert any("at most 2.72 times as likely" in line and "at most 73.1 % sure" in line for line in told)


def test_times_are_not_sent_unless_they_are_asked() -> None:
    assert any("Points, times and names are not sent." in line for line in explain_asking(SINGLE, 0))
    timed = explain_asking(Plan.single_report(GRID, 1, time=True), 0)
    assert not any("times and names are not sent" in line for line in timed)
    assert any("exact times are not sent; hours and speeds are asked below" in line for line in timed)


def test_a_standing_plan_says_what_holds_for_a_trip_a_week_and_a_lifetime() -> None:
    week = SINGLE.changed(standing=Standing.of(604_800, epsilon=1), campaign=CampaignName("spring", "0" * 32))
    told = "\n".join(explain_asking(week, 0))
    for words in (
        "of the campaign spring",
        "asks again every 7 days",
        "arrived in the last 7 days, or about none",
        "Each trip enters at most one answer: epsilon 1.",
        "Any 7 days enter at most 2 answers: epsilon 2.",
        "lifetime of epsilon 10",
        "only the lifetime bounds what they reveal of it: somebody who was 50 % sure of it can be at most 100.0 % sure",
    ):
        assert words in told
    report = Reporter(week, "none").draw_about(NO_TRIP, 0, window=2900)
    assert "window 2900" in explain_report(week, report)[1]


def test_an_answered_plan_costs_nothing_more(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.json")
    Reporter(SINGLE, ledger).report([])
    assert explain_ledger(ledger, SINGLE, 0.0)[1].startswith("You have answered this plan")


def test_moments_beyond_calendars() -> None:
    assert moment_words(10**15) == f"Unix time {10**15}"


def test_a_plan_that_leaks_says_so() -> None:
    leaking = Plan.paper(GRID, 1.0, method="paper-unpadded").paper_second_round(4)
    assert any(line.startswith("NOT PRIVATE") for line in explain_asking(leaking, 1))
    assert not any("NOT PRIVATE" in line for line in explain_asking(SINGLE, 0))


def test_a_report_in_words_is_the_one_that_leaves() -> None:
    data = Reporter(SINGLE, "none").report([(0.5, 0.5), (3.5, 3.5)])
    told = explain_report(SINGLE, data)
    assert told[0] == f"The message, {len(data)} bytes: {data.hex()}"
    assert any(line.startswith("To the question about") for line in told)
    assert "nobody who reads the message can tell which" in told[-1]
