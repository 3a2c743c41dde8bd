from __future__ import annotations

import math
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
from shuffled_kit import shuffled, weekly

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


def test_both_promises_and_both_sums_are_told(tmp_path: Path) -> None:
    plan, ledger = shuffled(Plan.single_report(GRID, 4.2)), Ledger(tmp_path / "ledger.json")
    central = float(plan.shuffled.epsilon)  # type: ignore[union-attr]
    told = "\n".join(explain_asking(plan, 0))
    assert f"one message of {report_bytes(plan.rounds[0]) + 81} bytes" in told
    assert "A club, https://club.example" in told
    assert f"costs at most epsilon {central:g} with delta 1e-08, as long as 90 %" in told
    assert "If they do, or if somebody fills a batch with forged reports, one answer still costs" in told
    odds = 100 / (1 + math.exp(-central))
    assert f"can be at most {odds:.1f} % sure after reading everything that the curator gets" in told
    assert "98.5 % sure if shuffler and curator work together" in told
    given = explain_ledger(ledger, plan, 0.0)
    assert given[1].endswith("Your limit for that case is 30, so 30 is left.")
    assert given[2] == (
        f"This plan costs epsilon {central:g} with delta 1e-08 (if the shuffler and the curator work together, 4.2), "
        "once."
    )
    assert "takes part" not in "\n".join(given)
    refusing = explain_ledger(Ledger(ledger.path, shuffled=False), plan, 0.0)
    assert "You take part in no shuffled plan" in refusing[2]
    careful = explain_ledger(Ledger(ledger.path, most_local=4), plan, 0.0)
    assert "you allow 4 for one answer, so it is not answered" in careful[2]


def test_the_total_of_a_standing_shuffled_plan_is_told_before_it_is_accepted(tmp_path: Path) -> None:
    plan = weekly(Plan.single_report(GRID, 4), answers=8)
    told = explain_ledger(Ledger(tmp_path / "ledger.json"), plan, 0.0)
    assert "all its answers could cost epsilon 32" in told[-2]
    assert told[-1].endswith("To agree, raise that limit to 32.")
    enough = Ledger(tmp_path / "ledger.json", local_limit=32)
    assert "all its answers could cost epsilon 32" in explain_ledger(enough, plan, 0.0)[-1]
    Reporter(plan, enough).accept(1.7e9)
    assert (
        "epsilon 32. Your limit for that case is 32, so 0 is left." in explain_ledger(enough, plan, 1.7e9)[1]
    )
    assert "All 8 answers of a device together: epsilon" in "\n".join(explain_asking(plan, 0))


def test_a_sealed_report_says_nothing_but_that_it_is_sealed() -> None:
    plan = shuffled(SINGLE)
    report = Reporter(plan, "none").report([(1, 1)])
    told = explain_report(plan, report)
    assert report.hex() in told[0]
    assert "only the curator can read" in told[1]
    assert len(told) == 2
