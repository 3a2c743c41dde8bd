from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.protocol.exact import ratio_at_most
from ldptrace.protocol.randomizers import OUE
from ldptrace_lab.reproduce.data import GENERATED, INTERVAL, DataSet, generated, granularity, own
from ldptrace_lab.reproduce.published import SETS

REAL = Trajectories([0, 1, 2, 5], [0, 2, 2, 5], [0, 3, 4], t=[0, 10, 20, 99])


def test_generated_sets_are_made_when_first_used_and_once() -> None:
    made: list[int] = []

    def load() -> tuple[Trajectories, None]:
        made.append(1)
        return REAL, None

    data = DataSet("a", "A", "a", load)
    assert made == []
    assert data.trajectories is data.trajectories is REAL
    assert made == [1]


@pytest.mark.slow
@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_set_stands_beside_one_of_the_paper(name: str) -> None:
    data = generated(name, 20, seed=1)
    assert (data.beside, data.grid, data.interval) == (name, SETS[name].n, SETS[name].interval)
    assert len(data.trajectories) == 20
    assert (data.pois is not None) == (name == "campus")
    assert generated(name, 20, seed=2).key != data.key


@pytest.mark.slow
def test_the_seed_decides_a_generated_set() -> None:
    # The set that is made most quickly.
    one, same, other = (generated("campus", 20, seed).trajectories for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.x, same.x)
    assert not np.array_equal(one.x, other.x)


def test_bounds_are_given_or_those_of_the_data() -> None:
    assert own(REAL, Path("a.csv")).bounds == (0, 0, 5, 5)
    assert own(REAL, Path("a.csv"), bounds=(0, 0, 9, 9)).bounds == (0, 0, 9, 9)


def test_the_interval_is_that_between_points_of_one_trip() -> None:
    assert own(REAL, Path("a.csv")).interval == 10
    assert own(Trajectories([0, 1], [0, 1], [0, 2]), Path("a.csv")).interval == INTERVAL
    parked = Trajectories([0, 1], [0, 1], [0, 2], t=[5, 5])
    assert own(parked, Path("a.csv")).interval == INTERVAL


def test_own_sets_are_known_by_their_content() -> None:
    moved = Trajectories(REAL.x + 1, REAL.y, REAL.offsets)
    keys = {
        own(REAL, Path("a.csv")).key,
        own(moved, Path("a.csv")).key,
        own(REAL, Path("a.csv"), bounds=(0, 0, 9, 9)).key,
    }
    assert len(keys) == 3
    assert own(REAL, Path("b.csv")).key == own(REAL, Path("a.csv")).key


def test_a_name_of_the_paper_brings_its_values() -> None:
    assert own(REAL, Path("Porto_2013.csv.gz")).beside == "porto"
    assert own(REAL, Path("Porto_2013.csv.gz")).grid == SETS["porto"].n
    assert own(REAL, Path("mine.csv")).beside is None
    assert own(REAL, Path("mine.csv"), beside="oldenburg").beside == "oldenburg"
    assert own(REAL, Path("mine.csv"), grid=9).grid == 9


REPEATS = 4000


def oue_variance(n: float, epsilon: float) -> float:
    """Variance of an OUE count estimate from n reports (eq. 4)."""
    return n * 4 * math.exp(epsilon) / math.expm1(epsilon) ** 2


def ratio_mean(held_x: float, held_y: float) -> float:
    """First-order mean of the ratio of two unbiased estimates (theorem in the appendix)."""
    return held_x / held_y


def ratio_variance(
    held_x: float, held_y: float, variance_x: float, variance_y: float, covariance: float = 0.0
) -> float:
    """First-order variance of that ratio (theorem in the appendix), by the delta method."""
    relative = variance_x / held_x**2 - 2 * covariance / (held_x * held_y) + variance_y / held_y**2
    return (held_x / held_y) ** 2 * relative


def length_error(held: ArrayLike, epsilon: float, *, terms: int | None = None) -> float:
    """Error(L): expected squared error of the length distribution, summed over lengths (section 5.3).

    Each probability is a ratio whose denominator is the sum of all estimates, so its variance is the number
    of lengths times that of one estimate. The paper prints 8 in place of that number: `terms=8`.
    """
    counts = np.asarray(held, dtype=np.float64)
    users = counts.sum()
    variance = oue_variance(users, epsilon)
    in_sum = len(counts) if terms is None else terms
    return float(
        np.sum(
            variance / users**2 - 2 * counts * variance / users**3 + counts**2 * in_sum * variance / users**4
        )
    )


def transition_error(
    held: ArrayLike, sources: ArrayLike, users: int, epsilon2: float, quantile: int, k: float
) -> float:
    """Error(S, eps2, L_k): noise and truncation of the transition probabilities (section 5.4).

    `held` counts each transition, `sources` names the cell it leaves. Each of the L_k reports of a user has
    eps2 / L_k; the share 1 - k of what is cut is the bias.
    """
    counts, cell = np.asarray(held, dtype=np.float64), np.asarray(sources)
    row = np.bincount(cell, weights=counts)[cell]
    degree = np.bincount(cell)[cell]
    variance = oue_variance(users * quantile, epsilon2 / quantile)
    some = row > 0
    share = counts[some] / row[some]
    noise = variance / row[some] ** 2 * (1 - 2 * share + share**2 * degree[some])
    return float(np.sum(noise) + np.sum(((1 - k) * counts) ** 2))


def simulated(held: np.ndarray, reports: int, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """De-biased OUE counts of many repeated collections."""
    channel = OUE(len(held), 1, ratio_at_most(Fraction(str(epsilon))))
    p, q = (float(value) for value in channel.probabilities)
    counts = rng.binomial(held, p, (REPEATS, len(held))) + rng.binomial(
        reports - held, q, (REPEATS, len(held))
    )
    return np.asarray(channel.debias(counts, reports))


def test_variance_of_an_estimate(rng: np.random.Generator) -> None:
    estimates = simulated(np.array([10, 0]), 50_000, 0.5, rng)
    assert estimates.var(axis=0) == pytest.approx(oue_variance(50_000, 0.5), rel=0.15)


def test_mean_and_variance_of_a_ratio(rng: np.random.Generator) -> None:
    held = np.array([30_000, 60_000])
    x, y = simulated(held, 100_000, 1.0, rng).T
    variance = oue_variance(100_000, 1.0)
    assert (x / y).mean() == pytest.approx(ratio_mean(*held), rel=0.01)
    assert (x / y).var() == pytest.approx(ratio_variance(*held, variance, variance), rel=0.15)
    total = x + y
    expected = ratio_variance(held[0], held.sum(), variance, 2 * variance, variance)
    assert (x / total).var() == pytest.approx(expected, rel=0.15)


def test_error_of_the_length_distribution(rng: np.random.Generator) -> None:
    held = np.array([30_000, 25_000, 20_000, 15_000, 8_000, 2_000] + [0] * 30)
    users = int(held.sum())
    estimates = simulated(held, users, 1.0, rng)
    shares = estimates / estimates.sum(axis=1, keepdims=True)
    measured = float(np.mean(np.sum((shares - held / users) ** 2, axis=1)))
    assert measured == pytest.approx(length_error(held, 1.0), rel=0.1)
    # The printed formula counts eight terms in the denominator where there are as many as lengths.
    assert length_error(held, 1.0, terms=8) < 0.95 * measured


def test_error_of_the_transitions(rng: np.random.Generator) -> None:
    held = np.array([40_000, 20_000, 30_000, 30_000])
    sources = np.array([0, 0, 1, 1])
    users, quantile = 60_000, 2
    estimates = simulated(held, users * quantile, 1.0, rng)
    rows = np.stack([estimates[:, :2].sum(axis=1)] * 2 + [estimates[:, 2:].sum(axis=1)] * 2, axis=1)
    truth = held / np.array([60_000, 60_000, 60_000, 60_000])
    measured = float(np.mean(np.sum((estimates / rows - truth) ** 2, axis=1)))
    assert transition_error(held, sources, users, 2.0, quantile, 1.0) == pytest.approx(measured, rel=0.15)
    cut = transition_error(held, sources, users, 2.0, quantile, 0.9)
    assert cut - transition_error(held, sources, users, 2.0, quantile, 1.0) == pytest.approx(
        np.sum((0.1 * held) ** 2)
    )


@pytest.mark.parametrize(
    ("users", "points", "interval", "expected"),
    [(500_000, 69.75, 15.6, 6), (361_591, 34.13, 15, 6), (348_144, 125.02, 5, 8), (1_000_000, 35.98, 25, 6)],
)
def test_the_guideline_gives_the_papers_grids(
    users: int, points: float, interval: float, expected: int
) -> None:
    assert abs(granularity(users, points, interval, 1.0) - expected) <= 1


def test_the_guideline_refuses_nonsense() -> None:
    with pytest.raises(InputError, match="positive"):
        granularity(0, 10, 10, 1.0)
