"""What happens by the clock: campaigns open and close, windows of standing campaigns close, their plans are replaced,
and releases are due."""

from __future__ import annotations

import contextlib

from ldptrace.errors import InputError
from ldptrace.protocol.plan import Plan
from ldptrace.server.campaigns import check_batch, close_round, keep_plan, open_round, with_key
from ldptrace.server.registry import Campaign, all_campaigns, find, note, plans_of
from ldptrace.server.releases import DueRelease
from ldptrace.server.seen import erase
from ldptrace.server.storage import Database, stored
from ldptrace.server.windows import counted_plans
from ldptrace.web.problems import Refused, wrong_state

ACTOR = "schedule"


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
        old, new = campaign.plan.shuffled, plan.shuffled
        if (old is None) != (new is None):
            raise InputError("a campaign goes on with plans of its kind: shuffled, or answered directly")
        check_batch(plan)
        if old is not None:
            plan = with_key(plan, old.key)
        plan = plan.changed(campaign=campaign.plan.campaign)
        known = plans_of(session, name)
        if plan.id in known:
            raise InputError(f"campaign {name} has had this plan already, {plan.id[:12]}")
        session.run("UPDATE plans SET ends = ? WHERE campaign = ? AND ends IS NULL", int(now), name)
        keep_plan(session, name, plan, len(known))
        session.run("UPDATE campaigns SET plan = ? WHERE name = ?", plan.id, name)
        note(session, actor, "change plan", name, f"plan {plan.id}")
        return find(session, name)


def close(database: Database, name: str, *, actor: str, now: float) -> Campaign:
    """Close the open round of a campaign. A standing campaign begins no further window; windows that have begun are
    counted until their time is over, and then the campaign is closed."""
    with database.reading() as session:
        standing = find(session, name).plan.standing
    if standing is None:
        return close_round(database, name, actor=actor)
    with database.writing() as session:
        campaign = find(session, name, lock=True)
        if campaign.state != "open":
            raise wrong_state(f"campaign {name} is {campaign.state}: it cannot be ended")
        session.run("UPDATE plans SET ends = ? WHERE campaign = ? AND ends IS NULL", int(now), name)
        session.run("UPDATE campaigns SET until = ? WHERE name = ?", int(now), name)
        note(session, actor, "end", name, "")
        return find(session, name)


def close_windows(database: Database, name: str, now: float) -> list[int]:
    """Close the windows whose time is over, and delete the ids of their reports, because late reports are refused.
    Returns the numbers of their rounds, from 0."""
    closed, keys = [], []
    with database.writing() as session:
        plans = {one.plan.id: one for one in counted_plans(session, name)}
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
            note(session, ACTOR, "close", name, f"window {window}, {counted} reports")
            closed.append(number)
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


def tick(database: Database, now: float) -> list[DueRelease]:
    """Do the work that is due at the Unix time `now`, and return the releases that are due. Several processes may call
    this at the same time."""
    with database.reading() as session:
        known = all_campaigns(session)
    for campaign in known:
        # Another process may have been quicker.
        with contextlib.suppress(Refused):
            _advance(database, campaign, now)
    return due_releases(database)


def _advance(database: Database, campaign: Campaign, now: float) -> None:
    """Open, close or end one campaign, if that is due."""
    opens, until = campaign.terms.opens, campaign.terms.until
    if campaign.state == "draft" and opens is not None and opens <= now and (until is None or now < until):
        open_round(database, campaign.name, actor=ACTOR)
    elif campaign.state == "open" and campaign.plan.standing is None:
        if until is not None and until <= now:
            close_round(database, campaign.name, actor=ACTOR)
    elif campaign.state == "open":
        name = campaign.name
        close_windows(database, name, now)
        if until is None or now < until:
            return
        # No window begins after the end of a campaign, which is closed after its last window.
        with database.writing() as session:
            session.run("UPDATE plans SET ends = ? WHERE campaign = ? AND ends IS NULL", until, name)
        if is_over(database, name, now):
            with database.writing() as session:
                session.run("UPDATE campaigns SET state = 'closed' WHERE name = ?", name)


def due_releases(database: Database) -> list[DueRelease]:
    """Return the releases that were not begun or that failed, for closed windows and for campaigns that closed on
    schedule."""
    with database.reading() as session:
        windows = session.rows(
            "SELECT rounds.campaign, rounds.number FROM rounds JOIN campaigns ON campaigns.name = rounds.campaign "
            "LEFT JOIN releases ON releases.campaign = rounds.campaign AND releases.number = rounds.number "
            "WHERE rounds.state = 'closed' AND time_window IS NOT NULL AND counted >= min_reports "
            "AND (releases.state IS NULL OR releases.state = 'failed') ORDER BY rounds.campaign, rounds.number"
        )
        scheduled = session.rows(
            "SELECT name FROM campaigns LEFT JOIN releases ON releases.campaign = name AND releases.number = ? "
            "WHERE campaigns.state = 'closed' AND until IS NOT NULL "
            "AND (releases.state IS NULL OR releases.state = 'failed') ORDER BY name",
            stored(None),
        )
        known = {one.name: one for one in all_campaigns(session)}
        once = [known[name] for (name,) in scheduled if known[name].plan.standing is None]
        whole = [campaign.name for campaign in once if campaign.round >= campaign.rounds]
    return [DueRelease(*row) for row in windows] + [DueRelease(name, None) for name in whole]
