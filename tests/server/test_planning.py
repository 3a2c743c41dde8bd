from __future__ import annotations

import pytest

from ldptrace.curator.planning import choose_plan
from ldptrace.errors import InputError
from ldptrace.protocol.questions import Pace
from ldptrace.protocol.shares import Wanted
from ldptrace.server.planning import plan_from_facts

BOX = (0.0, 0.0, 10.0, 10.0)


def test_the_grid_is_given_or_follows_from_the_users() -> None:
    assert plan_from_facts(1000, "1", 9, BOX).grid.n == 9
    few, many = (plan_from_facts(users, "1", "auto", BOX).grid.n for users in (1000, 10**8))
    assert few < many


def test_epsilon_is_exact_and_the_coordinate_system_is_kept() -> None:
    plan = plan_from_facts(1000, "0.1", 4, BOX, crs="EPSG:25833")
    assert str(plan.epsilon) == "1/10"
    assert plan.crs == "EPSG:25833"
    assert plan.is_private


def test_time_is_asked_for_in_the_coordinates_of_the_map() -> None:
    """The plan of a campaign is that of `ldptrace plan` from the same facts: degrees become metres."""
    world = (13.0, 52.0, 14.0, 53.0)
    wanted = Wanted(time=True, week=True, centre=(13.2, 52.2), for_map=True)
    made = plan_from_facts(1000, "1", 4, world, "EPSG:4326", wanted=wanted)
    same, _ = choose_plan(1000, 1.0, world, n=4, wanted=wanted, crs="EPSG:4326")
    assert made.id == same.id
    [pace] = [ask.question for ask in made.rounds[0].asks if isinstance(ask.question, Pace)]
    assert pace.y_scale == pytest.approx(111_320_000, rel=0.01)
    assert "departure" not in {ask.question.name for ask in plan_from_facts(9, 1, 4, BOX).rounds[0].asks}


def test_methods_of_two_rounds_begin_with_the_first() -> None:
    plan = plan_from_facts(1000, 1, "auto", BOX, method="paper")
    assert (plan.method, len(plan.rounds)) == ("paper", 1)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ((0, 1, 4, BOX), "expected number of users"),
        ((10**13, 1, 4, BOX), "expected number of users"),
        ((9, 0, 4, BOX), "epsilon"),
        ((9, 1, 4, (0, 0, 0, 1)), "bounds"),
        ((9, 1, 4, BOX, None, "other"), "a campaign's method is single-report"),
        ((9, 1, 4, BOX, None, "paper-unpadded"), "a campaign's method is single-report"),
    ],
)
def test_facts_that_make_no_plan(facts: tuple[object, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        plan_from_facts(*facts)  # type: ignore[arg-type]
