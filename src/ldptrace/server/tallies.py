"""What was counted: reports of each round and window, their tallies, and estimates from as many as are needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ldptrace.curator import Estimates, Tally
from ldptrace.protocol.plan import Plan
from ldptrace.server.problems import Refused, ServerProblem
from ldptrace.server.registry import Campaign, plans_of
from ldptrace.server.storage import Session


@dataclass(frozen=True)
class RoundCounts:
    """What was counted in one round, or in one window of a standing plan."""

    number: int
    # The id under which the plan was published.
    plan_id: str
    plan: Plan
    state: str
    reports: int
    window: int | None = None


def counts_of(session: Session, name: str) -> list[RoundCounts]:
    """The rounds that were opened."""
    plans = plans_of(session, name)
    found = session.rows(
        "SELECT number, plan, state, counted, time_window FROM rounds WHERE campaign = ? ORDER BY number",
        name,
    )
    return [RoundCounts(number, plan, plans[plan], *rest) for number, plan, *rest in found]


def rejections_of(session: Session, name: str) -> dict[str, int]:
    """Reports that were not counted, by problem."""
    found = session.rows("SELECT problem, reports FROM rejections WHERE campaign = ? ORDER BY problem", name)
    return dict(found)


def tallies_of(session: Session, campaign: Campaign, *, whole: bool = False) -> list[tuple[Plan, Tally]]:
    """The tally, with its plan, of each round that has as many reports as the campaign needs.

    Raises `Refused` if no round has, or with `whole` if not every round was asked and has.
    """
    plans = plans_of(session, campaign.name)
    tallies, short = [], f"campaign {campaign.name} was not opened yet"
    for key, number, plan_id, counted in session.rows(
        "SELECT key, number, plan, counted FROM rounds WHERE campaign = ? ORDER BY number", campaign.name
    ):
        if counted < campaign.min_reports:
            short = (
                f"round {number + 1} of campaign {campaign.name} has {counted:,} reports; below "
                f"{campaign.min_reports:,} there are counts and predicted errors only"
            )
            continue
        plan = plans[plan_id]
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
