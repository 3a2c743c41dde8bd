"""PostgreSQL, for several processes or machines that share one database."""

from __future__ import annotations

import re
import select
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit, urlunsplit

from ldptrace.core.extras import needed
from ldptrace.server.storage.base import Database, Row, Session
from ldptrace.web.problems import StorageUnavailable

if TYPE_CHECKING:
    import psycopg


class PostgresSession(Session):
    for_update: ClassVar[str] = " FOR UPDATE"

    @staticmethod
    @lru_cache(maxsize=512)
    def translated(sql: str) -> str:
        return sql.replace("%", "%%").replace("?", "%s")

    def known_ids(self, round_key: int, ids: Sequence[bytes]) -> list[bytes]:
        rows = self.rows("SELECT id FROM ids WHERE round = ? AND id = ANY(?)", round_key, list(ids))
        return [one for (one,) in rows]


class PostgresDatabase(Database):
    """The database at an address such as `postgresql://user:password@host/name`."""

    words: ClassVar[dict[str, str]] = {
        "integer": "BIGINT",
        "blob": "BYTEA",
        "serial": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "clustered": "",
    }
    tables: ClassVar[str] = "SELECT tablename FROM pg_tables WHERE schemaname = ANY(current_schemas(false))"
    # Any number.
    lock: ClassVar[str] = "SELECT pg_advisory_xact_lock(1818521716)"

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.shown = without_password(url)
        self._psycopg = needed("psycopg", "server")
        self.prepare()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with self.writing() as session:
            session.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        try:
            connection = self.connection()
            with connection.transaction():
                yield PostgresSession(connection)
        except (self._psycopg.OperationalError, self._psycopg.InterfaceError) as error:
            self.close()
            text = re.sub(r"\s+", " ", str(error)).strip()
            raise StorageUnavailable(f"the database {self.shown}: {text}") from error

    def connection(self) -> psycopg.Connection[Row]:
        """Return the connection of this thread, or a new one if the server has closed the old one."""
        connection: psycopg.Connection[Row] = super().connection()
        if connection.closed or _has_ended(connection):
            self.close()
            connection = super().connection()
        return connection

    def tidy(self) -> None:
        """Run a vacuum now, because old versions of rows reveal the order of changes."""
        try:
            for table in ("fresh", "ids", "tallies", "rounds"):
                self.connection().execute(f"VACUUM {table}")
        except self._psycopg.Error:
            self.close()

    def maintain(self) -> None:
        """Do nothing, because PostgreSQL maintains itself."""

    def _connect(self) -> psycopg.Connection[Row]:
        # A database that is silent, rather than gone, must not be waited for without end.
        return self._psycopg.connect(
            self.url,
            autocommit=True,
            connect_timeout=5,
            keepalives_idle=10,
            keepalives_interval=5,
            keepalives_count=3,
            tcp_user_timeout=20_000,
            options="-c lock_timeout=20s -c statement_timeout=300s",
        )


def _has_ended(connection: psycopg.Connection[Row]) -> bool:
    """Whether the server has closed an idle connection."""
    idle = connection.info.transaction_status == 0
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN | select.POLLHUP)
    return idle and bool(poll.poll(0))


def without_password(url: str) -> str:
    """Return the address without its password.

    >>> without_password("postgresql://me:secret@db.example/trips")
    'postgresql://me@db.example/trips'
    """
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    user = parts.username
    return urlunsplit((parts.scheme, f"{user}@{host}" if user else host, parts.path, "", ""))
