"""What the server needs of a database: transactions, and a few words in which databases differ.

Statements are written once, with `?` for parameters. There is no ORM: a dozen tables need none.
"""

from __future__ import annotations

import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from ldptrace.errors import LdptraceError
from ldptrace.server.storage.schema import VERSION, statements

Row = tuple[Any, ...]


class StorageUnavailable(LdptraceError):
    """The database cannot be reached, is full or is busy. Nothing of the transaction has been kept, or all."""


class Session(ABC):
    """One transaction."""

    # Appended to a SELECT whose rows must not change until the transaction ends.
    for_update: str

    @abstractmethod
    def rows(self, sql: str, *parameters: Any) -> list[Row]:
        """Rows of a SELECT."""

    @abstractmethod
    def run(self, sql: str, *parameters: Any) -> int:
        """Run a statement; the number of rows it changed."""

    @abstractmethod
    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for every row of parameters."""

    @abstractmethod
    def known_ids(self, round_key: int, ids: Sequence[bytes]) -> list[bytes]:
        """Which of these report ids are in the table of settled ids."""

    def row(self, sql: str, *parameters: Any) -> Row | None:
        """The first row, if there is one."""
        found = self.rows(sql, *parameters)
        return found[0] if found else None


class Database(ABC):
    """A database that several threads and processes use at once; each thread has its own connection."""

    def __init__(self, url: str) -> None:
        # How the worker process and other commands name this database.
        self.url = url
        self._local = threading.local()
        self._open: set[Any] = set()
        self._lock = threading.Lock()
        # Nobody has to remember to close a database; PostgreSQL would complain about connections left open.
        weakref.finalize(self, _close_each, self._open)

    @abstractmethod
    def reading(self) -> AbstractContextManager[Session]:
        """A transaction that sees one state of the database."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Session]:
        """A transaction that is kept as a whole, on durable storage, or not at all."""

    @abstractmethod
    def tidy(self) -> None:
        """Free what deleted rows left behind, as far as it can be done while others work."""

    @abstractmethod
    def maintain(self) -> None:
        """What the database needs now and then, beside the transactions that devices wait for."""

    @abstractmethod
    def _connect(self) -> Any:
        """A new connection."""

    def connection(self) -> Any:
        """The connection of this thread, opened if it has none."""
        connection = getattr(self._local, "connection", None)
        if connection is None or connection not in self._open:
            connection = self._local.connection = self._connect()
            with self._lock:
                self._open.add(connection)
        return connection

    def close(self) -> None:
        """Close this thread's connection."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            self._local.connection = None
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def close_all(self) -> None:
        """Close the connections of all threads, which have ended."""
        with self._lock:
            _close_each(self._open)

    def prepare(self) -> None:
        """Make the tables where they are missing; refuse a database of another version."""
        with self.writing() as session:
            self._lock_schema(session)
            for statement in statements(**self._words()):
                session.run(statement)
            found = session.row("SELECT value FROM meta WHERE key = 'version'")
            if found is None:
                session.run("INSERT INTO meta (key, value) VALUES ('version', ?)", str(VERSION))
        if found is not None and found[0] != str(VERSION):
            self.close()
            raise StorageUnavailable(
                f"the database has version {found[0]}, this program writes version {VERSION}"
            )

    @abstractmethod
    def _words(self) -> dict[str, str]:
        """The types of this database, for `statements`."""

    @abstractmethod
    def _lock_schema(self, session: Session) -> None:
        """Keep another process from making the tables at the same moment."""


def _close_each(connections: set[Any]) -> None:
    while connections:
        connections.pop().close()
