"""SQLite in a folder: kept on the disk, read by its owner only."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ldptrace.server import seen
from ldptrace.server.storage import StorageUnavailable, open_database


def test_a_commit_is_on_the_disk(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    with database.reading() as session:
        assert session.rows("PRAGMA synchronous") == [(2,)]
        assert session.rows("PRAGMA journal_mode") == [("wal",)]
        assert session.rows("PRAGMA secure_delete") == [(1,)]
    assert (tmp_path / "campaigns.sqlite").stat().st_mode & 0o077 == 0
    database.close()


def test_a_file_of_no_bytes_is_no_new_database(tmp_path: Path) -> None:
    (tmp_path / "campaigns.sqlite").touch()
    with pytest.raises(StorageUnavailable, match=r"campaigns.sqlite is empty.*put a backup in its place"):
        open_database(tmp_path)
    assert (tmp_path / "campaigns.sqlite").stat().st_size == 0


@pytest.mark.parametrize(
    ("version", "campaigns"),
    [(None, False), (None, True), ("1.2.3", False), ("1.2.3", True), ("3", False)],
)
def test_a_database_of_another_program_is_left_alone(
    tmp_path: Path, version: str | None, campaigns: bool
) -> None:
    """Other programs have a table `meta` too, and may have campaigns."""
    with contextlib.closing(sqlite3.connect(tmp_path / "campaigns.sqlite")) as other:
        other.execute("CREATE TABLE meta (key TEXT, value TEXT)")
        if campaigns:
            other.execute("CREATE TABLE campaigns (title TEXT)")
        if version is not None:
            other.execute("INSERT INTO meta VALUES ('version', ?)", (version,))
        other.commit()
    with pytest.raises(StorageUnavailable, match="it is of another program"):
        open_database(tmp_path)


def test_several_who_begin_at_once_make_one_database(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for made in list(pool.map(lambda _: open_database(tmp_path), range(8))):
            made.close_all()
    assert [path.name for path in tmp_path.iterdir()] == ["campaigns.sqlite"]


def test_a_database_that_cannot_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr("ldptrace.server.storage.sqlite.SqliteDatabase.prepare", full)
    with pytest.raises(OSError, match="no room"):
        open_database(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_ids_that_were_erased_are_nowhere_in_the_files(tmp_path: Path) -> None:
    """Read byte by byte: freed pages are overwritten, and the write-ahead log is emptied."""
    ids = sorted(os.urandom(16) for _ in range(600))
    database = open_database(tmp_path)
    with database.writing() as session:
        seen.settle(session, 1, ids)
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert all(one in files for one in ids)
    seen.erase(database, [(1, len(ids))])
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert not any(one in files for one in ids)
    database.close()
