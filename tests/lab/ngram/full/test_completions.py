from __future__ import annotations

import itertools

import numpy as np
import pytest

from ldptrace_lab.campus.pois import Pois
from ldptrace_lab.ngram.full.mechanism import complete
from ldptrace_lab.ngram.full.regions import Knowledge, Regions
from statistics_kit import assert_frequencies

KNOWLEDGE = Knowledge(step=120, interval=480, side=1, depth=1, kappa=1, speed=1.0)


@pytest.fixture(scope="module")
def regions() -> Regions:
    """Four places of two kinds; a step of two hours is 7,200 metres on foot."""
    hours = {"food": (4.0, 20.0)}
    x = np.array([0.0, 7000.0, 15_000.0, 0.0])
    pois = Pois.build(
        x, np.zeros(4), ["food", "food", "home", "home"], hours, list("abcd"), np.array([1.0, 2, 3, 1])
    )
    return Regions.build(pois, KNOWLEDGE)


def completions(
    regions: Regions, wanted: list[int], any_hour: bool = False
) -> list[tuple[tuple[int, int], ...]]:
    """All feasible (place, step) of the regions, listed."""
    per = regions.knowledge.per_interval
    states = list(itertools.product(range(len(regions.pois)), range(regions.open.shape[1])))
    layers = [
        [
            (p, s)
            for p, s in states
            if regions.open[p, s] and (regions.of[p, s // per] == r or (any_hour and r in regions.of[p]))
        ]
        for r in wanted
    ]
    return [
        path
        for path in itertools.product(*layers)
        if all(
            s < s2 and abs(regions.x[p] - regions.x[p2]) <= regions.metres_per_step * (s2 - s)
            for (p, s), (p2, s2) in itertools.pairwise(path)
        )
    ]


@pytest.mark.slow
@pytest.mark.parametrize("by_popularity", [False, True])
def test_every_feasible_completion_has_its_exact_chance(
    regions: Regions, rng: np.random.Generator, by_popularity: bool
) -> None:
    home, food = regions.of[2, 0], regions.of[0, 1]
    wanted = [int(home), int(food), int(food)]
    listed = completions(regions, wanted)
    assert len(listed) > 10
    users = 20_000
    found = np.tile(np.array(wanted, dtype=np.int32), users)
    poi, step = complete(regions, found, np.arange(users + 1) * 3, by_popularity, rng)
    number = {path: k for k, path in enumerate(listed)}
    drawn = zip(poi.reshape(users, 3).tolist(), step.reshape(users, 3).tolist(), strict=True)
    counts = np.bincount([number[tuple(zip(p, s, strict=True))] for p, s in drawn], minlength=len(listed))
    popularity = regions.pois.popularity if by_popularity else np.ones(4)
    assert_frequencies(counts, [np.prod([popularity[p] for p, _ in path]) for path in listed])


def test_impossible_together_takes_other_hours(regions: Regions, rng: np.random.Generator) -> None:
    """Two visits in the first region after a later one: no completion in its own hours."""
    morning, evening = int(regions.of[2, 0]), int(regions.of[2, 2])
    wanted = [evening, morning]
    assert not completions(regions, wanted)
    poi, step = complete(regions, np.array(wanted, dtype=np.int32), np.array([0, 2]), False, rng)
    assert tuple(zip(poi.tolist(), step.tolist(), strict=True)) in completions(regions, wanted, any_hour=True)


def test_impossible_at_any_hour_takes_other_places(regions: Regions, rng: np.random.Generator) -> None:
    """Eleven visits to places that are open eight steps long."""
    food = int(regions.of[0, 1])
    wanted = np.full(11, food, dtype=np.int32)
    poi, step = complete(regions, wanted, np.array([0, 11]), False, rng)
    assert np.all(np.diff(step) > 0)
    assert regions.open[poi, step].all()
