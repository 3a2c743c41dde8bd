"""What a device says of trips before it answers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ldptrace.device import Ledger, Recording, Reporter
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.standing import Standing

CITY = Plan.single_report(Grid((13.3, 52.4, 13.6, 52.6), 6), 1.0, crs="EPSG:4326")
METRES = Plan.single_report(Grid((0, 0, 20_000, 20_000), 6), 1.0)
TIMED = Plan.single_report(Grid((0, 0, 6, 6), 6), 1.0, time=True)
WALK = [(13.4, 52.5), (13.5, 52.5)]


def said(plan: Plan, trips: Any) -> str:
    return "\n".join(Reporter(plan, "none").check(trips))


@pytest.mark.parametrize(
    ("plan", "trips", "sentence"),
    [
        (CITY, WALK, "Trips: 1, with 2 points.\nThe answer is about this one trip."),
        (CITY, [WALK, WALK], "Trips: 2, with 4 points.\nThe answer is about one of 2 trips"),
        (CITY, [], "Trips: 0, with 0 points.\nThe answer says that there is no trip"),
        (CITY, None, "Trips: 0"),
        (CITY, [[], WALK], "Trips without points, which do not count: 1 of 2."),
        (CITY, [WALK * 3000], "Trips with more than 4096 points, of which 4096 are used: 1 of 1."),
        (CITY, [{"x": 13.4, "y": 52.5}], "is no number, which count as the lowest x or y of the bounds: 2 of 2."),
        (CITY, [(13.4, None), (13.4, 52.5)], "bounds: 1 of 2."),
        (CITY, [(13.4, 52.5), (13.7, 52.5)], "(13.3, 52.4) to (13.6, 52.6), which count for the nearest cell: 1 of 2."),
        (CITY, [(y, x) for x, y in WALK], "inside with x and y exchanged"),
        (CITY, [(2.3, 48.9)], "another area"),
        (CITY, [(389_000.0, 5_819_000.0)], "the bounds are in degrees, the points are not"),
        (METRES, [(-13.4, 52.5)], "look like degrees"),
        (METRES, [(-99_000, 52.5)], "another area"),
        (TIMED, [(1, 1), (2, 2)], "t is in local seconds): 1 of 1."),
        (TIMED, [(1, 1, 1.7e12), (2, 2, 1.7e12)], "Some times are so large that they seem to be milliseconds"),
        (TIMED, [(1, 1, 60), (2, 2, 30)], "end before they begin: 1 of 1."),
    ],
)  # fmt: skip
def test_sentences(plan: Plan, trips: Any, sentence: str) -> None:
    assert sentence in said(plan, trips)


def test_what_is_not_asked_is_not_missed() -> None:
    assert "time" not in said(CITY, WALK)
    assert "outside" not in said(CITY, WALK)


def test_a_check_draws_stores_and_spends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.json"
    week = CITY.changed(standing=Standing.of(604_800, epsilon=1))
    monkeypatch.setattr(os, "urandom", lambda count: pytest.fail("random bytes are drawn"))
    for plan in (CITY, week):
        Reporter(plan, Ledger(path)).check([WALK])
    assert not path.exists()


def test_what_the_ledger_makes_of_a_call(tmp_path: Path) -> None:
    reporter = Reporter(CITY, Ledger(tmp_path / "ledger.json"))
    assert "answered" not in "\n".join(reporter.check(WALK))
    reporter.report(WALK)
    assert "This round was answered: the device returns the same bytes" in "\n".join(reporter.check([]))
    reporter.sent()
    assert "the device refuses to answer it again" in "\n".join(reporter.check(WALK))


def test_which_trips_are_recent(tmp_path: Path) -> None:
    now, week = 1_780_300_800, 604_800
    plan = CITY.changed(standing=Standing.of(week, epsilon=1))
    reporter = Reporter(plan, Ledger(tmp_path / "ledger.json"))
    assert "was not accepted yet" in "\n".join(reporter.check(WALK, now=now))
    row = reporter.accept(now - 3 * week)
    end = plan.standing.end(plan.standing.latest(now, row.phase), row.phase) if plan.standing else 0
    trips = [Recording(WALK, end - 60.0), Recording(WALK, end + 60.0), WALK]
    lines = reporter.check(trips, now=now)
    assert (
        "Trips without an arrival (the Unix time at which the trip ended), which belong to no window: 1 of 3."
        in lines
    )
    assert "An answer is due now." in lines
    assert lines[-2].endswith(": 1 of 3.")
    assert lines[-1] == "The answer is about this one trip."
    reporter.report(trips, now=now)
    lines = reporter.check(trips, now=now)
    assert lines[-3].startswith("No answer is due before 2026-0")
    assert lines[-1] == "The last report was not sent: its bytes are returned again."
    assert "milliseconds" in "\n".join(reporter.check([Recording(WALK, 1000.0 * now)], now=now))
