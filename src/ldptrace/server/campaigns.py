"""The life of a campaign: draft, round 1 open, closed, round 2 open, closed, published. One chain of plans.

Commands and the HTTP interface call the same functions. Each is one transaction, and leaves a line in the
audit log that says who did it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ldptrace.curator import Estimates, Tally
from ldptrace.errors import InputError
from ldptrace.models.lengths import length_quantile
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.server.counting import cached_plan
from ldptrace.server.problems import Refused, ServerProblem
from ldptrace.server.seen import erase, rewrite, settle_all
from ldptrace.server.storage import Database, Session
from ldptrace.server.storage.schema import OF_CAMPAIGN, OF_ROUND

NAME = r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?"
MIN_REPORTS = 1_000
MAX_REPORTS = 100_000_000
# The plans whose second round is decided by the answers to the first.
TWO_ROUNDS = frozenset({"paper", "randsyn", "combtran", "noadapt"})
QUANTILE = 0.9


@dataclass(frozen=True)
class Campaign:
    """A campaign as the database has it. `round` counts from 1; 0 as long as none was opened."""

    name: str
    title: str
    state: str
    round: int
    plan: Plan
    min_reports: int
    max_reports: int
    admission: bool
    # How many are expected, for the predicted errors.
    users: int | None

    @property
    def rounds(self) -> int:
        """Rounds in all, also those that are decided later."""
        return max(len(self.plan.rounds), 2 if self.plan.method in TWO_ROUNDS else 1)


@dataclass(frozen=True)
class RoundCounts:
    """What was counted in one round."""

    number: int
    plan: Plan
    state: str
    reports: int


def create(
    database: Database,
    name: str,
    plan: Plan,
    *,
    actor: str,
    title: str = "",
    min_reports: int = MIN_REPORTS,
    max_reports: int = MAX_REPORTS,
    users: int | None = None,
) -> Campaign:
    """A new campaign, in draft."""
    check_new(name, plan, title, min_reports, max_reports)
    with database.writing() as session:
        if session.row("SELECT 1 FROM campaigns WHERE name = ?", name):
            raise Refused(ServerProblem.CAMPAIGN_EXISTS, f"there is a campaign {name} already")
        session.run(
            "INSERT INTO campaigns (name, title, state, round, plan, min_reports, max_reports, admission, users) "
            "VALUES (?, ?, 'draft', 0, ?, ?, ?, 0, ?)",
            name,
            title or name,
            plan.to_json(),
            min_reports,
            max_reports,
            users,
        )
        note(session, actor, "create", name, f"plan {plan.id}")
        return find(session, name)


def check_new(name: str, plan: Plan, title: str, min_reports: int, max_reports: int) -> None:
    """Refuse what cannot be a campaign."""
    if not is_name(name):
        raise InputError(
            f"a campaign is named with up to 64 small letters, digits and hyphens, got {name[:80]!r}"
        )
    if len(title) > 200 or not title.isprintable():
        raise InputError("a title has up to 200 printable characters")
    if not 1 <= min_reports <= max_reports:
        raise InputError(
            f"the smallest number of reports must be from 1 to the largest, {max_reports:,}, got {min_reports:,}"
        )
    if not plan.is_private:
        raise PlanRefused(Problem.PLAN_NOT_PRIVATE)
    if plan.extends is not None:
        raise InputError("a campaign begins with the first plan of its chain, this plan extends another one")


def open_round(database: Database, name: str, *, actor: str) -> Campaign:
    """Open the next round. After this the plan cannot change any more."""
    with database.writing() as session:
        campaign = find(session, name, lock=True)
        if campaign.state == "open":
            raise Refused(
                ServerProblem.WRONG_STATE, f"round {campaign.round} of campaign {name} is open already"
            )
        if campaign.state == "published" or campaign.round >= campaign.rounds:
            raise Refused(
                ServerProblem.WRONG_STATE,
                f"campaign {name} has {campaign.rounds} round{'s' if campaign.rounds > 1 else ''}, all of them "
                "closed: a closed round is not opened again",
            )
        number = campaign.round
        plan = campaign.plan if number < len(campaign.plan.rounds) else _decided(session, campaign)
        [(key,)] = session.rows(
            "INSERT INTO rounds (campaign, number, plan, state, counted, groups, generation) "
            "VALUES (?, ?, ?, 'open', 0, 0, 0) RETURNING key",
            name,
            number,
            plan.to_json(),
        )
        for ask, counts in enumerate(Tally.zero(plan, number).counts):
            session.run(
                "INSERT INTO tallies (round, ask, users, counts) VALUES (?, ?, 0, ?)",
                key,
                ask,
                counts.astype("<i8").tobytes(),
            )
        session.run(
            "UPDATE campaigns SET state = 'open', round = ?, plan = ? WHERE name = ?",
            number + 1,
            plan.to_json(),
            name,
        )
        note(session, actor, "open", name, f"round {number + 1}, plan {plan.id}")
        return find(session, name)


def close_round(database: Database, name: str, *, actor: str) -> Campaign:
    """Close the open round: the last report is in, the ids forget their order."""
    with database.writing() as session:
        campaign = find(session, name, lock=True)
        if campaign.state != "open":
            raise Refused(
                ServerProblem.WRONG_STATE,
                f"campaign {name} is {campaign.state}, there is no open round to close",
            )
        (key, counted) = session.rows(
            f"SELECT key, counted FROM rounds WHERE campaign = ? AND number = ?{session.for_update}",
            name,
            campaign.round - 1,
        )[0]
        session.run("UPDATE rounds SET state = 'closed' WHERE key = ?", key)
        session.run("UPDATE campaigns SET state = 'closed' WHERE name = ?", name)
        settle_all(session, key)
        note(session, actor, "close", name, f"round {campaign.round}, {counted} reports")
        closed = find(session, name)
    rewrite(database, key, counted)
    database.tidy()
    return closed


def delete(database: Database, name: str, *, actor: str) -> None:
    """Delete a campaign with everything that was counted. What was published stays with those who have it."""
    with database.writing() as session:
        campaign = find(session, name, lock=True)
        if campaign.state == "open":
            raise Refused(
                ServerProblem.WRONG_STATE, f"campaign {name} is open: close it before it is deleted"
            )
        rounds = session.rows("SELECT key, counted FROM rounds WHERE campaign = ?", name)
        for key, _ in rounds:
            for table in OF_ROUND:
                session.run(f"DELETE FROM {table} WHERE round = ?", key)
        for table in OF_CAMPAIGN:
            session.run(f"DELETE FROM {table} WHERE campaign = ?", name)
        session.run("DELETE FROM tokens WHERE campaign = ?", name)
        session.run("DELETE FROM campaigns WHERE name = ?", name)
        note(session, actor, "delete", name, "")
    for key, counted in rounds:
        erase(database, key, counted)
    database.tidy()


def is_name(text: str) -> bool:
    """Whether a campaign can have this name; any other text is not looked for.

    >>> is_name("trips-2027"), is_name("trips\0"), is_name("")
    (True, False, False)
    """
    return re.fullmatch(NAME, text) is not None


def find(session: Session, name: str, *, lock: bool = False) -> Campaign:
    """The campaign of this name."""
    found = is_name(name) and session.row(
        "SELECT name, title, state, round, plan, min_reports, max_reports, admission, users FROM campaigns "
        f"WHERE name = ?{session.for_update if lock else ''}",
        name,
    )
    if not found:
        raise Refused(ServerProblem.NO_SUCH_CAMPAIGN, f"there is no campaign {name[:80]!r}")
    return _campaign(found)


def find_public(session: Session, name: str) -> Campaign:
    """The campaign of this name, for anybody: a draft is answered like a name that nobody has taken."""
    campaign = find(session, name)
    if campaign.state == "draft":
        raise Refused(ServerProblem.NO_SUCH_CAMPAIGN, f"there is no campaign {name[:80]!r}")
    return campaign


def all_campaigns(session: Session) -> list[Campaign]:
    """All campaigns by name."""
    found = session.rows(
        "SELECT name, title, state, round, plan, min_reports, max_reports, admission, users FROM campaigns "
        "ORDER BY name"
    )
    return [_campaign(row) for row in found]


def counts_of(session: Session, name: str) -> list[RoundCounts]:
    """The rounds that were opened."""
    found = session.rows(
        "SELECT number, plan, state, counted FROM rounds WHERE campaign = ? ORDER BY number", name
    )
    return [RoundCounts(number, cached_plan(plan), state, counted) for number, plan, state, counted in found]


def rejections_of(session: Session, name: str) -> dict[str, int]:
    """Reports that were not counted, by problem."""
    found = session.rows("SELECT problem, reports FROM rejections WHERE campaign = ? ORDER BY problem", name)
    return dict(found)


def tallies_of(session: Session, campaign: Campaign, *, whole: bool = False) -> list[tuple[Plan, Tally]]:
    """The tally, with its plan, of each round that has as many reports as the campaign needs.

    Raises `Refused` if no round has, or with `whole` if not every round was asked and has.
    """
    tallies, short = [], f"campaign {campaign.name} was not opened yet"
    for key, number, text, counted in session.rows(
        "SELECT key, number, plan, counted FROM rounds WHERE campaign = ? ORDER BY number", campaign.name
    ):
        if counted < campaign.min_reports:
            short = (
                f"round {number + 1} of campaign {campaign.name} has {counted:,} reports; below "
                f"{campaign.min_reports:,} there are counts and predicted errors only"
            )
            continue
        plan = cached_plan(text)
        asks = session.rows("SELECT users, counts FROM tallies WHERE round = ? ORDER BY ask", key)
        users = tuple(int(row[0]) for row in asks)
        slots = (ask.question.slots for ask in plan.rounds[number].asks)
        tallies.append(
            (
                plan,
                Tally(
                    plan.id,
                    number,
                    tuple(np.frombuffer(row[1], dtype="<i8").astype(np.int64) for row in asks),
                    tuple(count * slot for count, slot in zip(users, slots, strict=True)),
                    users,
                ),
            )
        )
    if len(tallies) < (campaign.rounds if whole else 1):
        raise Refused(ServerProblem.NOT_ENOUGH_REPORTS, short)
    return tallies


def estimates_of(tallies: list[tuple[Plan, Tally]]) -> Estimates:
    """Estimates of all rounds together."""
    first, *others = (Estimates.from_tally(plan, tally) for plan, tally in tallies)
    for other in others:
        first = first.joined(other)
    return first


def note(session: Session, actor: str, action: str, campaign: str, detail: str) -> None:
    """A line in the audit log. Only what operators do is written there, never what devices do."""
    session.run(
        "INSERT INTO audit (at, actor, action, campaign, detail) VALUES (?, ?, ?, ?, ?)",
        datetime.now(UTC).isoformat(timespec="seconds"),
        actor,
        action,
        campaign,
        detail,
    )


def audit_log(session: Session, campaign: str | None = None) -> Iterator[dict[str, Any]]:
    """What operators did, oldest first."""
    keys = ("at", "actor", "action", "campaign", "detail")
    for row in session.rows("SELECT at, actor, action, campaign, detail FROM audit ORDER BY number"):
        if campaign is None or row[3] == campaign:
            yield dict(zip(keys, row, strict=True))


def _campaign(row: tuple[Any, ...]) -> Campaign:
    name, title, state, round_number, plan, low, high, admission, users = row
    return Campaign(name, title, state, round_number, cached_plan(plan), low, high, bool(admission), users)


def _decided(session: Session, campaign: Campaign) -> Plan:
    """The plan with its second round, from the private answers to the first."""
    estimates = estimates_of(tallies_of(session, campaign))
    return campaign.plan.paper_second_round(length_quantile(estimates["length"], QUANTILE))
