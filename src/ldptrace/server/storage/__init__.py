"""Storage of campaigns: SQLite in a folder, or PostgreSQL. Both use the same tables and statements."""

import os
from pathlib import Path

from ldptrace.errors import InputError
from ldptrace.server.storage.base import Database, Session, number_in, stored
from ldptrace.web.problems import StorageUnavailable

__all__ = [
    "Database",
    "Session",
    "StorageUnavailable",
    "is_database",
    "number_in",
    "open_database",
    "stored",
]
DEFAULT_FOLDER = "ldptrace-data"


def is_database(data: str | os.PathLike[str] | None = None, url: str | None = None) -> bool:
    """Whether the folder already has a database. A database at an address is assumed to exist."""
    if url is not None and "://" in url:
        return True
    from ldptrace.server.storage.sqlite import FILE

    return (Path(data or url or DEFAULT_FOLDER) / FILE).exists()


def open_database(data: str | os.PathLike[str] | None = None, url: str | None = None) -> Database:
    """Open the database in a folder or at an address, by default in the folder `ldptrace-data`."""
    if data is not None and url is not None:
        raise InputError("give --data DIR or --database URL, not both")
    if url is not None:
        if url.startswith(("postgresql://", "postgres://")):
            from ldptrace.server.storage.postgres import PostgresDatabase

            return PostgresDatabase(url)
        if "://" in url:
            raise InputError(
                f"--database takes an address postgresql://user:password@host/name, got {url.split('://')[0]}://..."
            )
        data = url
    from ldptrace.server.storage.sqlite import SqliteDatabase

    return SqliteDatabase(DEFAULT_FOLDER if data is None else data)
