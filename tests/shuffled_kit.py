"""Shuffled plans whose private key is known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ldptrace.curator.opening import CuratorKey
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.shuffled import Shuffled
from ldptrace.protocol.shuffling import stated_epsilon
from ldptrace.protocol.standing import Standing

KEY = CuratorKey.from_text("5")
# Far from now, because some tests run shufflers by the clock of the machine.
UNTIL = 4_000_000_000


def shuffled(plan: Plan, batch: int = 10_000, **changes: Any) -> Plan:
    """The plan through a shuffler, with the central epsilon that follows."""
    central = Fraction(str(stated_epsilon(batch * 9 // 10, float(plan.epsilon), 1e-8)))
    lifetime, until = (None, UNTIL) if plan.standing is None else (10 * central, None)
    row = Shuffled(KEY.public, batch, 0.9, 1e-8, central, lifetime, until, "A club", "https://club.example")
    return plan.changed(shuffled=row.changed(**changes))


def weekly(plan: Plan, answers: int = 5, **changes: Any) -> Plan:
    """The plan once a week through a shuffler."""
    week = Standing.of(604_800, epsilon=plan.epsilon, lifetime=answers * plan.epsilon)
    return shuffled(plan.changed(standing=week), **changes)
