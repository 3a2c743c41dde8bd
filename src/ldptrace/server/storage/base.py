"""The interface of a database: transactions, and the SQL expressions in which databases differ. Statements are written
once, with `?` for parameters.
"""

from __future__ import annotations

import re
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from ldptrace.server.storage.schema import VERSION, statements
from ldptrace.web.problems import StorageUnavailable

Row = tuple[Any, ...]


class Session(ABC):
    """One transaction on a connection, whose library follows the DB-API of Python."""

    # Appended to a SELECT whose rows must not change until the transaction ends.
    for_update: ClassVar[str] = ""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def rows(self, sql: str, *parameters: Any) -> list[Row]:
        """Return the rows of a SELECT."""
        found: list[Row] = self._connection.execute(self.translated(sql), parameters).fetchall()
        return found

    def run(self, sql: str, *parameters: Any) -> int:
        """Run a statement, and return the number of changed rows."""
        return int(self._connection.execute(self.translated(sql), parameters).rowcount)

    @staticmethod
    def translated(sql: str) -> str:
        """Return a statement with the marks of this database for parameters."""
        return sql

    @abstractmethod
    def known_ids(self, round_key: int, ids: Sequence[bytes]) -> list[bytes]:
        """Return which of these report ids are in the table `ids`."""

    def insert(self, table: str, **values: Any) -> None:
        """Add a row to a table, with the values of its columns."""
        self.run(_insertion(table, values), *values.values())

    def insert_many(self, table: str, columns: Collection[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add rows with the values of these columns to a table."""
        self._connection.cursor().executemany(self.translated(_insertion(table, columns)), rows)

    def row(self, sql: str, *parameters: Any) -> Row | None:
        """Return the first row, or None."""
        found = self.rows(sql, *parameters)
        return found[0] if found else None


class Database(ABC):
    """A database that several threads and processes use at once; each thread has its own connection."""

    # The names of types in this database, for `statements`.
    words: ClassVar[dict[str, str]]
    # A query for the names of all tables.
    tables: ClassVar[str]
    # A statement that prevents other processes from making the tables at the same time; empty: there is one writer.
    lock: ClassVar[str] = ""

    def __init__(self, url: str) -> None:
        # How the worker process and other commands name this database.
        self.url = url
        # Whether tables are made where there are none.
        self._may_make = True
        self._local = threading.local()
        self._open: set[Any] = set()
        self._lock = threading.Lock()
        # Nobody has to remember to close a database; PostgreSQL would complain about connections left open.
        weakref.finalize(self, _close_each, self._open)

    @abstractmethod
    def reading(self) -> AbstractContextManager[Session]:
        """Return a transaction that sees one state of the database."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Session]:
        """Return a transaction that is stored completely and durably, or not at all."""

    @abstractmethod
    def tidy(self) -> None:
        """Free the space of deleted rows, as far as possible during other work."""

    @abstractmethod
    def maintain(self) -> None:
        """Do the regular maintenance of the database, outside the transactions that devices wait for."""

    @abstractmethod
    def _connect(self) -> Any:
        """Open a new connection."""

    def connection(self) -> Any:
        """Return the connection of this thread, and open it if necessary."""
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
        """Make the tables of a new database. Tables of another version are refused."""
        with self.writing() as session:
            if self.lock:
                session.rows(self.lock)
            found = session.rows(self.tables)
            if self._may_make and ("meta",) not in found:
                for statement in statements(**self.words):
                    session.run(statement)
                session.insert("meta", key="version", value=str(VERSION))
                found = session.rows(self.tables)
            ours = {("meta",), ("campaigns",)} <= set(found)
            row = session.row("SELECT value FROM meta WHERE key = 'version'") if ours else None
        if row is not None and row[0] == str(VERSION):
            return
        self.close()
        if row is None or not re.fullmatch("[0-9]{1,9}", str(row[0])):
            raise StorageUnavailable(
                f"the database {self.shown} holds no campaigns: it is of another program"
            )
        raise StorageUnavailable(
            f"the database has version {row[0]}, this program knows {VERSION}: use the ldptrace that wrote it"
        )

    @property
    def shown(self) -> str:
        """Return the address without secrets."""
        return self.url


def _insertion(table: str, columns: Collection[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _close_each(connections: set[Any]) -> None:
    while connections:
        connections.pop().close()
