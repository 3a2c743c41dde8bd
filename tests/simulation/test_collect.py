from __future__ import annotations

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.curator import Estimates, Tally
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.plan import Plan
from ldptrace.protocol.round import SHARES, Round
from ldptrace.simulation import collect
from ldptrace.simulation.collect import Collection, _tickets
from ldptrace.simulation.unit import Trips
from statistics_kit import assert_proportions, assert_standard_normal


def test_groups_are_drawn_by_their_shares(grid: Grid, rng: np.random.Generator) -> None:
    paths = random_paths(20_000, grid, rng, longest=3)
    plan = Plan.single_report(grid, 1.0)
    tally = collect(plan, paths, rng)
    assert sum(tally.users) == len(paths)
    assert_proportions(tally.users, len(paths), [ask.share / SHARES for ask in plan.rounds[0].asks])


@pytest.mark.slow
def test_estimates_of_a_collection_are_unbiased(grid: Grid, rng: np.random.Generator) -> None:
    paths = random_paths(3000, grid, rng)
    plan = Plan.single_report(grid, 2.0)
    everyone = len(paths)
    truth = np.bincount(paths.starts(), minlength=grid.cells) / everyone
    scores = []
    for _ in range(60):
        estimate = Estimates.from_tally(plan, collect(plan, paths, rng))["start"]
        # The group is a random sample of the users, which adds its own variance.
        sampling = truth * (1 - truth) / estimate.users
        scores.append((estimate.frequencies - truth) / np.sqrt(estimate.std_errors**2 + sampling))
    for item in range(grid.cells):
        assert_standard_normal(np.array(scores)[:, item])


def test_padded_reports_do_not_depend_on_the_paths(grid: Grid, rng: np.random.Generator) -> None:
    plan = Plan.paper(grid, 1.0).paper_second_round(5)
    short = collect(plan, random_paths(500, grid, rng, longest=1), rng, round_number=1)
    long = collect(plan, random_paths(500, grid, rng, longest=9), rng, round_number=1)
    assert short.reports == long.reports == (500 * 4, 500, 500)


def test_unpadded_reports_tell_the_lengths(grid: Grid, rng: np.random.Generator) -> None:
    paths = random_paths(500, grid, rng)
    plan = Plan.paper(grid, 1.0, method="paper-unpadded").paper_second_round(5)
    assert not plan.is_private
    tally = collect(plan, paths, rng, round_number=1)
    assert tally.reports[0] == np.minimum(np.maximum(paths.sizes - 1, 0), 4).sum()


def test_one_seed_one_tally(grid: Grid, rng: np.random.Generator) -> None:
    paths = random_paths(500, grid, rng)
    plan = Plan.single_report(grid, 1.0)
    first, again, other = (collect(plan, paths, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_tallies_add_up(grid: Grid, rng: np.random.Generator) -> None:
    paths = random_paths(100, grid, rng)
    plan = Plan.single_report(grid, 1.0)
    one, two = collect(plan, paths, rng), collect(plan, paths, rng)
    assert one + Tally.zero(plan) == one
    assert one + two == two + one
    assert sum((one + two).users) == 200


def test_with_time_the_same_devices_answer_the_rest(grid: Grid, rng: np.random.Generator) -> None:
    """With one seed, what is counted without questions about time holds what is counted with them."""
    paths = random_paths(4000, grid, rng)
    without, with_time = (
        collect(Plan.single_report(grid, 1.0, time=time), paths, np.random.default_rng(3))
        for time in (False, True)
    )
    names = [ask.question.name for ask in Plan.single_report(grid, 1.0).rounds[0].asks]
    for name, more, fewer in zip(names, without.counts, with_time.counts, strict=False):
        assert np.all(more >= fewer)
        assert np.array_equal(more, fewer) == (name == "length")


@pytest.mark.parametrize("order", range(4))
def test_every_question_has_its_share_of_the_tickets(grid: Grid, order: int) -> None:
    """Whatever the shares, and wherever the questions about time stand."""
    draw = np.random.default_rng(order)
    plan = Plan.single_report(grid, 1.0, time=True)
    asks = [plan.rounds[0].asks[number] for number in draw.permutation(len(plan.rounds[0].asks))]
    cuts = np.sort(draw.choice(np.arange(1, SHARES), len(asks) - 1, replace=False))
    shares = np.diff(np.concatenate([[0], cuts, [SHARES]]))
    some = Round(
        tuple(ask.changed(share=int(share)) for ask, share in zip(asks, shares, strict=True)), "partition"
    )
    assert np.bincount(_tickets(some)).tolist() == shares.tolist()
    only = Round(
        (next(ask for ask in asks if ask.question.name == "tides").changed(share=SHARES),), "partition"
    )
    assert np.all(_tickets(only) == 0)


def test_every_block_draws_from_a_stream_of_its_own(grid: Grid, rng: np.random.Generator) -> None:
    """The same people in two blocks would give the same answers: twice the tally of one, and no more information."""
    paths = random_paths(500, grid, rng)
    block, work = Trips(paths, None, paths.offsets), Collection(Plan.single_report(grid, 1.0), rng)
    found = [work.of_trips(block, number) for number in (0, 1, 1)]
    assert found[1] == found[2]
    assert found[0].users != found[1].users
    assert all((one != other).any() for one, other in zip(found[0].counts, found[1].counts, strict=True))
