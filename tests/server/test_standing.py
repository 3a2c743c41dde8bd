"""The life of a standing campaign, and what the server does by itself, by a clock that the test sets."""

from __future__ import annotations

import pytest

from ldptrace.errors import InputError
from ldptrace.protocol.problems import Problem
from ldptrace.protocol.standing import Standing
from ldptrace.server import campaigns, registry, releases, rounds
from ldptrace.server.counting import Counter
from ldptrace.server.releases import DueRelease
from ldptrace.server.storage import Database
from ldptrace.web.problems import ServerProblem
from server_kit import COUNTED, SINGLE, TELLING, codes, drawn, opened, refused, telling_report, terms

WEEK, DAY = 7 * 86_400, 86_400
WEEKLY = TELLING.changed(standing=Standing.of(WEEK, epsilon=1, start=10 * WEEK))
DAILY = TELLING.changed(standing=Standing.of(DAY, epsilon=1, start=10 * WEEK))
FROM_START = TELLING.changed(standing=Standing.of(WEEK, epsilon=1, start=0))
WRONG_WINDOW = Problem.WRONG_WINDOW.number


def test_a_plan_that_was_replaced_runs_out(database: Database) -> None:
    old = opened(database, "trips", WEEKLY)
    now = 15.0 * WEEK + 5
    counter = Counter(database, lambda: now)
    assert codes(counter, "trips", telling_report(1, old, 4)) == [[COUNTED]]
    changed = campaigns.change_plan(database, "trips", DAILY, actor="test", now=now)
    new = changed.plan
    assert new.campaign == old.campaign
    assert new.id != old.id
    # Windows of the old plan that have begun are counted beside those of the new one, window 6 never.
    days = 5 * 7 - 1
    sent = (telling_report(2, old, 4), telling_report(3, old, 5), telling_report(4, new, days))
    assert codes(counter, "trips", *sent) == [[COUNTED]] * 3
    now = 16.0 * WEEK
    assert codes(counter, "trips", telling_report(5, old, 6), telling_report(5, old, 5)) == [
        [WRONG_WINDOW],
        [COUNTED],
    ]
    with database.reading() as session:
        found = [(entry.plan.id, entry.window, entry.reports) for entry in rounds.rounds_of(session, "trips")]
    assert found == [(old.id, 4, 2), (old.id, 5, 2), (new.id, days, 1)]
    with pytest.raises(InputError, match="has had this plan already"):
        campaigns.change_plan(database, "trips", WEEKLY, actor="test", now=now)
    with pytest.raises(InputError, match="a standing plan"):
        campaigns.change_plan(database, "trips", TELLING, actor="test", now=now)


def test_a_campaign_that_ends_is_closed_when_its_windows_are_over(database: Database) -> None:
    plan = opened(database, "trips", WEEKLY)
    now = 15.0 * WEEK
    counter = Counter(database, lambda: now)
    codes(counter, "trips", telling_report(1, plan, 4))
    assert campaigns.close(database, "trips", actor="test", now=now).terms.until == now
    # Window 5 begins at this very moment: it is not begun any more.
    assert codes(counter, "trips", telling_report(2, plan, 5)) == [[WRONG_WINDOW]]
    for now, state in ((16 * WEEK + DAY - 1, "open"), (16 * WEEK + DAY, "closed")):
        campaigns.tick(database, now)
        with database.reading() as session:
            assert registry.find(session, "trips").state == state
    refused(ServerProblem.WRONG_STATE, campaigns.close, database, "trips", actor="test", now=now)
    refused(ServerProblem.WRONG_STATE, campaigns.open_round, database, "trips", actor="test")


def test_campaigns_that_are_not_standing_do_not_change(database: Database) -> None:
    opened(database, "trips", TELLING)
    refused(
        ServerProblem.WRONG_STATE, campaigns.change_plan, database, "trips", WEEKLY, actor="test", now=0.0
    )
    assert campaigns.close(database, "trips", actor="test", now=0.0).state == "closed"


def state(database: Database) -> str:
    with database.reading() as session:
        return registry.find(session, "trips").state


def test_a_campaign_opens_and_closes_at_its_times(database: Database) -> None:
    campaigns.create(database, "trips", SINGLE, terms(opens=100, until=200, min_reports=3), actor="test")
    for now, wanted in ((99, "draft"), (100, "open"), (199, "open")):
        assert campaigns.tick(database, now) == []
        assert state(database) == wanted
    codes(Counter(database), "trips", *drawn(SINGLE, 3))
    assert campaigns.tick(database, 200) == [DueRelease("trips", None)]
    assert state(database) == "closed"
    with database.reading() as session:
        actors = [(entry["actor"], entry["action"]) for entry in registry.audit_log(session, "trips")]
    assert actors == [("test", "create"), ("schedule", "open"), ("schedule", "close")]
    releases.begin(database, "trips", actor="test")
    assert campaigns.tick(database, 201) == []


def test_a_campaign_whose_time_is_over_is_not_opened(database: Database) -> None:
    campaigns.create(database, "trips", SINGLE, terms(opens=100, until=200), actor="test")
    campaigns.tick(database, 300)
    assert state(database) == "draft"


def test_every_window_with_enough_reports_is_released_once(database: Database) -> None:
    plan = opened(database, "trips", FROM_START, min_reports=2)
    now = 5.0 * WEEK
    counter = Counter(database, lambda: now)
    for window, reports in ((3, 2), (4, 1), (5, 3)):
        codes(counter, "trips", *(telling_report(value, plan, window) for value in range(reports)))
    assert campaigns.tick(database, now) == []
    # Window 3 is over a day after the end of week 5, window 4 a week later; it has too few.
    assert campaigns.tick(database, 5 * WEEK + DAY) == [DueRelease("trips", 0)]
    assert campaigns.tick(database, 7 * WEEK + DAY) == [DueRelease("trips", 0), DueRelease("trips", 2)]
    attempt = releases.begin(database, "trips", actor="test", number=0)
    assert campaigns.due_releases(database) == [DueRelease("trips", 2)]
    # One that failed is due again.
    attempt.fail("no room")
    assert campaigns.due_releases(database) == [DueRelease("trips", 0), DueRelease("trips", 2)]
    assert state(database) == "open"
