"""A campaign's plan from public facts."""

from __future__ import annotations

from typing import Literal

from ldptrace.errors import InputError
from ldptrace.protocol.exact import epsilon_fraction
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.shares import DEFAULT_SHARES, Wanted
from ldptrace.protocol.standing import Standing
from ldptrace.server.registry import TWO_ROUNDS


def plan_from_facts(
    users: int,
    epsilon: float | str,
    grid: int | Literal["auto"],
    bounds: Bounds,
    crs: str | None = None,
    method: str = "single-report",
    *,
    wanted: Wanted | None = None,
    standing: Standing | None = None,
) -> Plan:
    """The plan for the expected number of users; N by the smallest predicted error unless it is given.

    A `standing` plan is answered in every window, and some are asked how many trips they made.

    >>> plan_from_facts(1000, "1", "auto", (0.0, 0.0, 1.0, 1.0)).grid.n
    6
    """
    from ldptrace.curator.planning import choose_plan

    budget, wanted = epsilon_fraction(epsilon), wanted or Wanted()
    if users < 1 or users > 10**12:
        raise InputError(f"the expected number of users must be from 1 to 10^12, got {users}")
    if method in TWO_ROUNDS:
        if wanted.time or wanted.week or wanted.centre is not None:
            raise InputError(f"method {method} asks nothing about time")
        if standing is not None:
            raise InputError(f"method {method} has two rounds: a standing campaign asks in windows")
        return Plan.paper(Grid(bounds, 6 if grid == "auto" else grid), budget, method=method, crs=crs)
    if method != "single-report":
        raise InputError(
            f"a campaign's method is single-report, {', '.join(sorted(TWO_ROUNDS))}; got {method!r}"
        )
    if standing is not None:
        wanted = wanted.changed(questions=(*DEFAULT_SHARES, "trips"))
    n = None if grid == "auto" else grid
    plan, _ = choose_plan(users, budget, bounds, n=n, wanted=wanted, crs=crs)
    return plan.changed(standing=standing)
