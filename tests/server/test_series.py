"""Estimates over time, and that a change is marked where it happened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ldptrace.core.paths import CellPaths
from ldptrace.curator import Tally
from ldptrace.curator.facts import Facts
from ldptrace.curator.memory import Memory
from ldptrace.device import Recording, Reporter
from ldptrace.device.track import occasion_among
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.registry import find
from ldptrace.server.series import Recollection, series
from ldptrace.server.storage import open_database
from ldptrace.simulation import collect
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
    assert any("visits has changed since" in change["text"] for change in found["changes"])
    # What was before the change is forgotten: the west is empty.
    assert [one["effective"] for one in found["windows"]] == pytest.approx([600, 1200, 600], rel=0.05)
    database.close_all()


def test_without_windows_there_is_nothing_over_time(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    opened(database, "trips", SINGLE)
    with database.reading() as session:
        refused(ServerProblem.WRONG_STATE, series, session, find(session, "trips"))
    database.close_all()


BOX = (0.0, 0.0, 3.0, 3.0)


def weekly(epsilon: str) -> Plan:
    return Facts(1000, epsilon, BOX, grid=3, every=WEEK, start=0).plan()


def window(plan: Plan, number: int, rng: np.random.Generator, cell: int = 4) -> tuple[Plan, Tally]:
    users = 3000
    cells = np.where(rng.random(users) < 0.9, cell, rng.integers(0, 9, users)).astype(np.int32)
    tally = collect(plan, CellPaths(cells, np.arange(users + 1), Grid(BOX, 3)), rng)
    return plan, Tally(tally.plan_id, 0, tally.counts, tally.reports, tally.users, number)


def effective(found: Sequence[tuple[Plan, Tally]]) -> list[float]:
    return [one.effective for one in Recollection().windows(found)]


def test_steady_windows_are_added_up_in_the_order_of_their_times(rng: np.random.Generator) -> None:
    plan = weekly("1")
    windows = [window(plan, number, rng) for number in (7, 5, 6)]
    found = Recollection().windows(windows)
    assert [one.tally.window for one in found] == [5, 6, 7]
    assert [one.begin for one in found] == [5 * WEEK, 6 * WEEK, 7 * WEEK]
    # Weights are shares of devices with a trip, all nearly one.
    assert [one.effective for one in found] == pytest.approx([3000, 6000, 9000], rel=0.02)
    assert found[-1].half_life == "forever"
    own, now = found[-1].own["visits"], found[-1].now["visits"]
    assert (now.std_errors < 0.7 * own.std_errors).all()


def test_a_change_is_named_and_what_was_before_it_is_forgotten(rng: np.random.Generator) -> None:
    plan = weekly("2")
    found = Recollection().windows([window(plan, 5, rng), window(plan, 6, rng), window(plan, 7, rng, cell=0)])
    assert found[1].changes == ()
    assert "visits" in {change.question for change in found[2].changes}
    assert {change.since for change in found[2].changes} == {7.0 * WEEK}
    assert found[2].effective == pytest.approx(3000, rel=0.02)


def test_what_was_recalled_is_gone_on_from(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = weekly("1")
    windows = [window(plan, number, rng) for number in range(9)]
    more = plan, windows[8][1] + window(plan, 8, rng)[1]
    added: list[int | None] = []
    add = Memory.add

    def counted(self: Memory, tally: Tally, *rest: float) -> object:
        added.append(tally.window)
        return add(self, tally, *rest)

    monkeypatch.setattr(Memory, "add", counted)
    recollection = Recollection()
    recollection.windows(windows)
    assert added == list(range(9))
    # Only the last window has new reports; then an old one is not what it was.
    for changed, again in (([*windows[:8], more], [8]), ([windows[1], *windows[1:]], list(range(9)))):
        added.clear()
        found = recollection.windows(changed)
        assert len(added) == len(again)
        fresh = Recollection().windows(changed)
        assert [one.effective for one in found] == [one.effective for one in fresh]
        assert np.array_equal(found[-1].now["visits"].frequencies, fresh[-1].now["visits"].frequencies)


def test_another_plan_begins_anew(rng: np.random.Generator) -> None:
    old, new = weekly("1"), weekly("2")
    assert effective([window(old, 5, rng), window(new, 6, rng), window(new, 7, rng)]) == pytest.approx(
        [3000, 3000, 6000], rel=0.02
    )
