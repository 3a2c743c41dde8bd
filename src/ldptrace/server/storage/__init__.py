"""Where campaigns are kept: SQLite in a folder, or PostgreSQL. One set of tables and statements for both."""

from ldptrace.server.storage.base import Database, StorageUnavailable
from ldptrace.server.storage.opening import is_database, open_database
from ldptrace.server.storage.session import Session

__all__ = ["Database", "Session", "StorageUnavailable", "is_database", "open_database"]
