"""One server for all pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ldptrace.server.storage import Database, open_database
from server_kit import Server, running


@pytest.fixture(scope="package")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    found = open_database(tmp_path_factory.mktemp("pages"))
    yield found
    found.close_all()


@pytest.fixture(scope="package")
def server(database: Database) -> Iterator[Server]:
    with running("--data", database.url) as found:
        yield found
