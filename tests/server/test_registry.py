from __future__ import annotations

from pathlib import Path

import pytest

from ldptrace.server import campaigns, registry
from ldptrace.server.registry import (
    all_campaigns,
    audit_log,
    find,
    find_public,
    note,
)
from ldptrace.server.rounds import plans_of
from ldptrace.server.storage import Database, open_database
from ldptrace.web.problems import Refused, ServerProblem
from server_kit import SINGLE, of, terms


def test_campaigns_are_found_by_name(database: Database) -> None:
    for name in ("b", "a"):
        campaigns.create(database, name, of(SINGLE, name), terms(title=name.upper(), until=99), actor="test")
    with database.writing() as session:
        assert [one.name for one in all_campaigns(session)] == ["a", "b"]
        found = find(session, "a", lock=True)
        assert (found.terms.title, found.terms.until) == ("A", 99)
        assert list(plans_of(session, "a")) == [found.plan.id]
        for name in ("a", "nobody", "a\0"):
            with pytest.raises(Refused) as refused:
                find_public(session, name)
            assert refused.value.problem is ServerProblem.NO_SUCH_CAMPAIGN


def test_of_a_draft_nothing_is_read_for_the_public(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the time that it takes would tell it from a name that nobody has taken."""
    campaigns.create(database, "a", of(SINGLE, "a"), terms(), actor="test")
    plans: list[str] = []
    monkeypatch.setattr(registry, "cached_plan", plans.append)
    with database.reading() as session:
        with pytest.raises(Refused):
            find_public(session, "a")
        assert plans == []
        find(session, "a")
        assert len(plans) == 1


def test_lines_are_kept_in_order_and_found_by_campaign(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    with database.writing() as session:
        for number in range(3):
            note(session, "me", "look", f"campaign-{number % 2}", str(number))
    with database.reading() as session:
        assert [entry["detail"] for entry in audit_log(session)] == ["0", "1", "2"]
        assert [entry["detail"] for entry in audit_log(session, "campaign-0")] == ["0", "2"]
        assert set(audit_log(session)[0]) == {"at", "actor", "action", "campaign", "detail"}
    database.close()
