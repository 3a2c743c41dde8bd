"""A database that the version before wrote, with a campaign in every state, opened by this one."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import psycopg
import pytest

from ldptrace.device import Reporter
from ldptrace.device.track import occasion_among
from ldptrace.server import campaigns, registry, releases, tallies, tokens, views
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.releases import running_releases
from ldptrace.server.storage import Database, open_database
from ldptrace.server.storage.migrations import STEPS
from ldptrace.server.storage.schema import VERSION
from server_kit import COUNTED, DUPLICATE, POSTGRES_WORDS

DUMPS = Path(__file__).parent
TOKEN = "ldpt_eb605cd2_8e15e627ec1d66277bf167078814d95bf25b49455869a7868f9c7624e8ba9661"


def loaded(address: str, version: int) -> Database:
    """The database of a version before, of either kind."""
    dump = (DUMPS / f"version{version}.sql").read_text()
    if "://" not in address:
        folder = Path(address)
        folder.mkdir()
        with sqlite3.connect(folder / "campaigns.sqlite") as connection:
            connection.executescript(dump)
        connection.close()
        return open_database(folder)
    with sqlite3.connect(":memory:") as source:
        source.executescript(dump)
        made = source.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        indexes = source.execute(
            "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        ).fetchall()
        with psycopg.connect(address) as target:
            for table, sql in made:
                for ours, theirs in POSTGRES_WORDS.items():
                    sql = re.sub(ours, theirs, sql)
                target.execute(sql)
                rows = source.execute(f"SELECT * FROM {table}").fetchall()
                marks = ", ".join(["%s"] * len(rows[0])) if rows else ""
                for row in rows:
                    target.execute(f"INSERT INTO {table} OVERRIDING SYSTEM VALUE VALUES ({marks})", row)
            for (sql,) in indexes:
                target.execute(sql)
            for table, column in (("audit", "number"), ("rounds", "key")):
                target.execute(f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), 1000)")
    return open_database(url=address)


@pytest.fixture
def database(address: str) -> Database:
    return loaded(address, 1)


def test_a_standing_campaign_of_version_2_goes_on(address: str) -> None:
    database = loaded(address, 2)
    with database.reading() as session:
        weekly = registry.find(session, "weekly")
        found = [(part.window, part.state, part.reports) for part in tallies.counts_of(session, "weekly")]
        assert found == [(3, "closed", 6), (4, "closed", 6), (5, "open", 6)]
        assert [one["state"] for one in views.releases_of(session, "weekly")] == ["done", "running"]
        assert [one.count for one in running_releases(session)] == [0]
        # A release keeps the names that its files had when it was made.
        assert releases.file_of(session, "weekly", "scorecard.json", 0) == b"{}"
    # Its open window counts on, and knows the reports that it has.
    report = Reporter(weekly.plan).draw_about(occasion_among([], weekly.plan.grid), 0, window=5)
    for expected in (COUNTED, DUPLICATE):
        [codes] = Counter(database, lambda: 6.0 * 7 * 86_400).count("weekly", [Submission(report)])
        assert codes.tolist() == [expected]
    database.close()


def test_there_is_a_step_from_every_version() -> None:
    assert len(STEPS) == VERSION - 1


def test_a_database_of_version_1(database: Database) -> None:
    with database.reading() as session:
        found = {one.name: one for one in registry.all_campaigns(session)}
        assert {name: one.state for name, one in found.items()} == {
            "draft": "draft",
            # Devices of the draft of the protocol cannot be counted any more.
            "open": "closed",
            "closed": "closed",
            "published": "published",
            "rounds": "closed",
        }
        reports = {name: [part.reports for part in tallies.counts_of(session, name)] for name in found}
        assert reports == {"draft": [], "open": [8], "closed": [8], "published": [8], "rounds": [8, 6]}
        assert session.rows("SELECT * FROM fresh") == []
        # The id under which a plan was published stays; one that nobody has seen is a plan of its own.
        ids = {name: one.plan_id for name, one in found.items()}
        assert ids["open"] == ids["closed"] == ids["published"]
        assert f"plan {ids['open']}" in [entry["detail"] for entry in registry.audit_log(session, "open")]
        assert ids["draft"] == found["draft"].plan.id != ids["open"]
        assert tokens.holder(session, TOKEN).label == "control room"
        assert [file["name"] for file in views.files_of(session, "published")] == [
            "plan-1.json",
            "scorecard.json",
        ]
        assert b'"fit"' in releases.file_of(session, "published", "scorecard.json")
        assert views.release_state(session, "published") == {
            "state": "done",
            "stage": "done",
            "percent": 100,
            "error": "",
        }
        last = [entry["actor"] for entry in registry.audit_log(session)][-2:]
        assert last == ["upgrade", "upgrade"]
    campaigns.open_round(database, "draft", actor="test")
    database.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["open", "closed", "rounds"])
def test_what_was_collected_can_be_published(database: Database, name: str) -> None:
    releases.Attempt(database, name, releases.begin(database, name, actor="test")).make(3)
    with database.reading() as session:
        assert registry.find(session, name).state == "published"
    database.close()


def test_opening_again_changes_nothing(database: Database) -> None:
    with database.reading() as session:
        before = session.rows("SELECT id, text FROM plans ORDER BY id")
    again = open_database(url=database.url)
    with again.reading() as session:
        assert session.rows("SELECT id, text FROM plans ORDER BY id") == before
        assert session.rows("SELECT value FROM meta WHERE key = 'version'") == [(str(VERSION),)]
    database.close()
    again.close()
