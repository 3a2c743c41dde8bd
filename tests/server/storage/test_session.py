from __future__ import annotations

from ldptrace.server.storage import Database


def test_a_session_finds_rows_and_tables(database: Database) -> None:
    with database.writing() as session:
        assert session.has_table("meta")
        assert not session.has_table("nothing")
        assert session.row("SELECT value FROM meta WHERE key = ?", "no") is None
        assert session.run("INSERT INTO meta (key, value) VALUES (?, ?)", "a", "1") == 1
        session.run_many("INSERT INTO meta (key, value) VALUES (?, ?)", [("b", "2"), ("c", "3")])
        assert session.rows("SELECT value FROM meta WHERE key IN ('a', 'b', 'c') ORDER BY key") == [
            ("1",),
            ("2",),
            ("3",),
        ]
