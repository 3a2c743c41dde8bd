"""A standing fleet on a quick clock, with a server that is killed: every answer is counted once, in its window."""

from __future__ import annotations

import asyncio
import threading
import time
from fractions import Fraction
from pathlib import Path

import pytest

from ldptrace.curator.facts import Facts
from ldptrace.errors import InputError
from ldptrace.server import rounds
from ldptrace.server.fleet import Faults, Fleet, city_trips
from ldptrace.server.standing_fleet import run_standing_fleet
from ldptrace.server.storage import open_database
from ldptrace.web.limits import trial_clock
from server_kit import SINGLE, opened, running

pytestmark = pytest.mark.slow

WEEK = 7 * 86_400


def test_three_weeks_with_a_server_that_is_killed(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    # A device may give two answers. A week takes six seconds: a killed server is back before its reports are too late.
    plan = opened(
        database, "trips", Facts(200, "1", (0.0, 0.0, 6.0, 6.0), grid=4, every=WEEK, lifetime=2).plan()
    )
    assert "trips" in [ask.question.name for ask in plan.rounds[0].asks]
    text = f"2027-03-01,{WEEK / 6},{time.time()}"
    clock = trial_clock(text)
    with running("--data", str(tmp_path), "--trial-clock", text) as server:
        fleet = Fleet(server.url, "trips", Faults(duplicates=0.1, drops=0.1, garbage=0.1), 1, 60.0)

        def kill() -> None:
            time.sleep(7.5)
            server.kill()
            server.start()

        trouble = threading.Thread(target=kill)
        trouble.start()
        outcome = asyncio.run(run_standing_fleet(fleet, city_trips(100, 1), 200, 3, clock))
        trouble.join()
    with database.reading() as session:
        counted = {entry.window: entry.reports for entry in rounds.rounds_of(session, "trips")}
    assert outcome.complete, (outcome.refused, outcome.events)
    assert counted == dict(outcome.windows)
    # Everybody has given two answers, and asked for a third they gave none.
    assert outcome.acknowledged == outcome.due == 400
    assert outcome.most_given == Fraction(2)
    assert outcome.events["plan-lifetime"] > 0
    database.close_all()


def test_a_campaign_that_is_not_standing(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    opened(database, "trips", SINGLE)
    with running("--data", str(tmp_path)) as server:
        fleet = Fleet(server.url, "trips", Faults(), 1, 5.0)
        with pytest.raises(InputError, match="not standing"):
            asyncio.run(run_standing_fleet(fleet, city_trips(3, 1), 1, 1, time.time))
    database.close_all()
