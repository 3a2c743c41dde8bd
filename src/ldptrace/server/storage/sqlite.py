"""SQLite in a folder, which needs no configuration. It uses a write-ahead log, writes every commit to disk before it is
acknowledged, and overwrites freed pages with zeros.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import ClassVar

from ldptrace.core.atomic import make_folder
from ldptrace.server.storage.base import Database, Session
from ldptrace.web.problems import StorageUnavailable

FILE = "campaigns.sqlite"
# Seconds that a transaction waits for another process to finish its own.
PATIENCE = 20.0
# Pages of the write-ahead log after which it is emptied, even if somebody has to wait for it.
LOG_PAGES = 1 << 14
# Parameters in one statement; SQLite allows 32,766.
MANY = 2_000


class SqliteSession(Session):
    def known_ids(self, round_key: int, ids: Sequence[bytes]) -> list[bytes]:
        known: list[bytes] = []
        for start in range(0, len(ids), MANY):
            part = ids[start : start + MANY]
            marks = ",".join("?" * len(part))
            rows = self.rows(f"SELECT id FROM ids WHERE round = ? AND id IN ({marks})", round_key, *part)
            known += [one for (one,) in rows]
        return known


class SqliteDatabase(Database):
    """The database file in the folder `data`, made if it is missing and readable by its owner only."""

    words: ClassVar[dict[str, str]] = {
        "integer": "INTEGER",
        "blob": "BLOB",
        "serial": "INTEGER PRIMARY KEY",
        "clustered": " WITHOUT ROWID",
    }
    tables: ClassVar[str] = "SELECT name FROM sqlite_master WHERE type = 'table'"

    def __init__(self, data: str | os.PathLike[str]) -> None:
        folder = Path(data)
        make_folder(folder, 0o700)
        super().__init__(str(folder))
        self.path = folder / FILE
        self._logged = 0
        if not self.path.exists():
            self._make()
        elif self.path.stat().st_size == 0:
            raise StorageUnavailable(
                f"the database {self.path} is empty, as after a failed copy: put a backup in its place, or delete it "
                "to begin anew"
            )
        self._may_make = False
        self.prepare()

    def _make(self) -> None:
        """Make a database under a temporary name and then rename it, so that no incomplete database remains."""
        path, beside = self.path, self.path.with_name(f".{secrets.token_hex(4)}.{FILE}")
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL, 0o600))
        self.path = beside
        try:
            self.prepare()
            self.tidy()
            self.close()
            with contextlib.suppress(FileExistsError):
                # Another process may have been quicker; then its database is the one.
                os.link(beside, path)
        finally:
            self.close()
            self.path = path
            for end in ("", "-wal", "-shm"):
                Path(f"{beside}{end}").unlink(missing_ok=True)

    def reading(self) -> AbstractContextManager[Session]:
        return self._transaction("BEGIN")

    def writing(self) -> AbstractContextManager[Session]:
        return self._transaction("BEGIN IMMEDIATE")

    def maintain(self) -> None:
        """Move the write-ahead log into the database. In a commit, this would make devices wait.

        The log, which shows the order of the last changes, is emptied if nothing was added meanwhile or if it is long.
        """
        try:
            _, length, moved = self.connection().execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error:
            self.close()
            return
        if length > 0 and length == moved and (length == self._logged or length > LOG_PAGES):
            self.tidy()
        self._logged = length

    def tidy(self) -> None:
        """Empty the write-ahead log, which shows the order of the last changes."""
        try:
            self.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error:
            self.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Session]:
        try:
            connection = self.connection()
            connection.execute(begin)
            try:
                yield SqliteSession(connection)
                connection.execute("COMMIT")
            except BaseException:
                # A failed COMMIT may or may not have ended the transaction.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            self.close()
            raise StorageUnavailable(f"the database {self.path} cannot be used: {error}") from error

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "secure_delete = ON",
            "temp_store = MEMORY",
            # `maintain` does it, beside the commits; this is for programs that only run commands.
            "wal_autocheckpoint = 100000",
        ):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        return connection
