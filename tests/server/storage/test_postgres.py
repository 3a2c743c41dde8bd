"""PostgreSQL: addresses, and what is said of one that cannot be reached."""

from __future__ import annotations

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
