"""A campaign's plan from public facts."""

from __future__ import annotations

from typing import Literal

from ldptrace.errors import InputError
from ldptrace.protocol.exact import epsilon_fraction
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.protocol.plan import Plan
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
    for_map: bool = False,
    time: bool = False,
    week: bool = False,
    centre: tuple[float, float] | None = None,
    standing: Standing | None = None,
) -> Plan:
    """The plan for so many expected users; N by the smallest predicted error unless it is given.

    `for_map`: trips will follow a street map, so that fewer people are asked what the map tells already. `time`: some
    are asked when they leave and how fast they are, with `week` on which day too, and whether their trips lead towards
    a public `centre`. With `standing` it is answered in every window, and some are asked how many trips they made.

    >>> plan_from_facts(1000, "1", "auto", (0.0, 0.0, 1.0, 1.0)).grid.n
    6
    """
    from ldptrace.curator.planning import choose_plan

    budget = epsilon_fraction(epsilon)
    if users < 1 or users > 10**12:
        raise InputError(f"the expected number of users must be from 1 to 10^12, got {users}")
    area = Grid(bounds, 6 if grid == "auto" else grid)
    if method in TWO_ROUNDS:
        if time or week or centre is not None:
            raise InputError(f"method {method} asks nothing about time")
        if standing is not None:
            raise InputError(f"method {method} has two rounds: a standing campaign asks in windows")
        return Plan.paper(area, budget, method=method, crs=crs)
    if method != "single-report":
        raise InputError(
            f"a campaign's method is single-report, {', '.join(sorted(TWO_ROUNDS))}; got {method!r}"
        )
    plan, view = choose_plan(
        users,
        budget,
        bounds,
        n=None if grid == "auto" else grid,
        for_map=for_map,
        time=time,
        week=week,
        centre=centre,
        crs=crs,
    )
    if standing is None:
        return plan
    names = [ask.question.name for ask in plan.rounds[0].asks if not ask.question.about_time]
    return Plan.single_report(
        plan.grid,
        budget,
        most_moves=view.most_moves,
        cap=view.cap,
        for_map=for_map,
        time=time,
        week=week,
        centre=centre,
        crs=crs,
        questions=[*names, "trips"],
    ).changed(standing=standing)
