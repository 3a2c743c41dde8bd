"""What the server needs of a database: transactions, and a few words in which databases differ.

Statements are written once, with `?` for parameters. There is no ORM: a dozen tables need none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
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

    # How the worker process and other commands name this database.
    url: str

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
    def close(self) -> None:
        """Close this thread's connection."""

    def prepare(self) -> None:
        """Make the tables where they are missing; refuse a database of another version."""
        with self.writing() as session:
            self._lock_schema(session)
            for statement in statements(**self._words()):
                session.run(statement)
            found = session.row("SELECT value FROM meta WHERE key = 'version'")
            if found is None:
                session.run("INSERT INTO meta (key, value) VALUES ('version', ?)", str(VERSION))
            elif found[0] != str(VERSION):
                raise StorageUnavailable(
                    f"the database {self.url} has version {found[0]}, this program writes version {VERSION}"
                )

    @abstractmethod
    def _words(self) -> dict[str, str]:
        """The types of this database, for `statements`."""

    def _lock_schema(self, session: Session) -> None:
        """Keep another process from making the tables at the same moment."""


@contextmanager
def closing(database: Database) -> Iterator[Database]:
    """Close the connection of this thread afterwards."""
    try:
        yield database
    finally:
        database.close()
