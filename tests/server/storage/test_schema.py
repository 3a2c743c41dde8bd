"""The tables hold what they say and nothing else: no report, no address, no time at which a report came."""

from __future__ import annotations

import re
import sqlite3

from ldptrace.server.storage.base import COLUMNS, OF_CAMPAIGN, OF_ROUND, statements

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
