from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ldptrace.server.storage import Database, open_database
from server_kit import Client, Postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    yield server
    server.stop()


# A server of databases takes longer to start than quick tests may.
POSTGRES = pytest.param("postgres", marks=pytest.mark.slow)


@pytest.fixture(params=["sqlite", POSTGRES])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, once of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "data")
    found: Postgres = request.getfixturevalue("postgres")
    return found.new()


@pytest.fixture
def database(address: str) -> Iterator[Database]:
    found = open_database(url=address)
    yield found
    found.close()


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)
