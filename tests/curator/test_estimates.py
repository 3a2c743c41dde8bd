from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.curator import Estimates, Tally
from ldptrace.curator.estimates import choice_variance, nulls_error
from ldptrace.errors import FormatError, InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.randomizers import GRR, PrivSet, Randomizer
from ldptrace.simulation import collect
from ldptrace.simulation.collect import tally_of

GRID = Grid((0.0, 0.0, 4.0, 4.0), 4)
PLAN = Plan.single_report(GRID, 1.0, crs="EPSG:3857")


@pytest.fixture
def estimates(rng: np.random.Generator) -> Estimates:
    return Estimates.from_tally(PLAN, collect(PLAN, random_paths(2000, GRID, rng), rng))


def test_a_document_holds_everything(estimates: Estimates) -> None:
    again = Estimates.from_json(estimates.to_json())
    assert again.plan == PLAN
    assert list(again) == list(estimates)
    for name, found in estimates.items():
        assert np.array_equal(again[name].frequencies, found.frequencies)
        assert np.array_equal(again[name].std_errors, found.std_errors)
        assert (again[name].question, again[name].users, again[name].nulls) == (
            found.question,
            found.users,
            found.nulls,
        )


def test_questions_that_nobody_was_asked_survive_the_document() -> None:
    empty = Estimates.from_tally(PLAN, Tally.zero(PLAN))
    assert np.isinf(Estimates.from_json(empty.to_json())["start"].std_errors).all()


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"version": 2},
        {"plan": {}},
        {"questions": {"unknown": {}}},
        {"questions": {"start": {"frequencies": [1.0], "std_errors": [1.0], "users": 1, "nulls": None}}},
        {"questions": []},
    ],
)
def test_what_is_no_document_of_estimates_is_refused(estimates: Estimates, change: dict[str, object]) -> None:
    with pytest.raises(FormatError, match="not a document of estimates"):
        Estimates.from_json(json.dumps(json.loads(estimates.to_json()) | change))


def test_numbers_that_are_no_estimates_are_refused(estimates: Estimates) -> None:
    broken = replace(estimates["start"], std_errors=np.zeros(GRID.cells))
    with pytest.raises(FormatError, match="start"):
        Estimates.from_json(Estimates(PLAN, {"start": broken}).to_json())


def test_tallies_of_a_round_are_added_and_rounds_joined(rng: np.random.Generator) -> None:
    first = Plan.paper(GRID, 1.0)
    both = first.paper_second_round(3)
    paths = random_paths(500, GRID, rng)
    tallies = [
        collect(first, paths, rng),
        collect(first, paths, rng),
        collect(both, paths, rng, round_number=1),
    ]
    estimates = Estimates.from_tallies(both, tallies)
    assert estimates["length"].users == 1000
    assert estimates["steps"].users == 500
    assert estimates.plan == both
    with pytest.raises(InputError, match="belongs to plan"):
        Estimates.from_tallies(first, tallies)


def test_without_leaves_out_by_name(estimates: Estimates) -> None:
    assert set(estimates.without("turns", "start")) == set(estimates) - {"turns", "start"}


RATIO = Fraction(27, 10)


@pytest.mark.parametrize("empty", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("channel", [PrivSet(30, 4, RATIO, 5), PrivSet(30, 4, RATIO, 1), GRR(6, 1, RATIO)])
def test_the_error_of_empty_places_is_the_spread_of_their_estimates(
    channel: Randomizer, empty: float, rng: np.random.Generator
) -> None:
    """Of users drawn anew each time: 300 estimates have a deviation within a fifth of the truth."""
    users, capacity = 400, channel.capacity
    found = []
    for _ in range(300):
        rows = np.tile(np.arange(capacity, dtype=np.int32), (users, 1))
        rows[rng.random(users) < empty] = -1
        counts = tally_of(channel, rows, rng, "devices")
        found.append(channel.debias(counts[channel.domain :].astype(float), users).sum() / users)
    assert np.mean(found) == pytest.approx(capacity * empty, abs=5 * np.std(found) / np.sqrt(300))
    error = nulls_error(channel, users, users, capacity * empty)
    assert np.std(found) == pytest.approx(error, rel=0.2)


def test_estimates_beyond_what_is_possible_have_the_error_of_what_is() -> None:
    channel = PrivSet(30, 4, RATIO, 5)
    assert nulls_error(channel, 100, 100, -0.7) == nulls_error(channel, 100, 100, 0.0)
    assert nulls_error(channel, 100, 100, 4.5) == nulls_error(channel, 100, 100, 4.0)


def test_users_are_chosen_at_random() -> None:
    """Three with an item and three without it are added to those asked; without noise, that error is left."""
    assert choice_variance(0.0, 94) == pytest.approx(0.03 * 0.97 / 94)
    assert choice_variance(0.5, 94) == pytest.approx(0.25 / 94)
    certain = PrivSet(30, 4, Fraction(10**12), 1)
    for share in (0.0, 0.5):
        error = nulls_error(certain, 94, 94, 4 * share)
        assert error**2 == pytest.approx(16 * choice_variance(share, 94))


def test_the_error_of_a_share_follows_from_those_who_have_the_item() -> None:
    plan = Plan.single_report(GRID, 2.0)
    zero, users = Tally.zero(plan), 1_000
    asks = plan.rounds[0].asks
    number = [ask.question.name for ask in asks].index("start")
    channel = asks[number].randomizer
    p, q = map(float, channel.probabilities)
    assert abs(p - 0.5) < abs(q - 0.5) - 0.05
    for share, named in ((0.0, q), (1.0, p)):
        counts = [*zero.counts]
        counts[number] = np.full_like(counts[number], round(users * named))
        asked = tuple(users if place == number else 0 for place in range(len(asks)))
        found = Estimates.from_tally(plan, replace(zero, counts=tuple(counts), reports=asked, users=asked))
        assert found["start"].frequencies[0] == pytest.approx(share, abs=0.01)
        error = np.sqrt(named * (1 - named) / users) / (p - q)
        assert found["start"].std_errors[0] == pytest.approx(error, rel=0.02)
