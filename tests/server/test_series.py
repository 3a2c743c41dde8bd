"""Estimates over time, and that a change is marked where it happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.curator.facts import Facts
from ldptrace.device import Recording, Reporter
from ldptrace.device.track import occasion_among
from ldptrace.protocol.plan import Plan
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.registry import find
from ldptrace.server.series import series
from ldptrace.server.storage import open_database
from ldptrace.web.problems import ServerProblem
from server_kit import SINGLE, opened, refused

WEEK = 7 * 86_400
WEST, EAST = [(0.5, 0.5), (0.5, 5.5)], [(5.5, 0.5), (5.5, 5.5)]


def answers(plan: Plan, window: int, way: list[tuple[float, float]], count: int, trips: int) -> bytes:
    """Reports of people of whom every second has some trips, all the same way."""
    reporter = Reporter(plan, "none")
    occasions = [
        occasion_among([Recording(way)] * trips * (number % 2), plan.grid) for number in range(count)
    ]
    return b"".join(reporter.draw_about(occasion, 0, window=window) for occasion in occasions)


@pytest.mark.slow
def test_a_change_is_marked_in_its_window(tmp_path: Path) -> None:
    """At epsilon 8 nearly every answer is true, so that chance hardly matters: windows of 600 people."""
    database = open_database(tmp_path)
    plan = opened(
        database,
        "trips",
        Facts(600, "8", (0.0, 0.0, 6.0, 6.0), grid=4, every=WEEK, start=0).plan(),
        min_reports=100,
    )
    for window, way in ((3, WEST), (4, WEST), (5, EAST)):
        now = float((window + 1) * WEEK)
        body = answers(plan, window, way, 600, 2)
        Counter(database, lambda at=now: at).count("trips", [Submission(body)])  # type: ignore[misc]
    with database.reading() as session:
        campaign = find(session, "trips")
        found = series(session, campaign)
    assert [one["window"] for one in found["windows"]] == [3, 4, 5]
    assert found["windows"][0]["begin"] == 3 * WEEK
    lines = {line["name"]: line for line in found["lines"]}
    # Every second person has a trip, two of them: one trip for each person.
    for name, truth, slack in (("share with a trip", 0.5, 0.02), ("trips per person", 1.0, 0.05)):
        for value, error in lines[name]["points"]:
            assert abs(value - truth) < 6 * error + slack
        assert lines[name]["changes"] == []
    visits = [line for name, line in lines.items() if name.startswith("visits")]
    assert visits
    assert all(line["changes"] == [2] for line in visits)
    assert {change["window"] for change in found["changes"]} == {5}
    assert any("(question visits:" in change["text"] for change in found["changes"])
    # What was before the change is forgotten: the west is empty.
    assert [one["effective"] for one in found["windows"]] == pytest.approx([600, 1200, 600], rel=0.05)
    database.close_all()


def test_without_windows_there_is_nothing_over_time(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    opened(database, "trips", SINGLE)
    with database.reading() as session:
        refused(ServerProblem.WRONG_STATE, series, session, find(session, "trips"))
    database.close_all()
