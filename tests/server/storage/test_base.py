"""What any database does: connections of each thread, one version of the tables."""

from __future__ import annotations

import re
import sqlite3
import threading
from pathlib import Path

import pytest

from ldptrace.errors import InputError
from ldptrace.server import campaigns, registry
from ldptrace.server.storage import DEFAULT_FOLDER, Database, StorageUnavailable, open_database
from ldptrace.server.storage.base import COLUMNS, OF_CAMPAIGN, OF_ROUND, statements
from server_kit import SINGLE


def test_a_database_of_another_version_is_refused(address: str) -> None:
    database = open_database(url=address)
    with database.writing() as session:
        session.run("UPDATE meta SET value = '99' WHERE key = 'version'")
    database.close()
    with pytest.raises(StorageUnavailable, match="version 99"):
        open_database(url=address)


def test_each_thread_has_a_connection_of_its_own(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    here, there = database.connection(), list[object]()
    thread = threading.Thread(target=lambda: there.append(database.connection()))
    thread.start()
    thread.join()
    assert database.connection() is here
    assert there != [here]
    database.close()
    again = database.connection()
    assert again is not here
    database.close_all()
    assert database.connection() is not again
    database.close()


def test_a_session_finds_rows_and_tables(database: Database) -> None:
    with database.writing() as session:
        assert {("meta",), ("campaigns",)} <= set(session.rows(database.tables))
        assert session.row("SELECT value FROM meta WHERE key = ?", "no") is None
        assert session.run("INSERT INTO meta (key, value) VALUES (?, ?)", "a", "1") == 1
        session.insert_many("meta", ("key", "value"), [("b", "2")])
        session.insert("meta", value="3", key="c")
        assert session.rows("SELECT value FROM meta WHERE key IN ('a', 'b', 'c') ORDER BY key") == [
            ("1",),
            ("2",),
            ("3",),
        ]


def test_a_folder_by_either_option_or_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for options in ({"data": tmp_path / "a"}, {"url": str(tmp_path / "b")}, {}):
        open_database(**options).close_all()  # type: ignore[arg-type]
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", DEFAULT_FOLDER}


def test_what_was_written_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    first = open_database(tmp_path)
    campaigns.create(first, "trips", SINGLE, actor="test")
    first.close_all()
    with open_database(tmp_path).reading() as session:
        assert registry.find(session, "trips").plan.id == SINGLE.id


def test_one_place_only() -> None:
    with pytest.raises(InputError, match="not both"):
        open_database("folder", "postgresql://host/name")
    with pytest.raises(InputError, match="postgresql://user:password@host/name, got mysql://") as caught:
        open_database(url="mysql://me:secret@host")
    assert "secret" not in str(caught.value)


WORDS = {"integer": "INTEGER", "blob": "BLOB", "serial": "INTEGER PRIMARY KEY", "clustered": " WITHOUT ROWID"}


def columns() -> dict[str, list[str]]:
    """The columns of each table, as a database understands the statements."""
    with sqlite3.connect(":memory:") as connection:
        for statement in statements(**WORDS):
            connection.execute(statement)
        tables = [
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {
            table: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")] for table in tables
        }


def test_times_are_kept_of_operators_only() -> None:
    timed = {table for table, names in columns().items() if {"at", "created", "revoked"} & set(names)}
    assert timed == {"tokens", "audit"}


def test_of_reports_there_are_counts_and_ids() -> None:
    found = columns()
    assert {name: list(one) for name, one in COLUMNS.items()} == found
    assert found["tallies"] == ["round", "ask", "users", "counts"]
    assert found["ids"] == ["round", "id"]
    assert found["fresh"] == ["round", "number", "ids"]
    assert found["rejections"] == ["campaign", "problem", "reports"]


def test_everything_of_a_campaign_is_deleted_with_it() -> None:
    found = columns()
    # Tokens and ids have ways of their own, and what operators did stays.
    assert {table for table, names in found.items() if "campaign" in names} == {
        *OF_CAMPAIGN,
        "tokens",
        "audit",
    }
    assert {table for table, names in found.items() if "round" in names} == {*OF_ROUND, "ids", "campaigns"}


def test_words_of_another_database_are_filled_in() -> None:
    text = ";".join(statements(integer="BIGINT", blob="BYTEA", serial="BIGINT PRIMARY KEY", clustered=""))
    assert not re.search(r"[{}]|BLOB|INTEGER|ROWID", text)
