"""Windows of standing plans: reports are counted for the one they name, and only in its time. Tallies of rounds."""

from __future__ import annotations

import pytest

from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import Problem
from ldptrace.protocol.standing import Standing
from ldptrace.server import campaigns
from ldptrace.server.counting import Counter
from ldptrace.server.registry import find
from ldptrace.server.rounds import CountedPlan, estimates_of, rejections_of, rounds_of, tallies_of
from ldptrace.server.storage import Database
from ldptrace.web.problems import Refused, ServerProblem
from server_kit import COUNTED, DUPLICATE, TELLING, codes, opened, telling_report

WEEK, DAY = 7 * 86_400, 86_400
WEEKLY = TELLING.changed(standing=Standing.of(WEEK, epsilon=1, start=10 * WEEK))
WRONG_WINDOW = Problem.WRONG_WINDOW.number


class Clock:
    """A clock that shows what it is set to."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("now", "counted"),
    [
        (15 * WEEK - DAY - 1, {3, 4}),
        (15 * WEEK - DAY, {3, 4, 5}),
        (15 * WEEK + DAY - 1, {3, 4, 5}),
        (15 * WEEK + DAY, {4, 5}),
        (10 * WEEK - DAY - 1, set()),
    ],
)
def test_a_window_is_counted_in_its_time(now: float, counted: set[int]) -> None:
    plan = CountedPlan(WEEKLY, None)
    assert {window for window in range(12) if plan.is_counted(window, now)} == counted
    # A plan that was replaced begins no further window.
    ended = CountedPlan(WEEKLY, 14 * WEEK + 1)
    assert {window for window in range(12) if ended.is_counted(window, now)} == counted - {5}


def test_reports_are_sorted_without_looking_at_whole_plans(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, hashed = opened(database, "trips", WEEKLY), []
    monkeypatch.setattr(Plan, "__hash__", lambda self: hashed.append(self) or id(self))
    body = b"".join(telling_report(value, plan, 4) for value in range(500))
    assert codes(Counter(database, Clock(15 * WEEK)), "trips", body, bytes(len(body))) == [
        [COUNTED] * 500,
        [Problem.UNKNOWN_VERSION.number] * 500,
    ]
    assert len(hashed) < 100


def test_reports_are_counted_for_the_window_they_name(database: Database) -> None:
    plan = opened(database, "trips", WEEKLY)
    clock = Clock(15 * WEEK)
    counter = Counter(database, clock)
    first, second = telling_report(1, plan, 4), telling_report(2, plan, 5)
    late, early = telling_report(3, plan, 2), telling_report(3, plan, 9)
    assert codes(counter, "trips", first + second + late + early + first) == [
        [COUNTED, COUNTED, WRONG_WINDOW, WRONG_WINDOW, DUPLICATE]
    ]
    # Bytes that are no report of this plan have the problem that comes first.
    other = telling_report(1, TELLING, 4)
    assert codes(counter, "trips", other, b"\x02" + first[1:], b"", first[:20]) == [
        [Problem.WRONG_PLAN.number],
        [Problem.UNKNOWN_VERSION.number],
        [Problem.WRONG_SIZE.number],
        [Problem.WRONG_SIZE.number],
    ]
    # A wrong window comes before a wrong payload.
    assert codes(counter, "trips", late[:-2] + b"\xff\xff") == [[WRONG_WINDOW]]
    with database.reading() as session:
        found = rounds_of(session, "trips")
        assert [(entry.window, entry.reports) for entry in found] == [(4, 1), (5, 1)]
    # Another process finds the same rows.
    assert codes(Counter(database, clock), "trips", first, telling_report(4, plan, 5)) == [
        [DUPLICATE],
        [COUNTED],
    ]


def test_a_window_that_was_closed_takes_nothing_more(database: Database) -> None:
    plan = opened(database, "trips", WEEKLY)
    clock = Clock(15 * WEEK)
    counter, report = Counter(database, clock), telling_report(1, plan, 4)
    codes(counter, "trips", report)
    clock.now = 16 * WEEK + DAY
    assert campaigns.close_windows(database, "trips", clock.now) == [0]
    # By a clock that is behind, too: its ids are gone, so nothing of it may be counted again.
    clock.now = 15 * WEEK
    assert codes(counter, "trips", report, telling_report(2, plan, 4)) == [[WRONG_WINDOW], [WRONG_WINDOW]]
    with database.reading() as session:
        assert session.rows("SELECT * FROM fresh") == session.rows("SELECT * FROM ids") == []


def test_a_campaign_says_how_many_windows_have_reports(database: Database) -> None:
    plan = opened(database, "trips", WEEKLY)
    for number, window in enumerate((3, 4), 1):
        body = telling_report(number, plan, window)
        assert codes(Counter(database, Clock(14 * WEEK)), "trips", body, b"\0")[0] == [COUNTED]
        with database.reading() as session:
            assert find(session, "trips").round == number


def test_nothing_but_counts_below_the_smallest_number(database: Database) -> None:
    opened(database, "trips", TELLING, min_reports=3)
    counter = Counter(database)
    codes(counter, "trips", telling_report(1), telling_report(2), b"no report")
    with database.reading() as session:
        assert [entry.reports for entry in rounds_of(session, "trips")] == [2]
        assert rejections_of(session, "trips") == {"unknown-version": 1}
        with pytest.raises(Refused, match="has 2 reports; below 3") as refused:
            tallies_of(session, find(session, "trips"))
        assert refused.value.problem is ServerProblem.NOT_ENOUGH_REPORTS
    codes(counter, "trips", telling_report(1))
    with database.reading() as session:
        [(plan, tally)] = tallies_of(session, find(session, "trips"), whole=True)
    assert tally.counts[0][:4].tolist() == [0, 2, 1, 0]
    assert estimates_of([(plan, tally)])["length"].users == 3
