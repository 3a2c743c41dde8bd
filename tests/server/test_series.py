"""Estimates over time, and that a change is marked where it happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.curator import Estimates
from ldptrace.device import Recording, Reporter
from ldptrace.device.track import occasion_among
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.standing import Standing
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.planning import plan_from_facts
from ldptrace.server.registry import find
from ldptrace.server.series import changes, differs, series, trips_each, with_trip
from ldptrace.server.storage import open_database
from ldptrace.server.tallies import tallies_of
from server_kit import opened

WEEK = 7 * 86_400
WEST, EAST = [(0.5, 0.5), (0.5, 5.5)], [(5.5, 0.5), (5.5, 5.5)]


def answers(plan: Plan, window: int, way: list[tuple[float, float]], count: int, trips: int) -> bytes:
    """Reports of people of whom every second has some trips, all the same way."""
    reporter = Reporter(plan)
    occasions = [
        occasion_among([Recording(way)] * trips * (number % 2), plan.grid) for number in range(count)
    ]
    return b"".join(reporter.draw_about(occasion, 0, window=window) for occasion in occasions)


@pytest.mark.slow
def test_a_change_is_marked_in_its_window(tmp_path: Path) -> None:
    """At epsilon 8 nearly every answer is true, so that chance hardly matters: windows of 600 people."""
    database = open_database(tmp_path)
    standing = Standing.of(WEEK, epsilon=8, start=0)
    plan = opened(
        database,
        "trips",
        plan_from_facts(600, "8", 4, (0.0, 0.0, 6.0, 6.0), standing=standing),
        min_reports=100,
    )
    for window, way in ((3, WEST), (4, WEST), (5, EAST)):
        now = float((window + 1) * WEEK)
        body = answers(plan, window, way, 600, 2)
        Counter(database, lambda at=now: at).count("trips", [Submission(body)])  # type: ignore[misc]
    with database.reading() as session:
        campaign = find(session, "trips")
        found = series(session, campaign)
        estimates = [Estimates.from_tally(*one) for one in tallies_of(session, campaign)]
    assert [one["window"] for one in found["windows"]] == [3, 4, 5]
    assert found["windows"][0]["begin"] == 3 * WEEK
    lines = {line["name"]: line for line in found["lines"]}
    assert 2 in found["changed"]
    # Every second person has a trip, two of them: one trip for each person.
    for one in estimates:
        share, error = with_trip(one) or (0.0, 0.0)
        assert abs(share - 0.5) < 6 * error + 0.02
        each, error = trips_each(one) or (0.0, 0.0)
        assert abs(each - 1.0) < 6 * error + 0.05
    east = [line for name, line in lines.items() if name.startswith("visits")]
    assert east
    assert all(2 in line["changes"] for line in east)
    assert not differs(estimates[0], estimates[0])
    assert differs(estimates[1], estimates[2])
    database.close_all()


def test_what_was_not_asked_has_no_line() -> None:
    assert changes([None, (1.0, 0.1), None, (9.0, 0.1)]) == []
    assert changes([(1.0, 0.1), (1.4, 0.1), (2.5, 0.1)]) == [2]
