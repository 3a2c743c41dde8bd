"""Storage of campaigns: SQLite in a folder, or PostgreSQL. Both use the same tables and statements."""

from ldptrace.server.storage.base import Database, Session, is_database, open_database
from ldptrace.web.problems import StorageUnavailable

__all__ = ["Database", "Session", "StorageUnavailable", "is_database", "open_database"]
