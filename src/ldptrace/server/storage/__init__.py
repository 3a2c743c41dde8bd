"""Storage of campaigns: SQLite in a folder, or PostgreSQL. Both use the same tables and statements."""

from ldptrace.server.storage.base import Database, StorageUnavailable
from ldptrace.server.storage.opening import is_database, open_database
from ldptrace.server.storage.session import Session

__all__ = ["Database", "Session", "StorageUnavailable", "is_database", "open_database"]
