from __future__ import annotations

import pytest

from ldptrace.curator.facts import Facts
from ldptrace.curator.planning import (
    FLAT,
    GRIDS,
    MAP_GRID,
    choose_grid,
    map_districts,
    outlook,
    standard_errors,
)
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.round import SHARES
from ldptrace.protocol.shares import MAP_SHARES, TOLD_ON_MAP
from ldptrace.protocol.words import explain

BOUNDS = (0.0, 0.0, 1.0, 1.0)


def test_more_users_and_more_budget_allow_finer_grids() -> None:
    assert choose_grid(10_000, 1.0) <= choose_grid(300_000, 1.0) <= choose_grid(3_000_000, 1.0)
    assert choose_grid(300_000, 0.5) <= choose_grid(300_000, 2.0)


def test_finer_cells_may_not_make_trips_worse() -> None:
    """30,000 users at epsilon 4: the traffic of a ninth of the area is best known on 12 x 12 cells, trips are not."""
    assert outlook(30_000, 4.0, 12).error < outlook(30_000, 4.0, 6).error
    assert choose_grid(30_000, 4.0) == 6
    assert choose_grid(3_000_000, 8.0) > 6


def test_a_map_allows_finer_cells_where_noise_does() -> None:
    for users in (1_000, 100_000, 400_000, 30_000_000):
        plain, mapped = (choose_grid(users, 1.0, for_map=given) for given in (False, True))
        assert mapped >= (MAP_GRID if users >= 400_000 else plain)
        assert mapped == plain or users >= 400_000
    assert Facts(400_000, 1.0, BOUNDS, for_map=True).plan().grid.n == MAP_GRID


def test_pairs_are_asked_on_a_map_where_they_can_be_learned() -> None:
    for users, epsilon, districts in ((300_000, 1, 0), (300_000, 2, 4), (100_000, 5, 4), (150_000, 5, 6)):
        assert map_districts(users, epsilon, 6) == districts
        (round_,) = Facts(users, epsilon, BOUNDS, grid=6, for_map=True).plan().rounds
        asked = {ask.question.name: ask for ask in round_.asks}
        assert ("pairs" in asked) == (districts > 0)
        if districts:
            assert asked["pairs"].question.parameters()["districts"] == districts
            told = TOLD_ON_MAP[districts]
            assert {name: asked[name].share / SHARES for name in told} == pytest.approx(told, abs=2e-3)
            assert ("moves" in told) == (districts == 6)
            # All others keep their proportions.
            assert asked["visits"].share / asked["terminals"].share == pytest.approx(
                MAP_SHARES["visits"] / MAP_SHARES["terminals"], rel=2e-2
            )
    assert map_districts(10_000_000, 5, 3) == 0
    assert map_districts(10_000_000, 5, MAP_GRID) == 4
    # With shares of one's own nothing else is asked than they say.
    facts = Facts(300_000, 5, BOUNDS, for_map=True, shares=MAP_SHARES)
    assert "pairs" not in {ask.question.name for ask in facts.plan().rounds[0].asks}


def test_the_choice_is_the_best_of_its_neighbours() -> None:
    facts = Facts(300_000, 1.0, BOUNDS)
    view = facts.outlook()
    assert view is not None
    assert facts.plan().grid.n == view.n
    for n in GRIDS:
        assert outlook(300_000, 1.0, n).error >= view.error
    # The optimum of m is flat; the largest m near it is taken.
    best = min(outlook(300_000, 1.0, view.n, most_moves=m).noise for m in range(1, 12))
    assert view.noise <= FLAT * best < outlook(300_000, 1.0, view.n, most_moves=view.most_moves + 1).noise


def test_longer_trips_need_larger_sets() -> None:
    assert outlook(100_000, 1.0, 8, trip=0.2).most_moves < outlook(100_000, 1.0, 8, trip=2.0).most_moves


def test_errors_shrink_with_the_root_of_the_users() -> None:
    plan = Facts(10_000, 1.0, BOUNDS).plan()
    few, many = standard_errors(plan, 10_000), standard_errors(plan, 40_000)
    for name in few:
        assert few[name] == pytest.approx(2 * many[name], rel=0.01)


@pytest.mark.parametrize(("users", "trip"), [(0, 0.5), (100, 0.0), (100, -1.0), (100, 99.0)])
def test_impossible_facts_are_refused(users: int, trip: float) -> None:
    with pytest.raises(InputError):
        outlook(users, 1.0, 6, trip=trip)


@pytest.mark.parametrize("n", [0, 1, -3, 257])
def test_impossible_grids_are_refused(n: int) -> None:
    with pytest.raises(InputError, match="from 2 to 256"):
        outlook(1000, 1.0, n)


def test_a_plan_says_who_sends_what() -> None:
    plan = Plan.single_report(Grid(BOUNDS, 6), 1.0)
    text = "\n".join(explain(plan, 100_000))
    assert "1 message in all" in text
    assert "without looking at its data" in text
    assert "standard error" in text
    for ask in plan.rounds[0].asks:
        assert f"  {ask.question.name}: " in text


def test_a_plan_that_leaks_says_so() -> None:
    plan = Plan.paper(Grid(BOUNDS, 6), 1.0, method="paper-unpadded").paper_second_round(7)
    assert "NOT PRIVATE" in "\n".join(explain(plan))
