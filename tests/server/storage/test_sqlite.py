"""SQLite in a folder: kept on the disk, read by its owner only."""

from __future__ import annotations

from pathlib import Path

from ldptrace.server.storage import open_database


def test_a_commit_is_on_the_disk(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    with database.reading() as session:
        assert session.rows("PRAGMA synchronous") == [(2,)]
        assert session.rows("PRAGMA journal_mode") == [("wal",)]
        assert session.rows("PRAGMA secure_delete") == [(1,)]
    assert (tmp_path / "campaigns.sqlite").stat().st_mode & 0o077 == 0
    database.close()
