"""The counts of each round and window, their tallies, and estimates if there are enough reports."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldptrace.curator import Estimates, Tally
from ldptrace.protocol.plan import Plan
from ldptrace.server.registry import Campaign, plans_of
from ldptrace.server.storage import Session
from ldptrace.web.problems import Refused, ServerProblem, not_found, wrong_state


@dataclass(frozen=True)
class RoundCounts:
    """The counts of one round, or of one window of a standing plan."""

    number: int
    plan: Plan
    state: str
    reports: int
    window: int | None = None

    @property
    def begin(self) -> int:
        """The Unix time at which a window begins, or the number of a round."""
        standing = self.plan.standing
        return self.number if standing is None or self.window is None else standing.begin(self.window)

    @property
    def end(self) -> int:
        """The Unix time at which a window ends, or the number of the next round."""
        return self.begin + (1 if self.plan.standing is None else self.plan.standing.every)


def counts_of(session: Session, name: str) -> list[RoundCounts]:
    """Return the counts of all rounds that were opened."""
    plans = plans_of(session, name)
    found = session.rows(
        "SELECT number, plan, state, counted, time_window FROM rounds WHERE campaign = ? ORDER BY number",
        name,
    )
    return [RoundCounts(number, plans[plan], *rest) for number, plan, *rest in found]


def published(session: Session, name: str) -> list[RoundCounts]:
    """Return the released windows of a campaign, newest first."""
    done = {
        number
        for (number,) in session.rows(
            "SELECT number FROM releases WHERE campaign = ? AND number >= 0 AND state = 'done'", name
        )
    }
    found = [entry for entry in counts_of(session, name) if entry.number in done]
    return sorted(found, key=lambda one: (one.begin, one.number), reverse=True)


def rejections_of(session: Session, name: str) -> dict[str, int]:
    """Return the numbers of rejected reports by problem."""
    found = session.rows("SELECT problem, reports FROM rejections WHERE campaign = ? ORDER BY problem", name)
    return dict(found)


def tallies_of(session: Session, campaign: Campaign, *, whole: bool = False) -> list[tuple[Plan, Tally]]:
    """Return the tally and the plan of each round or window with enough reports. Raises `Refused` if no round has
    enough reports, or with `whole` if any round is missing or has too few.
    """
    tallies, short = [], f"campaign {campaign.name} was not opened yet"
    for entry in counts_of(session, campaign.name):
        if entry.reports < campaign.terms.min_reports:
            short = _too_few(campaign, entry)
        else:
            tallies.append((entry.plan, _tally(session, campaign.name, entry)))
    if len(tallies) < (campaign.rounds if whole else 1):
        raise Refused(ServerProblem.NOT_ENOUGH_REPORTS, short)
    return tallies


def tally_of(session: Session, campaign: Campaign, number: int, *, closed: bool = True) -> tuple[Plan, Tally]:
    """Return the tally and the plan of one round or window with enough reports, by default only if it is closed."""
    for entry in counts_of(session, campaign.name):
        if entry.number != number:
            continue
        if entry.reports < campaign.terms.min_reports:
            raise Refused(ServerProblem.NOT_ENOUGH_REPORTS, _too_few(campaign, entry))
        if closed and entry.state != "closed":
            raise wrong_state(f"round {number + 1} of campaign {campaign.name} is {entry.state}")
        return entry.plan, _tally(session, campaign.name, entry)
    raise not_found(f"campaign {campaign.name} has no round {number + 1}")


def windows_until(session: Session, campaign: Campaign, number: int) -> list[tuple[Plan, Tally]]:
    """Return the closed windows up to a given window, in order. Earlier windows with too few reports are omitted; the
    last one is checked as in `tally_of`.
    """
    tally_of(session, campaign, number)
    found = counts_of(session, campaign.name)
    closed = [one for one in found if one.state == "closed" and one.reports >= campaign.terms.min_reports]
    closed.sort(key=lambda one: (one.begin, one.number))
    end = [one.number for one in closed].index(number)
    return [(one.plan, _tally(session, campaign.name, one)) for one in closed[: end + 1]]


def _too_few(campaign: Campaign, entry: RoundCounts) -> str:
    return (
        f"round {entry.number + 1} of campaign {campaign.name} has {entry.reports:,} reports; below "
        f"{campaign.terms.min_reports:,} there are counts and predicted errors only"
    )


def _tally(session: Session, name: str, entry: RoundCounts) -> Tally:
    """Return the stored counts of one round or window."""
    asks = session.rows(
        "SELECT users, counts FROM tallies JOIN rounds ON rounds.key = tallies.round "
        "WHERE campaign = ? AND number = ? ORDER BY ask",
        name,
        entry.number,
    )
    users = tuple(int(row[0]) for row in asks)
    place = entry.plan.place(entry.number)
    slots = (ask.question.slots for ask in entry.plan.rounds[place].asks)
    return Tally(
        entry.plan.id,
        place,
        tuple(np.frombuffer(row[1], dtype="<i8").astype(np.int64) for row in asks),
        tuple(count * slot for count, slot in zip(users, slots, strict=True)),
        users,
        entry.window,
    )


def estimates_of(tallies: list[tuple[Plan, Tally]]) -> Estimates:
    """Return the estimates from all rounds together."""
    return Estimates.from_tallies(tallies[-1][0], (tally for _, tally in tallies))
