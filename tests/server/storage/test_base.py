"""What any database does: connections of each thread, one version of the tables."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ldptrace.server.storage import StorageUnavailable, open_database


def test_a_database_of_another_version_is_refused(address: str) -> None:
    database = open_database(url=address)
    with database.writing() as session:
        session.run("UPDATE meta SET value = '99' WHERE key = 'version'")
    database.close()
    with pytest.raises(StorageUnavailable, match="version 99"):
        open_database(url=address)


def test_each_thread_has_a_connection_of_its_own(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    here, there = database.connection(), list[object]()
    thread = threading.Thread(target=lambda: there.append(database.connection()))
    thread.start()
    thread.join()
    assert database.connection() is here
    assert there != [here]
    database.close()
    again = database.connection()
    assert again is not here
    database.close_all()
    assert database.connection() is not again
    database.close()
