"""Campaigns in the database: functions to find them, and the audit log of operators. Devices are never logged."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from ldptrace.curator.facts import PAPER
from ldptrace.protocol.plan import NAME_PATTERN, Plan
from ldptrace.protocol.units import date_words
from ldptrace.server.storage import Session
from ldptrace.server.terms import Terms
from ldptrace.web.problems import Refused, ServerProblem

# Plans in memory, more than a list of campaigns has: each takes a dozen kilobytes, and a millisecond to read again.
PLANS = 4_096


def day(unix: int) -> str:
    """Return the day of a Unix time, in UTC.

    >>> day(1803945600)
    '2027-03-02'
    """
    return date_words(unix)[:10]


_COLUMNS = (
    "campaigns.name, state, round, plans.text, admission, title, organiser, contact, notice, opens, until, "
    "min_reports, max_reports, users"
)
_JOINED = "campaigns JOIN plans ON plans.campaign = campaigns.name AND plans.id = campaigns.plan"
_SELECT = f"SELECT {_COLUMNS} FROM {_JOINED}"


@dataclass(frozen=True)
class Campaign:
    """A campaign. `round` is the number of the newest round from 1, or 0 before the first round is opened."""

    name: str
    terms: Terms
    state: str
    round: int
    plan: Plan
    admission: bool

    @property
    def rounds(self) -> int:
        """The number of rounds, including rounds that are decided later."""
        return max(len(self.plan.rounds), 2 if self.plan.method in PAPER else 1)


def is_name(text: str) -> bool:
    """Whether a campaign can have this name.

    >>> is_name("trips-2027"), is_name("trips\\0"), is_name("")
    (True, False, False)
    """
    return re.fullmatch(NAME_PATTERN, text) is not None


def find(session: Session, name: str, *, lock: bool = False) -> Campaign:
    """Find the campaign with this name. With `lock`, its row does not change until the transaction ends."""
    if lock and is_name(name):
        session.row(f"SELECT 1 FROM campaigns WHERE name = ?{session.for_update}", name)
    return _found(session, name, "")


def find_public(session: Session, name: str) -> Campaign:
    """Find the campaign with this name for the public. A draft gives the same answer as an unknown name, in the same
    time."""
    return _found(session, name, " AND state <> 'draft'")


def _found(session: Session, name: str, condition: str) -> Campaign:
    row = session.row(f"{_SELECT} WHERE campaigns.name = ?{condition}", name) if is_name(name) else None
    if row is None:
        raise no_such(name)
    return _campaign(row)


def no_such(name: str) -> Refused:
    """Return the error that there is no public campaign with this name."""
    return Refused(ServerProblem.NO_SUCH_CAMPAIGN, f"there is no campaign {name[:80]!r}")


def all_campaigns(
    session: Session, after: str = "", most: int = 2**31, *, drafts: bool = True
) -> list[Campaign]:
    """Return the campaigns after a name, ordered by name, at most so many; with or without drafts."""
    rows = session.rows(
        f"{_SELECT} WHERE campaigns.name > ? AND (state <> 'draft' OR ?) ORDER BY campaigns.name LIMIT ?",
        after,
        drafts,
        most,
    )
    return [_campaign(row) for row in rows]


@lru_cache(maxsize=PLANS)
def cached_plan(text: str) -> Plan:
    """Return a plan of the database. Plans are cached because checking a plan takes long."""
    return Plan.from_json(text)


def _campaign(row: tuple[Any, ...]) -> Campaign:
    name, state, number, text, admission, *stated = row
    return Campaign(name, Terms(*stated), state, number, cached_plan(text), bool(admission))


KEYS = ("at", "actor", "action", "campaign", "detail")


def stamp() -> str:
    """Return the present time as it is stored."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def note(session: Session, actor: str, action: str, campaign: str, detail: str) -> None:
    """Write a line to the audit log."""
    session.insert("audit", at=stamp(), actor=actor, action=action, campaign=campaign, detail=detail)


def audit_log(session: Session, campaign: str | None = None, most: int = 2**31) -> list[dict[str, Any]]:
    """Return the audit log, or that of one campaign, oldest first; at most so many entries, the newest."""
    where, given = ("", ()) if campaign is None else (" WHERE campaign = ?", (campaign,))
    rows = session.rows(
        f"SELECT {', '.join(KEYS)} FROM audit{where} ORDER BY number DESC LIMIT ?", *given, most
    )
    return [dict(zip(KEYS, row, strict=True)) for row in reversed(rows)]
