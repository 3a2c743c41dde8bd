"""What the server does by itself, by a clock that the test sets."""

from __future__ import annotations

from ldptrace.protocol.standing import Standing
from ldptrace.server import campaigns, registry, releases, schedule
from ldptrace.server.counting import Counter
from ldptrace.server.schedule import DueRelease
from ldptrace.server.storage import Database
from server_kit import SINGLE, TELLING, codes, drawn, opened, telling_report, terms

WEEK, DAY = 7 * 86_400, 86_400
WEEKLY = TELLING.changed(standing=Standing.of(WEEK, epsilon=1, start=0))


def state(database: Database) -> str:
    with database.reading() as session:
        return registry.find(session, "trips").state


def test_a_campaign_opens_and_closes_at_its_times(database: Database) -> None:
    campaigns.create(database, "trips", SINGLE, terms(opens=100, until=200, min_reports=3), actor="test")
    for now, wanted in ((99, "draft"), (100, "open"), (199, "open")):
        assert schedule.tick(database, now) == []
        assert state(database) == wanted
    codes(Counter(database), "trips", *drawn(SINGLE, 3))
    assert schedule.tick(database, 200) == [DueRelease("trips", None)]
    assert state(database) == "closed"
    with database.reading() as session:
        actors = [(entry["actor"], entry["action"]) for entry in registry.audit_log(session, "trips")]
    assert actors == [("test", "create"), ("schedule", "open"), ("schedule", "close")]
    releases.begin(database, "trips", actor="test")
    assert schedule.tick(database, 201) == []


def test_a_campaign_whose_time_is_over_is_not_opened(database: Database) -> None:
    campaigns.create(database, "trips", SINGLE, terms(opens=100, until=200), actor="test")
    schedule.tick(database, 300)
    assert state(database) == "draft"


def test_every_window_with_enough_reports_is_released_once(database: Database) -> None:
    plan = opened(database, "trips", WEEKLY, min_reports=2)
    now = 5.0 * WEEK
    counter = Counter(database, lambda: now)
    for window, reports in ((3, 2), (4, 1), (5, 3)):
        codes(counter, "trips", *(telling_report(value, plan, window) for value in range(reports)))
    assert schedule.tick(database, now) == []
    # Window 3 is over a day after the end of week 5, window 4 a week later; it has too few.
    assert schedule.tick(database, 5 * WEEK + DAY) == [DueRelease("trips", 0)]
    assert schedule.tick(database, 7 * WEEK + DAY) == [DueRelease("trips", 0), DueRelease("trips", 2)]
    attempt = releases.Attempt(
        database, "trips", releases.begin(database, "trips", actor="test", number=0), 0
    )
    assert schedule.due_releases(database) == [DueRelease("trips", 2)]
    # One that failed is due again.
    attempt.fail("no room")
    assert schedule.due_releases(database) == [DueRelease("trips", 0), DueRelease("trips", 2)]
    assert state(database) == "open"
