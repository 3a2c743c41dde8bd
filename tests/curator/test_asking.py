from __future__ import annotations

from itertools import pairwise

import pytest

from ldptrace.curator.asking import MOST_STATES, asked, shares_of
from ldptrace.curator.facts import Facts
from ldptrace.protocol.shares import DEFAULT_SHARES

BOUNDS = (0.0, 0.0, 1.0, 1.0)


def test_few_users_are_asked_what_they_were_without_both_questions() -> None:
    found = asked(5_000, 1.0, 6)
    assert found.shares == pytest.approx(DEFAULT_SHARES)
    assert found.districts == 0


@pytest.mark.parametrize(("users", "epsilon"), [(6_000, 5.0), (100_000, 1.0)])
def test_small_gains_are_not_promised(users: int, epsilon: float) -> None:
    """Both questions would be predicted to remove a fourteenth of the errors here."""
    assert asked(users, epsilon, 6).shares == pytest.approx(DEFAULT_SHARES)
    assert "pairs" in asked(10 * users, epsilon, 6).shares


def test_more_information_teaches_more_pairs_and_leaves_smaller_errors() -> None:
    views = [asked(300_000, epsilon, 6) for epsilon in (0.5, 1.0, 2.0, 4.0, 8.0)]
    for one, other in pairwise(views):
        assert one.districts <= other.districts
        assert one.shares.get("pairs", 0) <= other.shares.get("pairs", 0)
        assert one.trip > other.trip
        assert one.pattern > other.pattern
    assert (views[0].districts, views[-1].districts) == (0, 6)


@pytest.mark.parametrize(("pairs", "bends"), [(0.0, 0.0), (0.4, 0.25), (0.0, 0.1), (0.2, 0.0)])
def test_shares_add_up_to_everybody(pairs: float, bends: float) -> None:
    shares = shares_of(pairs, bends)
    assert sum(shares.values()) == pytest.approx(1)
    assert ("pairs" in shares, "bends" in shares) == (pairs > 0, bends > 0)
    assert shares["length"] == DEFAULT_SHARES["length"]


def test_fine_grids_have_few_districts() -> None:
    for n in (6, 16, 24, 64):
        found = asked(3_000_000, 8.0, n)
        assert n * n * found.districts**2 <= MOST_STATES


def test_plans_carry_the_shares() -> None:
    plan = Facts(300_000, 4, BOUNDS, grid=6).plan()
    asks = {ask.question.name: ask for ask in plan.rounds[0].asks}
    found = asked(300_000, 4.0, 6)
    assert {name: ask.share / 65_536 for name, ask in asks.items()} == pytest.approx(found.shares, abs=1e-3)
    assert asks["pairs"].question.parameters()["districts"] == found.districts
    timed = Facts(300_000, 4, BOUNDS, grid=6, time=True).plan()
    assert [ask.question.name for ask in timed.rounds[0].asks] == [*asks, "departure", "pace", "tides"]
    given = Facts(300_000, 4, BOUNDS, grid=6, shares=DEFAULT_SHARES).plan()
    assert "pairs" not in {ask.question.name for ask in given.rounds[0].asks}
