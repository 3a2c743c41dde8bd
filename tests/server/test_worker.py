"""The process that makes a release, called in this one: what it made, or why not, is where the operator looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.errors import InputError
from ldptrace.server import campaigns, registry, releases, views
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.storage import Database, open_database, stored
from ldptrace.server.worker import main
from server_kit import SINGLE, drawn, opened


@pytest.fixture
def database(tmp_path: Path) -> Database:
    """With a campaign that was answered and closed."""
    found = open_database(tmp_path)
    opened(found, "trips", SINGLE, min_reports=5)
    Counter(found).count("trips", [Submission(report) for report in drawn(SINGLE, 20)])
    campaigns.close(found, "trips", actor="test", now=0)
    return found


def test_it_publishes(database: Database) -> None:
    attempt = releases.begin(database, "trips", actor="test")
    assert main("trips", attempt, 10, database.url) == 0
    with database.reading() as session:
        assert registry.find(session, "trips").state == "published"
        assert "synthetic.parquet" in [file["name"] for file in views.files_of(session, "trips")]


@pytest.mark.parametrize(
    ("error", "told"),
    [(InputError("no streets here"), "no streets here"), (MemoryError("40 GB"), "MemoryError: 40 GB")],
)
def test_what_goes_wrong_is_told(
    database: Database, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def fails(self: releases.Attempt, count: int, address: str | None = None) -> None:
        raise error

    attempt = releases.begin(database, "trips", actor="test")
    monkeypatch.setattr(releases.Attempt, "make", fails)
    assert main("trips", attempt, 10, database.url) == 1
    with database.reading() as session:
        found = views.releases_of(session, "trips").get(stored(None))
    assert found is not None
    assert (found["state"], found["error"]) == ("failed", told)
