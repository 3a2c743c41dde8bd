"""The states of a campaign: draft, round 1 open, closed, round 2 open, closed, published; or of a standing one: draft,
open with windows that open and close by the clock, closed.

Commands and the HTTP interface call the same functions. Each is one transaction, and writes to the audit log who called
it. `tick` does what is due by the clock.
"""

from __future__ import annotations

import contextlib

from ldptrace.curator import Tally
from ldptrace.curator.opening import CuratorKey
from ldptrace.errors import InputError
from ldptrace.models.lengths import length_quantile
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.reports import report_bytes
from ldptrace.protocol.seals import GENERATOR, sealed_bytes
from ldptrace.server.registry import Campaign, all_campaigns, find, is_name, note
from ldptrace.server.releases import DueRelease
from ldptrace.server.rounds import begin_round, estimates_of, plans_of, rounds_of, tallies_of
from ldptrace.server.seen import erase, settle_all
from ldptrace.server.storage import Database, Session, stored
from ldptrace.server.storage.base import OF_CAMPAIGN, OF_ROUND
from ldptrace.server.terms import Terms
from ldptrace.web.limits import MAX_UPLOAD
from ldptrace.web.problems import Refused, ServerProblem, wrong_state

QUANTILE = 0.9
# The method whose second round is not private.
UNPADDED = "paper-unpadded"
# Who does what is due by the clock, in the audit log.
SCHEDULE = "schedule"


def create(
    database: Database,
    name: str,
    plan: Plan,
    terms: Terms | None = None,
    *,
    actor: str,
    key: CuratorKey | None = None,
) -> Campaign:
    """Make a new campaign in the state draft. A shuffled plan without a key gets the public key of a pair that is drawn
    here; `key` is the private one of a plan that has a key."""
    terms = terms or Terms()
    plan, key = prepared(name, plan, terms, key)
    with database.writing() as session:
        if session.row("SELECT 1 FROM campaigns WHERE name = ?", name):
            raise Refused(ServerProblem.CAMPAIGN_EXISTS, f"there is a campaign {name} already")
        stated = vars(terms) | {"title": terms.title or name}
        session.insert("campaigns", name=name, state="draft", round=0, plan=plan.id, admission=0, **stated)
        keep_plan(session, name, plan, 0)
        if plan.shuffled is not None and key is not None:
            session.insert("keys", campaign=name, secret=key.text)
        note(session, actor, "create", name, f"plan {plan.id}")
        return find(session, name)


def prepared(
    name: str, plan: Plan, terms: Terms, key: CuratorKey | None = None
) -> tuple[Plan, CuratorKey | None]:
    """Return the plan of a new campaign, with its name, a nonce, so that no two campaigns have the same plan, and its
    public key; and the private key. Raise an error for impossible values."""
    if not is_name(name):
        raise InputError(
            f"a campaign is named with up to 64 small letters, digits and hyphens, got {name[:80]!r}"
        )
    opens, until = terms.opens, terms.until
    if opens is not None and until is not None and until <= opens:
        raise InputError("a campaign closes after it opens")
    if not plan.is_private or plan.method == UNPADDED:
        raise PlanRefused(Problem.PLAN_NOT_PRIVATE)
    check_batch(plan)
    if plan.shuffled is not None:
        plan = with_key(plan, GENERATOR if key is None else key.public)
        if plan.standing is None and until is not None:
            raise InputError(
                "the plan of a shuffled campaign says until when devices answer: give no other time"
            )
        if key is None:
            key = CuratorKey.drawn()
            plan = with_key(plan, key.public)
    if plan.extends is not None:
        raise InputError("a campaign begins with the first plan of its chain, this plan extends another one")
    if plan.campaign is None:
        plan = plan.changed(campaign=CampaignName.fresh(name))
    elif plan.campaign.name != name:
        raise InputError(f"the plan belongs to campaign {plan.campaign.name}, not to {name}")
    return plan, key


def with_key(plan: Plan, public: bytes) -> Plan:
    """Return a shuffled plan with this public key. A plan with another one is refused: nobody could open its reports.
    The generator of the curve, whose private key everybody knows, stands for no key."""
    shuffled = plan.shuffled
    assert shuffled is not None
    if shuffled.key not in (public, GENERATOR):
        raise InputError(
            "the plan has a public key, and its private key is missing: put the file PLAN.key, which `ldptrace plan` "
            "wrote, beside the plan, or give users, epsilon and bounds, and the campaign makes its own pair of keys"
            if public == GENERATOR
            else "the private key does not belong to the plan, so nobody could open its reports: give the key that "
            f"does, or make the plan with --key {public.hex()}"
        )
    return plan.changed(shuffled=shuffled.changed(key=public))


def check_batch(plan: Plan) -> None:
    """Raise `InputError` for a plan whose batches the server would not take."""
    if plan.shuffled is not None:
        # A batch may have twice as many reports as it needs.
        most = MAX_UPLOAD // 2 // sealed_bytes(report_bytes(plan.rounds[0]))
        if plan.shuffled.batch > most:
            raise InputError(
                f"the server takes batches of this plan of up to {2 * most:,} reports, so the least batch is at most "
                f"{most:,}, got {plan.shuffled.batch:,}"
            )


def keep_plan(session: Session, name: str, plan: Plan, number: int) -> None:
    """Store one more plan of a campaign."""
    session.insert("plans", campaign=name, id=plan.id, number=number, text=plan.to_json())


def open_round(database: Database, name: str, *, actor: str) -> Campaign:
    """Open the next round. After that, the plan cannot be changed."""
    with database.writing() as session:
        campaign = find(session, name, lock=True)
        if campaign.state == "open":
            raise wrong_state(f"round {campaign.round} of campaign {name} is open already")
        over = campaign.state == "closed" if campaign.plan.standing else campaign.round >= campaign.rounds
        if campaign.state == "published" or over:
            raise wrong_state(
                f"campaign {name} has {campaign.rounds} round{'s' if campaign.rounds > 1 else ''}, all of them "
                "closed: a closed round is not opened again"
            )
        number, plan, which = campaign.round, campaign.plan, ""
        # Windows of a standing plan open by themselves.
        if plan.standing is None:
            if number >= len(plan.rounds):
                # The second round depends on the reports of the first.
                lengths = estimates_of(tallies_of(session, campaign))["length"]
                plan = plan.paper_second_round(length_quantile(lengths, QUANTILE))
                keep_plan(session, name, plan, number)
            begin_round(session, name, number, Tally.zero(plan, number))
            number += 1
            which = f"round {number}, "
        change = "UPDATE campaigns SET state = 'open', round = ?, plan = ? WHERE name = ?"
        session.run(change, number, plan.id, name)
        note(session, actor, "open", name, f"{which}plan {plan.id}")
        return find(session, name)


def close(database: Database, name: str, *, actor: str, now: float) -> Campaign:
    """Close the open round of a campaign, and rewrite the ids of its reports so that their order is not stored. A
    standing campaign begins no further window; windows that have begun are counted until their time is over, and then
    the campaign is closed."""
    with database.writing() as session:
        campaign = find(session, name, lock=True)
        if campaign.state != "open":
            raise wrong_state(f"campaign {name} is {campaign.state}, there is nothing to close")
        if campaign.plan.standing is not None:
            _end_plans(session, name, int(now))
            session.run("UPDATE campaigns SET until = ? WHERE name = ?", int(now), name)
            note(session, actor, "end", name, "")
            return find(session, name)
        [newest] = rounds_of(session, name, open_only=True, lock=True)
        assert newest.key is not None
        session.run("UPDATE rounds SET state = 'closed' WHERE key = ?", newest.key)
        session.run("UPDATE campaigns SET state = 'closed' WHERE name = ?", name)
        settle_all(session, newest.key)
        note(session, actor, "close", name, f"round {campaign.round}, {newest.reports} reports")
        closed = find(session, name)
    erase(database, [(newest.key, newest.reports)], keep=True)
    return closed


def _end_plans(session: Session, name: str, at: int) -> None:
    """Let the newest plan of a standing campaign begin no window from this time on."""
    session.run("UPDATE plans SET ends = ? WHERE campaign = ? AND ends IS NULL", at, name)


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
        _end_plans(session, name, int(now))
        keep_plan(session, name, plan, len(known))
        session.run("UPDATE campaigns SET plan = ? WHERE name = ?", plan.id, name)
        note(session, actor, "change plan", name, f"plan {plan.id}")
        return find(session, name)


def delete(database: Database, name: str, *, actor: str) -> None:
    """Delete a campaign and all its counts. Published files that others have copied remain."""
    with database.writing() as session:
        campaign = find(session, name, lock=True)
        if campaign.state == "open":
            raise wrong_state(f"campaign {name} is open: close it before it is deleted")
        rounds = session.rows("SELECT key, counted FROM rounds WHERE campaign = ?", name)
        for key, _ in rounds:
            for table in OF_ROUND:
                session.run(f"DELETE FROM {table} WHERE round = ?", key)
        for table in OF_CAMPAIGN:
            session.run(f"DELETE FROM {table} WHERE campaign = ?", name)
        session.run("DELETE FROM tokens WHERE campaign = ?", name)
        session.run("DELETE FROM campaigns WHERE name = ?", name)
        note(session, actor, "delete", name, "")
    erase(database, rounds)


def close_windows(database: Database, name: str, now: float) -> list[int]:
    """Close the windows whose time is over, and delete the ids of their reports, because late reports are refused.
    Returns the numbers of their rounds, from 0."""
    with database.writing() as session:
        plans = plans_of(session, name)
        over = [
            one
            for one in rounds_of(session, name, plans, open_only=True, lock=True)
            if one.window is not None and now >= plans[one.plan.id].standing.counted(one.window)[1]
        ]
        for one in over:
            session.run(
                "UPDATE rounds SET state = 'closed', groups = 0, generation = generation + 1 WHERE key = ?",
                one.key,
            )
            session.run("DELETE FROM fresh WHERE round = ?", one.key)
            note(session, SCHEDULE, "close", name, f"window {one.window}, {one.reports} reports")
    if over:
        erase(database, [(one.key, one.reports) for one in over if one.key is not None])
    return [one.number for one in over]


def is_over(database: Database, name: str, now: float) -> bool:
    """Whether all windows of an ended campaign are over."""
    with database.reading() as session:
        plans = plans_of(session, name).values()
    for one in plans:
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
        open_round(database, campaign.name, actor=SCHEDULE)
    elif campaign.state == "open" and campaign.plan.standing is None:
        if until is not None and until <= now:
            close(database, campaign.name, actor=SCHEDULE, now=now)
    elif campaign.state == "open":
        name = campaign.name
        close_windows(database, name, now)
        if until is None or now < until:
            return
        # No window begins after the end of a campaign, which is closed after its last window.
        with database.writing() as session:
            _end_plans(session, name, until)
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
