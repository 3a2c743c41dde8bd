"""The states of a standing campaign: windows are closed, plans are replaced, and the campaign ends after its last
window."""

from __future__ import annotations

from dataclasses import dataclass

from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.shuffled import Shuffled
from ldptrace.server.campaigns import close_round, keep_plan
from ldptrace.server.registry import Campaign, find, note, plans_of
from ldptrace.server.seen import erase
from ldptrace.server.storage import Database
from ldptrace.server.windows import counted_plans
from ldptrace.web.problems import wrong_state


@dataclass(frozen=True)
class ClosedWindow:
    """A window that was just closed."""

    # Of the round in the database, from 0.
    number: int
    window: int
    reports: int


def change_plan(database: Database, name: str, plan: Plan, *, actor: str, now: float) -> Campaign:
    """Continue a campaign with another plan. Windows of the old plan that have begun are counted until their time is
    over."""
    with database.writing() as session:
        campaign = find(session, name, lock=True)
        if campaign.plan.standing is None or campaign.state not in ("draft", "open"):
            raise wrong_state(
                f"campaign {name} is {campaign.state}: only the plan of a standing campaign that goes on can change"
            )
        if plan.standing is None:
            raise InputError("a standing campaign goes on with a standing plan: give it windows")
        plan = plan.changed(campaign=campaign.plan.campaign, shuffled=_same_key(campaign.plan, plan))
        known = plans_of(session, name)
        if plan.id in known:
            raise InputError(f"campaign {name} has had this plan already, {plan.id[:12]}")
        session.run("UPDATE plans SET ends = ? WHERE campaign = ? AND ends IS NULL", int(now), name)
        keep_plan(session, name, plan, len(known))
        session.run("UPDATE campaigns SET plan = ? WHERE name = ?", plan.id, name)
        note(session, actor, "change plan", name, f"plan {plan.id}")
        return find(session, name)


def _same_key(old: Plan, new: Plan) -> Shuffled | None:
    """Return what the new plan of a campaign says of its shuffler, with the key of the campaign."""
    if (old.shuffled is None) != (new.shuffled is None):
        raise InputError("a campaign goes on with plans of its kind: shuffled, or answered directly")
    return (
        None if old.shuffled is None or new.shuffled is None else new.shuffled.changed(key=old.shuffled.key)
    )


def close(database: Database, name: str, *, actor: str, now: float) -> Campaign:
    """Close the open round of a campaign, or begin no further window of a standing campaign."""
    with database.reading() as session:
        standing = find(session, name).plan.standing
    if standing is None:
        return close_round(database, name, actor=actor)
    return end(database, name, actor=actor, now=now)


def end(database: Database, name: str, *, actor: str, now: float) -> Campaign:
    """Begin no further window. Windows that have begun are counted until their time is over; then the campaign is
    closed."""
    with database.writing() as session:
        campaign = find(session, name, lock=True)
        if campaign.plan.standing is None or campaign.state != "open":
            raise wrong_state(f"campaign {name} is {campaign.state}: it cannot be ended")
        session.run("UPDATE plans SET ends = ? WHERE campaign = ? AND ends IS NULL", int(now), name)
        session.run("UPDATE campaigns SET until = ? WHERE name = ?", int(now), name)
        note(session, actor, "end", name, "")
        return find(session, name)


def close_windows(database: Database, name: str, now: float) -> list[ClosedWindow]:
    """Close the windows whose time is over, and delete the ids of their reports, because late reports are refused."""
    closed, keys = [], []
    with database.writing() as session:
        plans = {one.id: one for one in counted_plans(session, name)}
        for key, number, plan, window, counted in session.rows(
            "SELECT key, number, plan, time_window, counted FROM rounds WHERE campaign = ? AND state = 'open' "
            f"AND time_window IS NOT NULL ORDER BY number{session.for_update}",
            name,
        ):
            if now < plans[plan].standing.counted(window)[1]:
                continue
            session.run(
                "UPDATE rounds SET state = 'closed', groups = 0, generation = generation + 1 WHERE key = ?",
                key,
            )
            session.run("DELETE FROM fresh WHERE round = ?", key)
            note(session, "schedule", "close", name, f"window {window}, {counted} reports")
            closed.append(ClosedWindow(number, window, counted))
            keys.append((key, counted))
    for key, counted in keys:
        erase(database, key, counted)
    if keys:
        database.tidy()
    return closed


def is_over(database: Database, name: str, now: float) -> bool:
    """Whether all windows of an ended campaign are over."""
    with database.reading() as session:
        for one in counted_plans(session, name):
            if one.ends is None:
                return False
            last = max(0, -((one.standing.start - one.ends) // one.standing.every) - 1)
            counted = one.standing.counted(last) if one.plan.shuffled is None else one.batch_taken(last)
            if now < counted[1]:
                return False
    return True
