"""The rounds and windows for which reports are counted, and their rows in the database.

A plan that is not standing has rounds that an operator opens. A window of a standing plan is counted from a day before
it begins until every device has had its time to answer it and `grace` to send (section 10 of the protocol); its row is
made when its first report is accepted, so that reports that are refused leave nothing behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ldptrace.curator import Tally
from ldptrace.protocol.limits import MAX_WINDOW
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.reports import HEADER_BYTES, PLAN_AT, ROUND_AT, plan_prefix, window_of
from ldptrace.protocol.standing import Standing
from ldptrace.server.registry import cached_plan
from ldptrace.server.storage import Session

# Seconds within which the batch of a plan without windows is taken.
LATE = 366 * 86_400
_COLUMNS = "key, number, time_window, state, counted, groups, generation"


@dataclass(frozen=True, eq=False)
class CountedPlan:
    """A plan of a campaign. A standing plan that was replaced begins no window after `ends`. Objects are compared by
    identity, because comparing whole plans takes long.
    """

    plan: Plan
    ends: int | None

    @property
    def standing(self) -> Standing:
        assert self.plan.standing is not None
        return self.plan.standing

    def is_counted(self, window: int, now: float) -> bool:
        """Whether reports of this window are counted now."""
        first, last = self.standing.counted(window)
        begun = self.ends is None or self.standing.begin(window) < self.ends
        return begun and first <= now < last

    def batch_taken(self, window: int | None) -> tuple[int, int]:
        """Return from when until when the batch of a window is taken: never, for a window that the shuffled plan does
        not have."""
        shuffled = self.plan.shuffled
        assert shuffled is not None
        if self.plan.standing is None:
            until = shuffled.until
            return (0, 0) if window is not None or until is None else (until, until + LATE)
        if window is None or not 0 <= window <= MAX_WINDOW:
            return 0, 0
        if self.ends is not None and self.standing.begin(window) >= self.ends:
            return 0, 0
        closed = self.standing.counted(window)[1]
        return closed, closed + self.standing.every


@dataclass(frozen=True)
class OpenRound:
    """A round or window with a locked row, or a window that has none yet (`key` is None)."""

    key: int | None
    plan: Plan
    # Which round of the plan it is, and which window of a standing one.
    number: int
    window: int | None
    open: bool
    counted: int
    groups: int
    generation: int


def counted_plans(session: Session, campaign: str) -> list[CountedPlan]:
    """Return the plans of a campaign, oldest first."""
    found = session.rows("SELECT text, ends FROM plans WHERE campaign = ? ORDER BY number", campaign)
    return [CountedPlan(cached_plan(text), ends) for text, ends in found]


def opened_rounds(session: Session, campaign: str, plans: Sequence[CountedPlan]) -> list[OpenRound]:
    """Return the rounds of plans that are not standing, and lock their rows."""
    found = session.rows(
        f"SELECT plan, {_COLUMNS} FROM rounds WHERE campaign = ? AND time_window IS NULL "
        f"ORDER BY number{session.for_update}",
        campaign,
    )
    by_id = {one.plan.id: one.plan for one in plans}
    return [_round(by_id[plan], row) for plan, *row in found]


def window_round(session: Session, campaign: str, plan: CountedPlan, window: int) -> OpenRound:
    """Return the locked row of a window that is being counted. A window without a report has no row, and until the end
    of the transaction nobody else makes it."""
    where = "campaign = ? AND plan = ? AND time_window = ?"
    select = f"SELECT {_COLUMNS} FROM rounds WHERE {where}{session.for_update}"
    found = session.row(select, campaign, plan.plan.id, window)
    if found is None:
        # One process at a time makes rows of a campaign.
        session.row(f"SELECT 1 FROM campaigns WHERE name = ?{session.for_update}", campaign)
        found = session.row(select, campaign, plan.plan.id, window)
    if found is None:
        return OpenRound(None, plan.plan, 0, window, True, 0, 0, 0)
    return _round(plan.plan, list(found))


def begin_window(session: Session, campaign: str, round_: OpenRound) -> int:
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


def plan_named(plans: Sequence[CountedPlan], report: bytes) -> CountedPlan:
    """Return the plan that a report names, or the newest plan, whose checks then refuse the report."""
    for one in plans[:-1]:
        if report[PLAN_AT] == plan_prefix(one.plan):
            return one
    return plans[-1]


def round_named(rounds: Sequence[OpenRound], report: bytes) -> int:
    """Return the index of the round that a report names, or of the newest round."""
    for place, round_ in enumerate(rounds[:-1]):
        if report[PLAN_AT] == plan_prefix(round_.plan) and report[ROUND_AT] == bytes([round_.number]):
            return place
    return len(rounds) - 1


def window_named(plan: CountedPlan, report: bytes, now: float) -> int | None:
    """Return the window that a report names, if this window of the plan is being counted."""
    if len(report) < HEADER_BYTES or report[PLAN_AT] != plan_prefix(plan.plan):
        return None
    window = window_of(report)
    return window if plan.is_counted(window, now) else None


def _round(plan: Plan, row: Sequence[object]) -> OpenRound:
    key, number, window, state, *rest = row
    return OpenRound(key, plan, plan.place(number), window, state == "open", *rest)  # type: ignore[arg-type]
