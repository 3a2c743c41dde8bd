"""The life of a campaign, its tokens, and what is left when it is over."""

from __future__ import annotations

import pytest

from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.server import campaigns, registry, rounds, tokens, views
from ldptrace.server.counting import Counter, Submission
from ldptrace.server.storage import Database
from ldptrace.web.problems import Refused, ServerProblem
from server_kit import GRID, SINGLE, TELLING, codes, drawn, of, opened, refused, telling_report, terms

PLAIN = SINGLE.changed(campaign=None)


def state(database: Database, name: str = "trips") -> tuple[str, int]:
    with database.reading() as session:
        found = registry.find(session, name)
    return found.state, found.round


def test_more_reports_than_a_database_can_count(database: Database) -> None:
    with pytest.raises(InputError, match=r"at most 2\^53"):
        campaigns.create(database, "trips", PLAIN, terms(max_reports=10**30), actor="test")


def test_one_round(database: Database) -> None:
    campaigns.create(database, "trips", SINGLE, terms(title="Trips", min_reports=5), actor="me")
    assert state(database) == ("draft", 0)
    refused(ServerProblem.WRONG_STATE, campaigns.close, database, "trips", actor="me", now=0)
    campaigns.open_round(database, "trips", actor="me")
    assert state(database) == ("open", 1)
    refused(ServerProblem.WRONG_STATE, campaigns.open_round, database, "trips", actor="me")
    refused(ServerProblem.WRONG_STATE, campaigns.delete, database, "trips", actor="me")
    campaigns.close(database, "trips", actor="me", now=0)
    assert state(database) == ("closed", 1)
    # A closed round is closed: its ids may go, so it must not be opened again.
    refused(ServerProblem.WRONG_STATE, campaigns.open_round, database, "trips", actor="me")
    with database.reading() as session:
        log = [(entry["actor"], entry["action"]) for entry in registry.audit_log(session, "trips")]
    assert log == [("me", "create"), ("me", "open"), ("me", "close")]


def test_two_rounds_are_one_chain(database: Database) -> None:
    plan = Plan.paper(GRID, 1)
    campaigns.create(database, "trips", plan, terms(min_reports=40), actor="me")
    first = campaigns.open_round(database, "trips", actor="me").plan
    counter = Counter(database)
    counter.count("trips", [Submission(report) for report in drawn(first, 39)])
    campaigns.close(database, "trips", actor="me", now=0)
    # The second round says something about the first: not below the smallest number.
    refused(ServerProblem.NOT_ENOUGH_REPORTS, campaigns.open_round, database, "trips", actor="me")


def test_the_second_round_extends_the_first(database: Database) -> None:
    plan = opened(database, "trips", Plan.paper(GRID, 1), min_reports=40)
    counter = Counter(database)
    counter.count("trips", [Submission(report) for report in drawn(plan, 40)])
    campaigns.close(database, "trips", actor="me", now=0)
    second = campaigns.open_round(database, "trips", actor="me")
    assert (second.state, second.round, second.rounds) == ("open", 2, 2)
    assert second.plan.root == plan.id
    assert second.plan.extends == plan.id
    counter.count("trips", [Submission(report) for report in drawn(second.plan, 5)])
    with database.reading() as session:
        # The first round has enough reports to be seen, the second has not.
        assert [tally.round for _, tally in rounds.tallies_of(session, second)] == [0]
        with pytest.raises(Refused):
            rounds.tallies_of(session, second, whole=True)
        shown = views.overview(session, second)
    assert shown["reports"] == 45
    assert [entry["reports"] for entry in shown["round_reports"]] == [40, 5]


def test_what_cannot_be_a_campaign(database: Database) -> None:
    for name in ("", "-a", "a-", "A", "a/b", "..", "a" * 65, "ä"):
        with pytest.raises(InputError, match="named with"):
            campaigns.create(database, name, PLAIN, actor="me")
    for opens, until in ((5, 5), (6, 5)):
        with pytest.raises(InputError, match="closes after it opens"):
            campaigns.create(database, "a", PLAIN, terms(opens=opens, until=until), actor="me")
    # The first round of this method is padded, the second is not.
    unpadded = Plan.paper(GRID, 1, method="paper-unpadded")
    for plan in (unpadded, unpadded.paper_second_round(4)):
        with pytest.raises(PlanRefused):
            campaigns.create(database, "a", plan, actor="me")
    with pytest.raises(InputError, match="first plan of its chain"):
        campaigns.create(database, "a", Plan.paper(GRID, 1).paper_second_round(4), actor="me")
    with pytest.raises(InputError, match="belongs to campaign trips, not to a"):
        campaigns.create(database, "a", SINGLE, actor="me")
    campaigns.create(database, "a", PLAIN, actor="me")
    refused(ServerProblem.CAMPAIGN_EXISTS, campaigns.create, database, "a", PLAIN, actor="me")


def test_every_campaign_has_a_plan_of_its_own(database: Database) -> None:
    """The same settings twice: a report of one is nothing in the other, and a device can answer both."""
    one, two = (campaigns.create(database, name, PLAIN, actor="me").plan for name in ("one", "two"))
    assert len({PLAIN.id, one.id, two.id}) == 3
    assert one.changed(campaign=None) == two.changed(campaign=None) == PLAIN
    for name in ("one", "two"):
        campaigns.open_round(database, name, actor="me")
    [report] = drawn(one, 1)
    counter = Counter(database)
    assert codes(counter, "two", report) == [[Problem.WRONG_PLAN.number]]
    assert codes(counter, "one", report) == [[0]]


def test_deleting_leaves_nothing_of_the_campaign(database: Database) -> None:
    opened(database, "other", TELLING)
    opened(database, "trips", TELLING)
    counter = Counter(database)
    for name in ("other", "trips"):
        counter.count(name, [Submission(telling_report(value, of(TELLING, name))) for value in range(5)])
    tokens.create_token(database, "trips", "read", "", actor="me")
    campaigns.close(database, "trips", actor="me", now=0)
    campaigns.delete(database, "trips", actor="me")
    with database.reading() as session:
        for table in ("rounds", "tokens", "rejections", "files", "admissions", "releases"):
            assert session.rows(f"SELECT 1 FROM {table} WHERE campaign = 'trips'") == [], table
        for table in ("tallies", "ids", "fresh"):
            assert session.rows(f"SELECT DISTINCT round FROM {table} WHERE round > 1") == [], table
        assert rounds.rounds_of(session, "other")[0].reports == 5
        assert "delete" in [entry["action"] for entry in registry.audit_log(session, "trips")]


def test_tokens(database: Database) -> None:
    campaigns.create(database, "trips", SINGLE, actor="me")
    text, kept = tokens.create_token(database, "trips", "read", "a laptop", actor="me")
    with database.reading() as session:
        assert tokens.holder(session, text) == kept
        stored = session.rows("SELECT id, hash FROM tokens")
    assert text.split("_")[2] not in str(stored)
    assert kept.allows("read", "trips")
    assert not kept.allows("manage", "trips")
    assert not kept.allows("read", "other")
    for wrong in (text[:-1] + "x", text[:-1], text + "0", "", "ldpt_00000000_" + text[-64:], "x" * 5000):
        with database.reading() as session:
            refused(ServerProblem.UNAUTHORIZED, tokens.holder, session, wrong)
    tokens.revoke_token(database, kept.id, actor="me")
    with database.reading() as session:
        refused(ServerProblem.UNAUTHORIZED, tokens.holder, session, text)
        assert tokens.tokens_of(session)[0].revoked
    with pytest.raises(InputError, match="no valid token"):
        tokens.revoke_token(database, kept.id, actor="me")
    with pytest.raises(InputError, match="scope"):
        tokens.create_token(database, "trips", "all", "", actor="me")
    refused(ServerProblem.NO_SUCH_CAMPAIGN, tokens.create_token, database, "no", "read", "", actor="me")


def test_admission_is_decided_before_a_campaign_is_open(database: Database) -> None:
    opened(database, "trips", SINGLE)
    refused(ServerProblem.WRONG_STATE, tokens.create_admissions, database, "trips", 3, actor="me")
    with pytest.raises(InputError, match="admission codes"):
        tokens.create_admissions(database, "trips", 0, actor="me")
