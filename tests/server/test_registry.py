from __future__ import annotations

import pytest

from ldptrace.server import campaigns, registry
from ldptrace.server.problems import Refused, ServerProblem
from ldptrace.server.registry import all_campaigns, find, find_public, plans_of
from ldptrace.server.storage import Database
from server_kit import SINGLE, of, terms


def test_campaigns_are_found_by_name(database: Database) -> None:
    for name in ("b", "a"):
        campaigns.create(database, name, of(SINGLE, name), terms(title=name.upper(), until=99), actor="test")
    with database.writing() as session:
        assert [one.name for one in all_campaigns(session)] == ["a", "b"]
        found = find(session, "a", lock=True)
        assert (found.about.title, found.schedule.until, found.plan_id) == ("A", 99, found.plan.id)
        assert plans_of(session, "a") == {found.plan_id: found.plan}
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
