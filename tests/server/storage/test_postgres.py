"""PostgreSQL: addresses, and what is said of one that cannot be reached."""

from __future__ import annotations

import time

import psycopg
import pytest

from ldptrace.errors import InputError
from ldptrace.server.storage import StorageUnavailable, open_database
from ldptrace.server.storage.postgres import without_password
from server_kit import Postgres


@pytest.mark.slow
def test_addresses_of_databases(postgres: Postgres) -> None:
    with pytest.raises(InputError, match="not both"):
        open_database("data", postgres.url())
    with pytest.raises(InputError, match="postgresql://"):
        open_database(url="mysql://me:secret@host/name")
    gone = f"postgresql://me:secret@127.0.0.1:{postgres.port}/missing"
    with pytest.raises(StorageUnavailable) as caught:
        open_database(url=gone)
    assert "secret" not in str(caught.value)
    assert without_password("postgresql://host/name") == "postgresql://host/name"


@pytest.mark.slow
def test_connections_that_were_cut_are_replaced_before_they_are_used(postgres: Postgres) -> None:
    """As after a restart: neither a read nor a write is lost to a connection that has ended."""
    address = postgres.new()
    database, name = open_database(url=address), address.rpartition("/")[2]

    def cut() -> None:
        postgres.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        time.sleep(0.2)

    cut()
    with database.reading() as session:
        assert session.rows("SELECT 1") == [(1,)]
    cut()
    with database.writing() as session:
        session.run("INSERT INTO meta (key, value) VALUES ('kept', 'yes')")
    cut()
    with database.reading() as session:
        assert session.row("SELECT value FROM meta WHERE key = 'kept'") == ("yes",)
    database.close()


@pytest.mark.slow
def test_what_is_wrong_with_a_statement_is_no_fault_of_the_database(postgres: Postgres) -> None:
    """Nobody waits and tries again for a text that no database takes."""
    database = open_database(url=postgres.new())
    with pytest.raises(psycopg.DataError), database.reading() as session:
        session.rows("SELECT 1 FROM meta WHERE key = ?", "a\0")
    with database.reading() as session:
        assert session.rows("SELECT 1") == [(1,)]
    database.close()
