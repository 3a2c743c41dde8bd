"""The interface of a database: transactions, and the SQL expressions in which databases differ. Statements are written
once, with `?` for parameters. The tables store no report, no address, and no time at which a report arrived.
"""

from __future__ import annotations

import re
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

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
        return self._connection.execute(self.translated(sql), parameters).fetchall()

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
        rows = self.rows(sql, *parameters)
        return rows[0] if rows else None


class Database(ABC):
    """A database that several threads and processes use at once; each thread has its own connection."""

    # The names of types in this database, for `statements`.
    words: ClassVar[dict[str, str]]
    # A query for the names of all tables.
    tables: ClassVar[str]
    # A statement that prevents other processes from making the tables at the same time; empty: there is one writer.
    lock: ClassVar[str] = ""

    def __init__(self, url: str) -> None:
        # How the worker process and other commands name this database, and the same without secrets.
        self.url = self.shown = url
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
            tables = session.rows(self.tables)
            if self._may_make and ("meta",) not in tables:
                for statement in statements(**self.words):
                    session.run(statement)
                session.insert("meta", key="version", value=str(VERSION))
                tables = session.rows(self.tables)
            ours = {("meta",), ("campaigns",)} <= set(tables)
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


def _insertion(table: str, columns: Collection[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _close_each(connections: set[Any]) -> None:
    while connections:
        connections.pop().close()


VERSION = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS campaigns (
    name TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    state TEXT NOT NULL,
    round {integer} NOT NULL,
    plan TEXT NOT NULL,
    min_reports {integer} NOT NULL,
    max_reports {integer} NOT NULL,
    admission {integer} NOT NULL,
    users {integer},
    organiser TEXT NOT NULL DEFAULT '',
    contact TEXT NOT NULL DEFAULT '',
    notice TEXT NOT NULL DEFAULT '',
    opens {integer},
    until {integer}
);

-- The plans of a campaign, by number. `ends` is when a standing plan that was replaced begins no further window.
CREATE TABLE IF NOT EXISTS plans (
    campaign TEXT NOT NULL, id TEXT NOT NULL, number {integer} NOT NULL, text TEXT NOT NULL, ends {integer},
    PRIMARY KEY (campaign, id)
);

-- One row for each round that was opened, or for each window of a standing plan that somebody answered. `plan` is
-- an id. `groups` and `generation` tell which rows of `fresh` are new.
CREATE TABLE IF NOT EXISTS rounds (
    key {serial},
    campaign TEXT NOT NULL,
    number {integer} NOT NULL,
    plan TEXT NOT NULL,
    state TEXT NOT NULL,
    counted {integer} NOT NULL,
    groups {integer} NOT NULL,
    generation {integer} NOT NULL,
    time_window {integer},
    UNIQUE (campaign, number)
);

CREATE UNIQUE INDEX IF NOT EXISTS rounds_window ON rounds (campaign, plan, time_window);

-- The private key of a shuffled campaign, with which its sealed reports are opened.
CREATE TABLE IF NOT EXISTS keys (campaign TEXT PRIMARY KEY, secret TEXT NOT NULL);

-- The batches of shuffled plans: a digest of the set of sealed reports (empty: the shuffler has deleted it), and what
-- the shuffler was answered. `time_window` is -1 in plans without windows.
CREATE TABLE IF NOT EXISTS batches (
    campaign TEXT NOT NULL, plan TEXT NOT NULL, time_window {integer} NOT NULL, digest TEXT NOT NULL,
    reports {integer} NOT NULL, answer TEXT NOT NULL,
    PRIMARY KEY (campaign, plan, time_window)
);

-- Counts of each question as 64-bit integers.
CREATE TABLE IF NOT EXISTS tallies (
    round {integer} NOT NULL, ask {integer} NOT NULL, users {integer} NOT NULL, counts {blob} NOT NULL,
    PRIMARY KEY (round, ask)
){clustered};

CREATE TABLE IF NOT EXISTS rejections (
    campaign TEXT NOT NULL, problem TEXT NOT NULL, reports {integer} NOT NULL,
    PRIMARY KEY (campaign, problem)
);

-- Ids of counted reports: sorted lists of the newest ones, then one by one, ordered by themselves.
CREATE TABLE IF NOT EXISTS fresh (
    round {integer} NOT NULL, number {integer} NOT NULL, ids {blob} NOT NULL,
    PRIMARY KEY (round, number)
){clustered};

CREATE TABLE IF NOT EXISTS ids (
    round {integer} NOT NULL, id {blob} NOT NULL,
    PRIMARY KEY (round, id)
){clustered};

-- Hashes of admission tokens that were not used yet.
CREATE TABLE IF NOT EXISTS admissions (
    campaign TEXT NOT NULL, hash {blob} NOT NULL,
    PRIMARY KEY (campaign, hash)
){clustered};

CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY, hash {blob} NOT NULL, campaign TEXT NOT NULL, scope TEXT NOT NULL,
    label TEXT NOT NULL, created TEXT NOT NULL, revoked TEXT
);

CREATE TABLE IF NOT EXISTS audit (
    number {serial}, at TEXT NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
    campaign TEXT NOT NULL, detail TEXT NOT NULL
);

-- The release of a campaign while it is made, and its files in parts. `number` is that of a window's round, -1 for
-- the release of all rounds together. `count` is how many trips were asked for, `beat` grows as long as somebody works
-- on it.
CREATE TABLE IF NOT EXISTS releases (
    campaign TEXT NOT NULL, number {integer} NOT NULL, attempt TEXT NOT NULL, state TEXT NOT NULL,
    stage TEXT NOT NULL, done {integer} NOT NULL, error TEXT NOT NULL,
    count {integer} NOT NULL DEFAULT 0, beat {integer} NOT NULL DEFAULT 0,
    PRIMARY KEY (campaign, number)
);

CREATE TABLE IF NOT EXISTS files (
    campaign TEXT NOT NULL, name TEXT NOT NULL, part {integer} NOT NULL, data {blob} NOT NULL,
    PRIMARY KEY (campaign, name, part)
);
"""

# In a key, in place of a number that there is not: a release of all rounds together, a batch without a window.
_NONE = -1


def stored(number: int | None) -> int:
    """Return the number of a round or a window, or None, as a key has it.

    >>> stored(None), number_in(stored(None)), number_in(stored(3))
    (-1, None, 3)
    """
    return _NONE if number is None else number


def number_in(key: int) -> int | None:
    """Return the number of a round or a window from a key, or None."""
    return None if key == _NONE else int(key)


# Tables with a column `campaign` or `round`, for deleting one; ids, which are many, are erased by themselves.
OF_CAMPAIGN = ("plans", "rejections", "admissions", "releases", "files", "keys", "batches", "rounds")
OF_ROUND = ("tallies", "fresh")


def statements(*, integer: str, blob: str, serial: str, clustered: str) -> list[str]:
    """Return the statements that make the tables, with the types of one database.

    >>> len(statements(integer="BIGINT", blob="BYTEA", serial="BIGINT PRIMARY KEY", clustered=""))
    16
    """
    filled = _TABLES.format(integer=integer, blob=blob, serial=serial, clustered=clustered)
    return [part.strip() for part in filled.split(";") if part.strip()]


# The columns of each table: the names before a type.
COLUMNS = {
    table: tuple(re.findall(r"(\w+) (?:TEXT|{\w+})", body))
    for table, body in re.findall(r"CREATE TABLE IF NOT EXISTS (\w+) (.*?);", _TABLES, re.DOTALL)
}
