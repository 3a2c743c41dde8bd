"""The rounds of campaigns and the windows of standing plans: which take reports, their rows, their tallies, and
estimates if there are enough reports.

A plan that is not standing has rounds that an operator opens. A window of a standing plan is counted from a day before
it begins until every device has had its time to answer it and `grace` to send (section 10 of the protocol); its row is
made when its first report is accepted, so that reports that are refused leave nothing behind.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldptrace.curator import Estimates, Tally
from ldptrace.protocol.limits import MAX_WINDOW
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import HEADER_BYTES, PLAN_AT, plan_prefix, window_of
from ldptrace.protocol.standing import Standing
from ldptrace.server.registry import Campaign, cached_plan
from ldptrace.server.storage import Session
from ldptrace.web.problems import Refused, ServerProblem, not_found, wrong_state

# Seconds within which the batch of a plan without windows is taken.
LATE = 366 * 86_400
_COLUMNS = "number, plan, state, counted, time_window, key, groups, generation"


@dataclass(frozen=True, eq=False)
class CountedPlan:
    """A plan of a campaign. A standing plan that was replaced begins no window after `ends`."""

    plan: Plan
    ends: int | None

    @property
    def standing(self) -> Standing:
        assert self.plan.standing is not None
        return self.plan.standing

    def is_counted(self, window: int, now: float) -> bool:
        """Whether reports of this window are counted now."""
        first, last = self.standing.counted(window)
        return self._begins(window) and first <= now < last

    def batch_taken(self, window: int | None) -> tuple[int, int]:
        """Return from when until when the batch of a window is taken: never, for a window that the shuffled plan does
        not have."""
        if self.plan.standing is None:
            until = None if self.plan.shuffled is None else self.plan.shuffled.until
            return (0, 0) if window is not None or until is None else (until, until + LATE)
        if window is None or not 0 <= window <= MAX_WINDOW or not self._begins(window):
            return 0, 0
        closed = self.standing.counted(window)[1]
        return closed, closed + self.standing.every

    def _begins(self, window: int) -> bool:
        return self.ends is None or self.standing.begin(window) < self.ends

    def window_named(self, report: bytes, now: float) -> int | None:
        """Return the window that a report of this plan names, if it is being counted."""
        if len(report) < HEADER_BYTES or report[PLAN_AT] != plan_prefix(self.plan):
            return None
        window = window_of(report)
        return window if self.is_counted(window, now) else None


def plans_of(session: Session, campaign: str) -> dict[str, CountedPlan]:
    """Return the plans of a campaign by their ids, oldest first."""
    rows = session.rows("SELECT id, text, ends FROM plans WHERE campaign = ? ORDER BY number", campaign)
    return {number: CountedPlan(cached_plan(text), ends) for number, text, ends in rows}


@dataclass(frozen=True)
class CountedRound:
    """A round that was opened, or a window of a standing plan. A window without a report has no row, and no `key`."""

    number: int
    plan: Plan
    state: str
    reports: int
    window: int | None = None
    key: int | None = None
    # Which rows of `fresh` are new.
    groups: int = 0
    generation: int = 0

    @property
    def place(self) -> int:
        """Which round of the plan it is."""
        return self.plan.place(self.number)

    @property
    def begin(self) -> int:
        """The Unix time at which a window begins, or the number of a round."""
        standing = self.plan.standing
        return self.number if standing is None or self.window is None else standing.begin(self.window)

    @property
    def end(self) -> int:
        """The Unix time at which a window ends, or the number of the next round."""
        return self.begin + (1 if self.plan.standing is None else self.plan.standing.every)


def rounds_of(
    session: Session,
    name: str,
    plans: dict[str, CountedPlan] | None = None,
    *,
    open_only: bool = False,
    lock: bool = False,
) -> list[CountedRound]:
    """Return the rounds and windows of a campaign that have a row, or those that are open. With `lock`, their rows do
    not change until the transaction ends."""
    plans = plans or plans_of(session, name)
    which = " AND state = 'open'" if open_only else ""
    end = session.for_update if lock else ""
    rows = session.rows(f"SELECT {_COLUMNS} FROM rounds WHERE campaign = ?{which} ORDER BY number{end}", name)
    return [CountedRound(number, plans[plan].plan, *rest) for number, plan, *rest in rows]


def window_round(session: Session, campaign: str, plan: Plan, window: int) -> CountedRound:
    """Return a window that is being counted, and lock its row. Until the end of the transaction, nobody else makes the
    row of a window that has none."""
    where = "campaign = ? AND plan = ? AND time_window = ?"
    select = f"SELECT {_COLUMNS} FROM rounds WHERE {where}{session.for_update}"
    row = session.row(select, campaign, plan.id, window)
    if row is None:
        # One process at a time makes rows of a campaign.
        session.row(f"SELECT 1 FROM campaigns WHERE name = ?{session.for_update}", campaign)
        row = session.row(select, campaign, plan.id, window)
    if row is None:
        return CountedRound(0, plan, "open", 0, window)
    return CountedRound(row[0], plan, *row[2:])


def begin_window(session: Session, campaign: str, round_: CountedRound) -> int:
    """Make the row of a window that gets its first report, and return its key."""
    [(number,)] = session.rows("SELECT coalesce(max(number) + 1, 0) FROM rounds WHERE campaign = ?", campaign)
    key = begin_round(session, campaign, number, Tally.zero(round_.plan, 0, round_.window))
    session.run("UPDATE campaigns SET round = ? WHERE name = ?", number + 1, campaign)
    return key


def begin_round(session: Session, name: str, number: int, zero: Tally) -> int:
    """Make the row of a new round or window with counts of 0, and return its key."""
    [(key,)] = session.rows(
        "INSERT INTO rounds (campaign, number, plan, state, counted, groups, generation, time_window) "
        "VALUES (?, ?, ?, 'open', 0, 0, 0, ?) RETURNING key",
        name,
        number,
        zero.plan_id,
        zero.window,
    )
    for ask, counts in enumerate(zero.counts):
        session.insert("tallies", round=key, ask=ask, users=0, counts=counts.astype("<i8").tobytes())
    return int(key)


def published(session: Session, name: str) -> list[CountedRound]:
    """Return the released windows of a campaign, newest first."""
    done = set(session.rows("SELECT number FROM releases WHERE campaign = ? AND state = 'done'", name))
    windows = [one for one in rounds_of(session, name) if (one.number,) in done]
    return sorted(windows, key=lambda one: (one.begin, one.number), reverse=True)


def rejections_of(session: Session, name: str) -> dict[str, int]:
    """Return the numbers of rejected reports by problem."""
    return dict(
        session.rows("SELECT problem, reports FROM rejections WHERE campaign = ? ORDER BY problem", name)
    )


def tallies_of(session: Session, campaign: Campaign, *, whole: bool = False) -> list[tuple[Plan, Tally]]:
    """Return the tally and the plan of each round or window with enough reports. Raises `Refused` if no round has
    enough reports, or with `whole` if any round is missing or has too few.
    """
    tallies, short = [], f"campaign {campaign.name} was not opened yet"
    for one in rounds_of(session, campaign.name):
        if one.reports < campaign.terms.min_reports:
            short = _too_few(campaign, one)
        else:
            tallies.append((one.plan, _tally(session, one)))
    if len(tallies) < (campaign.rounds if whole else 1):
        raise Refused(ServerProblem.NOT_ENOUGH_REPORTS, short)
    return tallies


def tally_of(session: Session, campaign: Campaign, number: int, *, closed: bool = True) -> tuple[Plan, Tally]:
    """Return the tally and the plan of one round or window with enough reports, by default only if it is closed."""
    round_ = next((one for one in rounds_of(session, campaign.name) if one.number == number), None)
    if round_ is None:
        raise not_found(f"campaign {campaign.name} has no round {number + 1}")
    if round_.reports < campaign.terms.min_reports:
        raise Refused(ServerProblem.NOT_ENOUGH_REPORTS, _too_few(campaign, round_))
    if closed and round_.state != "closed":
        raise wrong_state(f"round {number + 1} of campaign {campaign.name} is {round_.state}")
    return round_.plan, _tally(session, round_)


def windows_until(session: Session, campaign: Campaign, number: int) -> list[tuple[Plan, Tally]]:
    """Return the closed windows up to a given window, in order. Earlier windows with too few reports are omitted; the
    last one is checked as in `tally_of`.
    """
    tally_of(session, campaign, number)
    enough = campaign.terms.min_reports
    closed = [
        one for one in rounds_of(session, campaign.name) if one.state == "closed" and one.reports >= enough
    ]
    closed.sort(key=lambda one: (one.begin, one.number))
    end = [one.number for one in closed].index(number)
    return [(one.plan, _tally(session, one)) for one in closed[: end + 1]]


def _too_few(campaign: Campaign, one: CountedRound) -> str:
    return (
        f"round {one.number + 1} of campaign {campaign.name} has {one.reports:,} reports; below "
        f"{campaign.terms.min_reports:,} there are counts and predicted errors only"
    )


def _tally(session: Session, one: CountedRound) -> Tally:
    asks = session.rows("SELECT users, counts FROM tallies WHERE round = ? ORDER BY ask", one.key)
    users = tuple(int(row[0]) for row in asks)
    slots = (ask.question.slots for ask in one.plan.rounds[one.place].asks)
    return Tally(
        one.plan.id,
        one.place,
        tuple(np.frombuffer(row[1], dtype="<i8").astype(np.int64) for row in asks),
        tuple(count * slot for count, slot in zip(users, slots, strict=True)),
        users,
        one.window,
    )


def estimates_of(tallies: list[tuple[Plan, Tally]]) -> Estimates:
    """Return the estimates from all rounds together."""
    return Estimates.from_tallies(tallies[-1][0], (tally for _, tally in tallies))
