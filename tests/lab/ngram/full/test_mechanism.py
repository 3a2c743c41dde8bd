from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, sparse

from ldptrace.errors import InputError
from ldptrace_lab.campus.pois import Pois, Visits
from ldptrace_lab.ngram.cells import LONGEST_DISTANCE
from ldptrace_lab.ngram.full.mechanism import NgramFull
from ldptrace_lab.ngram.full.regions import Knowledge, Regions
from statistics_kit import assert_frequencies, assert_proportions


@pytest.fixture(scope="module")
def regions() -> Regions:
    """Nine places, three kinds, six intervals of four hours."""
    hours = {"food": (8.0, 20.0), "study": (4.0, 16.0)}
    side = np.arange(3) * 4000.0
    x, y = np.repeat(side, 3), np.tile(side, 3)
    pois = Pois.build(x, y, ["food", "study", "home"] * 3, hours, [str(k) for k in range(9)])
    return Regions.build(pois, Knowledge(step=60, interval=240, side=2, depth=1, kappa=2, speed=2.0))


def bigram_probabilities(full: NgramFull, pair: tuple[int, int], epsilon: float) -> NDArray[np.float64]:
    """The exponential mechanism over all feasible pairs, by its definition."""
    score = full.distances[pair[0]][:, None] + full.distances[pair[1]][None, :]
    weights = np.exp(-epsilon * score / (4.0 * LONGEST_DISTANCE)) * full.regions.follows
    return np.asarray(weights / weights.sum())


@pytest.mark.slow
def test_draws_follow_the_exponential_mechanism(regions: Regions, rng: np.random.Generator) -> None:
    full = NgramFull(regions, 30.0)
    users, pair = 50_000, (1, regions.count - 1)
    true = np.tile(np.array(pair, dtype=np.int32), users)
    drawn = full.draw(true, np.arange(users + 1) * 2, full.epsilon, rng).reshape(users, 2, 2)
    for position in (0, 1):
        alone = np.bincount(drawn[:, position, 1 - position], minlength=regions.count)
        weights = np.exp(-10.0 * full.distances[pair[position]] / (2.0 * LONGEST_DISTANCE))
        assert_frequencies(alone, weights / weights.sum())
    pairs = drawn[:, 0, 0].astype(np.int64) * regions.count + drawn[:, 1, 1]
    counts = np.bincount(pairs, minlength=regions.count**2)
    assert_frequencies(counts, bigram_probabilities(full, pair, 10.0).ravel())


def test_one_draw_keeps_its_share_of_epsilon(regions: Regions) -> None:
    full = NgramFull(regions, 1.0)
    every = np.array(
        [bigram_probabilities(full, pair, 1.0) for pair in itertools.product(range(regions.count), repeat=2)]
    )
    possible = every[0] > 0
    assert np.log(every.max(axis=0)[possible] / every.min(axis=0)[possible]).max() <= 1.0 + 1e-12


def candidates(regions: Regions, drawn: NDArray[np.int32]) -> list[int]:
    boxes = regions.boxes[drawn.ravel()]
    low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    return [
        r
        for r in range(regions.count)
        if np.all(regions.centres[r] >= low) and np.all(regions.centres[r] <= high)
    ]


def weighted_costs(full: NgramFull, drawn: NDArray[np.int32]) -> NDArray[np.int64]:
    """Cost of each region at each position, inner positions twice."""
    single = full.distances[:, drawn[:, 0]] + full.distances[:, drawn[:, 1]]
    times = np.full(len(drawn), 2)
    times[[0, -1]] = 1
    return np.asarray(single.T * times[:, None])


@pytest.mark.slow
def test_reconstruction_is_one_of_the_best(regions: Regions, rng: np.random.Generator) -> None:
    full = NgramFull(regions, 1.0)
    for size in (1, 2, 3):
        for _ in range(25):
            drawn = rng.integers(0, regions.count, size=(size, 2)).astype(np.int32)
            cost = weighted_costs(full, drawn)
            feasible = [
                path
                for path in itertools.product(candidates(regions, drawn), repeat=size)
                if all(regions.follows[a, b] for a, b in itertools.pairwise(path))
            ]
            found = full.reconstruct(drawn, np.array([0, size]), rng)
            assert all(regions.follows[a, b] for a, b in itertools.pairwise(found.tolist()))
            if feasible:
                least = min(sum(cost[p, r] for p, r in enumerate(path)) for path in feasible)
                assert sum(cost[p, r] for p, r in enumerate(found)) == least


def integer_program(full: NgramFull, drawn: NDArray[np.int32]) -> float:
    """Binary variables for the bigrams of each position, solved by scipy's MILP."""
    regions, size = full.regions, len(drawn)
    near = candidates(regions, drawn)
    single = weighted_costs(full, drawn) / LONGEST_DISTANCE
    single[1:-1] /= 2
    pairs = [(a, b) for a in near for b in near if regions.follows[a, b]]
    error = [single[i, a] + single[i + 1, b] for i in range(size - 1) for a, b in pairs]
    one = sparse.kron(sparse.eye_array(size - 1), np.ones((1, len(pairs))))
    into = np.array([[b == r for _, b in pairs] for r in near], dtype=float)
    out = np.array([[a == r for a, _ in pairs] for r in near], dtype=float)
    flow = sparse.kron(sparse.eye_array(size - 2, size - 1), into)
    flow = flow - sparse.kron(sparse.eye_array(size - 2, size - 1, k=1), out)
    right = np.concatenate([np.ones(size - 1), np.zeros(flow.shape[0])])
    solved = optimize.milp(
        error,
        constraints=optimize.LinearConstraint(sparse.vstack([one, flow]), right, right),
        integrality=np.ones(len(error)),
        bounds=optimize.Bounds(0, 1),
    )
    assert solved.success
    return float(solved.fun)


@pytest.mark.slow
def test_reconstruction_equals_the_integer_program(regions: Regions, rng: np.random.Generator) -> None:
    full = NgramFull(regions, 1.0)
    for _ in range(5):
        drawn = np.append(rng.integers(0, regions.count, size=(5, 2)), [[0, regions.count - 1]], axis=0)
        found = full.reconstruct(drawn.astype(np.int32), np.array([0, 6]), rng)
        cost = sum(weighted_costs(full, drawn)[p, r] for p, r in enumerate(found)) / LONGEST_DISTANCE
        assert cost == pytest.approx(integer_program(full, drawn), abs=1e-7)


def some_visits(regions: Regions, rng: np.random.Generator, users: int = 200) -> Visits:
    sizes = rng.integers(0, 6, users)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    t = np.concatenate([np.sort(rng.random(size)) * 86_400 for size in sizes])
    poi = rng.integers(0, len(regions.pois), offsets[-1]).astype(np.int32)
    return Visits(poi, t, offsets)


@pytest.mark.slow
@pytest.mark.parametrize("hidden", [False, True])
def test_output_is_open_reachable_and_in_increasing_time(
    regions: Regions, rng: np.random.Generator, hidden: bool
) -> None:
    visits = some_visits(regions, rng)
    published = NgramFull(regions, 1.0, hide_length=hidden, longest=6).perturb(visits, rng)
    pois = regions.pois
    for k in range(len(published)):
        places = published.poi[published.offsets[k] : published.offsets[k + 1]]
        times = published.t[published.offsets[k] : published.offsets[k + 1]]
        assert pois.is_open(places, times).all()
        assert np.all(np.diff(times) > 0)
        walked = np.hypot(np.diff(pois.x[places]), np.diff(pois.y[places]))
        assert np.all(walked <= regions.knowledge.speed * np.diff(times) + 1e-9)


def test_length_is_public_unless_hidden(regions: Regions, rng: np.random.Generator) -> None:
    visits = some_visits(regions, rng)
    published = NgramFull(regions, 1.0).perturb(visits, rng)
    assert np.array_equal(published.offsets, visits.offsets)
    hidden = NgramFull(regions, 2.0, hide_length=True, length_share=0.5, longest=4)
    three = Visits(
        np.tile([0, 1, 2], 8000).astype(np.int32), np.tile([4e4, 5e4, 6e4], 8000), np.arange(8001) * 3
    )
    sizes = np.diff(hidden.perturb(three, rng).offsets)
    expected = np.array([1, 1, np.e, 1]) / (3 + np.e)
    assert_proportions(np.bincount(sizes, minlength=5)[1:], 8000, expected)


def test_large_budget_returns_the_regions(regions: Regions, rng: np.random.Generator) -> None:
    full = NgramFull(regions, 1e7)
    chain = [r for r in range(regions.count) if regions.follows[r, r]][:1] * 3
    true = np.array(chain, dtype=np.int32)
    drawn = full.draw(true, np.array([0, 3]), full.epsilon, rng)
    assert np.array_equal(full.reconstruct(drawn, np.array([0, 3]), rng), true)


def test_degenerate_inputs(regions: Regions, rng: np.random.Generator) -> None:
    full = NgramFull(regions, 1.0)
    nobody = Visits(np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(1, dtype=np.int64))
    assert len(full.perturb(nobody, rng)) == 0
    silent = Visits(np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(4, dtype=np.int64))
    assert np.diff(full.perturb(silent, rng).offsets).tolist() == [0, 0, 0]
    hidden = NgramFull(regions, 1.0, hide_length=True).perturb(silent, rng)
    assert np.diff(hidden.offsets).min() >= 1
    restless = Visits(np.zeros(100, dtype=np.int32), np.arange(100) * 60.0, np.array([0, 100]))
    assert np.diff(full.perturb(restless, rng).offsets).tolist() == [full.most_visits]
    alone = Regions.build(Pois.build(np.zeros(1), np.zeros(1), ["home"], {}, ["x"]))
    assert NgramFull(alone, 1.0).perturb(restless, rng).poi.max() == 0
    with pytest.raises(InputError, match="places from 0 to 8"):
        full.perturb(Visits(np.array([9], dtype=np.int32), np.zeros(1), np.array([0, 1])), rng)


@pytest.mark.parametrize(
    "wrong", [{"epsilon": -1.0}, {"length_share": 0.0}, {"longest": 0}, {"longest": 999}]
)
def test_senseless_settings_are_refused(regions: Regions, wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        NgramFull(regions, **({"epsilon": 1.0} | wrong))  # type: ignore[arg-type]
