from __future__ import annotations

import pytest

from ldptrace.server import campaigns
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
