"""What is published: by two rounds, on streets, and nothing below the smallest number of reports."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from ldptrace.curator import Tally
from ldptrace.curator.estimates import PEOPLE
from ldptrace.curator.facts import Facts
from ldptrace.device import Ledger, Recording, Reporter
from ldptrace.device.track import occasion_among
from ldptrace.errors import InputError, LdptraceError
from ldptrace.io import read
from ldptrace.models import load_model
from ldptrace.products.sample import with_trip
from ldptrace.protocol.plan import Plan
from ldptrace.server import campaigns, releases, views
from ldptrace.server.campaigns import close_windows
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.registry import find
from ldptrace.server.releases import beating, main
from ldptrace.server.storage import Database, open_database, stored
from ldptrace.web.problems import Refused, ServerProblem
from server_kit import GRID, SINGLE, answered, opened, published, refused


def test_somebody_who_works_beats_until_the_work_is_done_even_if_the_database_is_away() -> None:
    beats, enough = [0], threading.Event()

    def beat() -> None:
        beats[0] += 1
        if beats[0] == 1:
            raise LdptraceError("the database is away")
        enough.set()

    with beating(beat, every=0.001):
        assert enough.wait(10)
    last = beats[0]
    assert last >= 2
    assert all(one.name != "beating" for one in threading.enumerate())


@pytest.mark.slow
def test_two_rounds(database: Database, tmp_path: Path) -> None:
    opened(database, "trips", Plan.paper(GRID, 4), min_reports=100)
    answered(database, "trips", 120)
    with pytest.raises(Refused, match="all rounds are closed"):
        releases.begin(database, "trips", actor="test")
    campaigns.open_round(database, "trips", actor="test")
    answered(database, "trips", 110)
    out = published(database, "trips", 50, tmp_path / "out")
    names = {path.name for path in out.iterdir()}
    assert {"plan-1.json", "plan-2.json", "tally-1.json", "tally-2.json"} <= names
    second = Plan.from_json((out / "plan-2.json").read_bytes())
    assert second.extends == Plan.from_json((out / "plan-1.json").read_bytes()).id
    assert load_model(out / "model.npz").kind == "markov"
    assert len(read(out / "synthetic.parquet")) == 50
    card = json.loads((out / "fit.json").read_text())
    assert (card["reports"], card["promise"]["epsilon"]) == (110, "4")


def test_nothing_is_published_below_the_smallest_number(database: Database) -> None:
    opened(database, "trips", SINGLE, min_reports=100)
    answered(database, "trips", 99)
    with pytest.raises(Refused, match="99 reports"):
        releases.begin(database, "trips", actor="test")
    with database.reading() as session:
        assert views.files_of(session, "trips") == []


@pytest.mark.slow
def test_every_window_has_a_release_of_its_own(database: Database, tmp_path: Path) -> None:
    week = 7 * 86_400
    plan = opened(
        database,
        "trips",
        Facts(500, "4", (0.0, 0.0, 6.0, 6.0), grid=4, every=week, start=0).plan(),
        min_reports=50,
    )
    ways = [Recording([(0.5, 0.5), (2.5, 3.5), (5.5, 3.0)], 5.0 * week - 60)]
    for window in (3, 4):
        reports = []
        for number in range(80):
            ledger = Ledger(tmp_path / f"{window}-{number}.json")
            reporter = Reporter(plan, ledger)
            reporter.accept(float(window * week))
            reports.append(
                reporter.draw_about(occasion_among(ways[: number % 2], plan.grid), 0, window=window)
            )
        Counter(database, lambda at=window: (at + 1.0) * week).count(  # type: ignore[misc]
            "trips", [Submission(b"".join(reports))]
        )
    refused(ServerProblem.WRONG_STATE, releases.begin, database, "trips", actor="test", number=0)
    refused(ServerProblem.NOT_FOUND, releases.begin, database, "trips", actor="test", number=9)
    closed = close_windows(database, "trips", 7.0 * week)
    assert closed == [0, 1]
    for number in closed:
        releases.begin(database, "trips", actor="test", number=number, count=20).make()
    with database.reading() as session:
        for number in (0, 1):
            files = {file["name"] for file in views.files_of(session, "trips", number)}
            assert {"README.md", "index.html", "model.npz", "synthetic.parquet", "tally-1.json"} <= files
            card = json.loads(releases.file_of(session, "trips", "fit.json", number))
            assert (card["reports"], card["window"]["window"], card["window"]["before"]) == (
                80,
                3 + number,
                number,
            )
            # How many had no trip, how many trips a person made, and that shares are of people.
            assert "of the devices had no trip" in card["people"][0]
            assert "trips per person" in card["people"][1]
            assert card["people"][-1] == PEOPLE
            # The profile is about the people of this window, not about all answers that the model remembers.
            profile = json.loads(releases.file_of(session, "trips", "profile.json", number))
            assert profile["privacy"]["users"] == 80
            assert profile["trips"] == pytest.approx(80 * with_trip(profile["privacy"]))
            over_time = json.loads(releases.file_of(session, "trips", "series.json", number))
            assert [one["window"] for one in over_time["windows"]] == [3, 4][: number + 1]
            assert "due from 1970-01-" in releases.file_of(session, "trips", "README.md", number).decode()
        assert views.files_of(session, "trips") == []
        tally = Tally.from_json(releases.file_of(session, "trips", "tally-1.json", 1))
        assert (tally.window, sum(tally.users)) == (4, 80)
        assert find(session, "trips").state == "open"


def begun(tmp_path: Path) -> tuple[Database, dict[str, Any]]:
    """A database with a campaign whose release was begun, and what its worker is asked."""
    database = open_database(tmp_path)
    opened(database, "trips", SINGLE, min_reports=5)
    answered(database, "trips", 20)
    attempt = releases.begin(database, "trips", actor="test", count=10)
    return database, vars(attempt) | {"database": database.url, "address": ""}


def test_the_worker_publishes(tmp_path: Path) -> None:
    database, asked = begun(tmp_path)
    assert main(asked) == 0
    with database.reading() as session:
        assert find(session, "trips").state == "published"
        assert "synthetic.parquet" in [file["name"] for file in views.files_of(session, "trips")]


@pytest.mark.parametrize(
    ("error", "told"),
    [(InputError("no streets here"), "no streets here"), (MemoryError("40 GB"), "MemoryError: 40 GB")],
)
def test_what_goes_wrong_in_the_worker_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def fails(self: releases.Attempt, address: str | None = None) -> None:
        raise error

    database, asked = begun(tmp_path)
    monkeypatch.setattr(releases.Attempt, "make", fails)
    assert main(asked) == 1
    with database.reading() as session:
        found = views.releases_of(session, "trips").get(stored(None))
    assert found is not None
    assert (found["state"], found["error"]) == ("failed", told)
