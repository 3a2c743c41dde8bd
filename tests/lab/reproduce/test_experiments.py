from __future__ import annotations

from dataclasses import replace

import pytest

from ldptrace_lab.reproduce.experiments import EXPERIMENTS, SCALES, Setup


@pytest.fixture(scope="module")
def small(setup: Setup) -> Setup:
    """One set, where one is enough."""
    return replace(setup, sets=setup.sets[:1])


def test_published_values_stand_beside_the_set_they_belong_to(setup: Setup) -> None:
    printed = EXPERIMENTS["utility"].published(setup)
    oldenburg = [row for row in printed if row.data == "Oldenburg-like" and row.x == 1.0]
    assert {(row.method, row.mean) for row in oldenburg if row.metric == "trip_error"} == {
        ("LDPTrace", 0.0683),
        ("NGRAM", 0.1231),
    }


@pytest.mark.slow
def test_ngram_full_is_left_out_where_there_are_no_places(small: Setup) -> None:
    assert "ngram-full" not in {point.method for point in EXPERIMENTS["unmodified-ngram"].points(small)}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_point_is_drawn_somewhere(name: str, setup: Setup) -> None:
    experiment = EXPERIMENTS[name]
    own = replace(setup, sets=experiment.sets(setup))
    places = [(metric, x) for point in experiment.points(own) for metric, x in point.takes.values()]
    assert {metric for metric, _ in places} == set(experiment.metrics)
    assert len({x for _, x in places}) == 1 or experiment.axis
    assert {row.metric for row in experiment.published(own)} <= set(experiment.metrics)


def test_points_have_the_seed_and_the_usual_grid_of_their_set(setup: Setup) -> None:
    point = next(EXPERIMENTS["utility"].points(replace(setup, seed=9)))
    assert (point.repeat, point.seed, point.grid) == (0, 9, point.data.grid)


def test_experiments_keep_to_the_sets_of_the_paper_but_never_refuse_ones_own(setup: Setup) -> None:
    attacks = EXPERIMENTS["attacks"]
    assert [data.name for data in attacks.sets(setup)] == ["oldenburg"]
    mine = replace(setup, sets=(replace(setup.sets[0], name="mine"),))
    assert attacks.sets(mine) == mine.sets


def test_fine_grids_are_left_to_the_fast_methods(setup: Setup) -> None:
    fine = replace(setup, scale=replace(setup.scale, grids=(4, 20), finest=8))
    grids = {(point.method, point.grid) for point in EXPERIMENTS["granularity"].points(fine)}
    assert ("paper", 20) in grids
    assert ("single-report", 4) in grids
    assert ("single-report", 20) not in grids


def test_the_scale_of_the_paper_is_the_larger_one() -> None:
    quick, paper = SCALES["quick"], SCALES["paper"]
    assert quick.repeats < paper.repeats
    assert max(quick.grids) < max(paper.grids)
