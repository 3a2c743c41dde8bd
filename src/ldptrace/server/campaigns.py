"""The states of a campaign: draft, round 1 open, closed, round 2 open, closed, published.

Commands and the HTTP interface call the same functions. Each function is one transaction, and writes to the audit log
who called it.
"""

from __future__ import annotations

from ldptrace.curator import Tally
from ldptrace.curator.opening import CuratorKey
from ldptrace.errors import InputError
from ldptrace.models.lengths import length_quantile
from ldptrace.protocol.plan import CampaignName, Plan
from ldptrace.protocol.problems import PlanRefused, Problem
from ldptrace.protocol.reports import report_bytes
from ldptrace.protocol.seals import GENERATOR, sealed_bytes
from ldptrace.server.registry import Campaign, find, is_name, note
from ldptrace.server.seen import erase, rewrite, settle_all
from ldptrace.server.storage import Database, Session
from ldptrace.server.storage.schema import OF_CAMPAIGN, OF_ROUND
from ldptrace.server.tallies import estimates_of, tallies_of
from ldptrace.server.terms import Terms
from ldptrace.server.windows import begin_round
from ldptrace.web.limits import MAX_UPLOAD
from ldptrace.web.problems import Refused, ServerProblem, wrong_state

QUANTILE = 0.9
# The method whose second round is not private.
UNPADDED = "paper-unpadded"


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
    check_new(name, plan, terms, key)
    if plan.shuffled is not None:
        key = key or CuratorKey.drawn()
        plan = with_key(plan, key.public)
    plan = named(plan, name)
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


def check_new(name: str, plan: Plan, terms: Terms, key: CuratorKey | None = None) -> None:
    """Raise an error for a campaign with impossible values. `key` is the private key of its plan, if it has one."""
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
        with_key(plan, GENERATOR if key is None else key.public)
    if plan.shuffled is not None and plan.standing is None and terms.until is not None:
        raise InputError("the plan of a shuffled campaign says until when devices answer: give no other time")
    if plan.extends is not None:
        raise InputError("a campaign begins with the first plan of its chain, this plan extends another one")


def named(plan: Plan, name: str) -> Plan:
    """Return the plan with the name of the campaign and a new nonce, so that no two campaigns have the same plan."""
    if plan.campaign is None:
        return plan.changed(campaign=CampaignName.fresh(name))
    if plan.campaign.name != name:
        raise InputError(f"the plan belongs to campaign {plan.campaign.name}, not to {name}")
    return plan


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
        if campaign.plan.standing is not None:
            # Its windows open by themselves.
            session.run("UPDATE campaigns SET state = 'open' WHERE name = ?", name)
            note(session, actor, "open", name, f"plan {campaign.plan.id}")
            return find(session, name)
        number, plan = campaign.round, campaign.plan
        if number >= len(plan.rounds):
            # The second round depends on the reports of the first.
            lengths = estimates_of(tallies_of(session, campaign))["length"]
            plan = plan.paper_second_round(length_quantile(lengths, QUANTILE))
            keep_plan(session, name, plan, number)
        begin_round(session, name, number, Tally.zero(plan, number))
        session.run(
            "UPDATE campaigns SET state = 'open', round = ?, plan = ? WHERE name = ?",
            number + 1,
            plan.id,
            name,
        )
        note(session, actor, "open", name, f"round {number + 1}, plan {plan.id}")
        return find(session, name)


def close_round(database: Database, name: str, *, actor: str) -> Campaign:
    """Close the open round, and rewrite the ids of its reports so that their order is not stored."""
    with database.writing() as session:
        campaign = find(session, name, lock=True)
        if campaign.state != "open":
            raise wrong_state(f"campaign {name} is {campaign.state}, there is no open round to close")
        if campaign.plan.standing is not None:
            raise wrong_state(f"campaign {name} is standing: its windows close by themselves")
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
    for key, counted in rounds:
        erase(database, key, counted)
    database.tidy()
