"""What the metrics are made of, each beside a slow and plain version of itself."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from conftest import random_paths
from evaluation_data import drifting_walks
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation import divergence, extents, ranking
from ldptrace.evaluation.patterns import mine, support
from ldptrace.evaluation.queries import SquareQueries, resample
from ldptrace.protocol.grid import Grid

counts = st.lists(st.integers(0, 6), min_size=2, max_size=40)


def pairs_by_hand(real: list[int], synthetic: list[int]) -> float:
    agree = differ = 0
    for i, j in itertools.combinations(range(len(real)), 2):
        if real[i] == real[j]:
            continue
        if (real[i] > real[j]) == (synthetic[i] > synthetic[j]) and synthetic[i] != synthetic[j]:
            agree += 1
        else:
            differ += 1
    return (agree - differ) / (len(real) * (len(real) - 1) / 2)


@given(counts, st.randoms(use_true_random=False))
def test_kendall_tau_counts_every_pair(real: list[int], random: object) -> None:
    synthetic = [random.randint(0, 6) for _ in real]  # type: ignore[attr-defined]
    assert ranking.kendall_tau(real, synthetic) == pytest.approx(pairs_by_hand(real, synthetic), abs=1e-12)
    if len(set(real)) > 1 and len(set(synthetic)) > 1:
        expected = stats.kendalltau(real, synthetic).statistic
        assert ranking.kendall_tau_b(real, synthetic) == pytest.approx(expected, abs=1e-12)
    else:
        assert math.isnan(ranking.kendall_tau_b(real, synthetic))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12))
def test_histograms_lose_nothing_or_say_so(values: list[int]) -> None:
    real, synthetic = np.array([0.0, 10.0, 20.0]), np.array(values, dtype=float)
    full = divergence.full_histograms(real, synthetic)
    assert full[1].sum() == len(values)
    reference = divergence.reference_histograms(real, synthetic)[1]
    for bucket in range(20):
        assert reference[bucket] == sum(bucket <= value <= bucket + 1 for value in values)


def test_divergence_is_smoothed_as_in_the_reference() -> None:
    assert divergence.jensen_shannon([1.0, 0.0], [0.0, 1.0]) == pytest.approx(math.log(2), abs=1e-6)
    assert divergence.count_divergence([0, 0], [1, 2]) == divergence.MAX_JSD
    assert divergence.count_divergence([0, 0], [0, 0]) == 0.0


shapes = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=80)


@given(shapes)
def test_the_hull_keeps_the_farthest_pair(points: list[tuple[int, int]]) -> None:
    x, y = np.array(points, dtype=float).T.copy()
    hull = np.empty((2, 2 * len(points)))
    size = extents._hull(x, y, hull[0], hull[1])
    corners = list(zip(hull[0, :size], hull[1, :size], strict=True))
    farthest = [max(math.dist(a, b) for a in group for b in group) for group in (points, corners)]
    assert farthest[0] == farthest[1]


@given(shapes)
def test_diameter_is_the_farthest_pair(points: list[tuple[int, int]]) -> None:
    found = extents.diameters(Trajectories.from_lists([points]))[0]
    expected = max((math.dist(a, b) for a, b in itertools.combinations(points, 2)), default=0.0)
    assert found == pytest.approx(expected, abs=1e-12)


def test_diameter_of_many_points_in_every_direction(rng: np.random.Generator) -> None:
    for shape in ("circle", "rounded circle", "cloud", "line", "parked"):
        angle = rng.random(300) * 2 * np.pi
        x, y = {
            "circle": (np.cos(angle), np.sin(angle)),
            "rounded circle": (np.round(9 * np.cos(angle)) * 3, np.round(9 * np.sin(angle)) * 3),
            "cloud": (rng.normal(size=300), rng.normal(size=300)),
            "line": (angle, 2 * angle),
            "parked": (np.zeros(300), np.round(angle)),
        }[shape]
        expected = max(math.dist(a, b) for a, b in itertools.combinations(zip(x, y, strict=True), 2))
        found = extents.diameters(Trajectories(x, y, np.array([0, 300])))[0]
        assert found == pytest.approx(expected, rel=1e-12), shape


def test_distances_are_in_metres_when_geographic() -> None:
    # A degree of latitude is 111.2 km, one of longitude at 60 degrees north half of it.
    grid = Grid((10, 59, 12, 61), 2)
    kx, ky = extents.metric_scale(grid, geographic=True)
    assert ky == pytest.approx(111_195, abs=1)
    assert kx == pytest.approx(ky / 2, rel=1e-12)
    line = Trajectories.from_lists([[(10, 60), (11, 60)]])
    assert extents.travel_distances(line, (kx, ky))[0] == pytest.approx(55_597, abs=1)


def test_squares_count_their_borders(rng: np.random.Generator) -> None:
    # Whole numbers, so that points lie on borders.
    low = rng.integers(0, 8, (2, 30)).astype(float)
    queries = SquareQueries(low[0], low[0] + 3, low[1], low[1] + 3)
    x, y = rng.integers(-2, 13, (2, 500)).astype(float)
    weights = rng.integers(0, 3, 500).astype(np.int32)
    inside = (
        (queries.left[:, None] <= x)
        & (x <= queries.right[:, None])
        & (queries.bottom[:, None] <= y)
        & (y <= queries.top[:, None])
    )
    assert queries.count(x, y).tolist() == inside.sum(axis=1).tolist()
    assert queries.count(x, y, weights).tolist() == (inside * weights).sum(axis=1).tolist()


@given(st.integers(0, 500))
def test_squares_count_as_a_plain_loop_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = Grid((0, 0, 5, 2), 4)
    queries = SquareQueries.draw(rng, grid, count=20)
    x, y = 5 * rng.random(200), 2 * rng.random(200)
    for k, found in enumerate(queries.count(x, y)):
        inside = (
            (queries.left[k] <= x)
            & (x <= queries.right[k])
            & (queries.bottom[k] <= y)
            & (y <= queries.top[k])
        )
        assert found == np.count_nonzero(inside)
    area = (queries.right - queries.left) * (queries.top - queries.bottom)
    assert area == pytest.approx(np.full(20, 10 / 9), rel=1e-5)


def test_squares_are_square_on_the_ground() -> None:
    queries = SquareQueries.draw(np.random.default_rng(0), Grid((0, 59, 2, 61), 4), scale=(0.5, 1.0))
    assert (queries.right - queries.left) * 0.5 == pytest.approx(queries.top - queries.bottom)


def test_resampling_puts_a_point_into_every_cell(paths: CellPaths, rng: np.random.Generator) -> None:
    x, y = resample(paths, rng)
    assert len(x) == len(paths.cells) + np.count_nonzero(paths.sizes == 1)
    repeats = np.ones(len(paths.cells), dtype=int)
    repeats[paths.offsets[:-1][paths.sizes == 1]] = 2
    cells = np.array([paths.grid.cell(a, b) for a, b in zip(x, y, strict=True)])
    assert np.array_equal(cells, np.repeat(paths.cells, repeats))


def mined_by_hand(paths: CellPaths) -> list[tuple[tuple[int, ...], int]]:
    """As the reference does it: a dictionary in order of size, then of the data; a stable sort by count."""
    found: Counter[tuple[int, ...]] = Counter()
    for size in range(2, 9):
        for start, stop in itertools.pairwise(paths.offsets.tolist()):
            path = paths.cells[start:stop].tolist()
            for first in range(len(path) - size + 1):
                found[tuple(path[first : first + size])] += 1
    return sorted(found.items(), key=lambda item: -item[1])


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(0, 120), st.integers(2, 6), st.integers(1, 14))
def test_patterns_and_their_ties_are_those_of_a_dictionary(
    seed: int, size: int, n: int, longest: int
) -> None:
    rng = np.random.default_rng(seed)
    grid = Grid((0, 0, 1, 1), n)
    paths = random_paths(size, grid, rng, longest)
    expected = mined_by_hand(paths)
    found = mine(paths)
    rows = [tuple(row[row >= 0].tolist()) for row in found.cells]
    assert list(zip(rows, found.counts.tolist(), strict=True)) == expected[:100]
    other = random_paths(size, grid, rng, longest)
    known = dict(mined_by_hand(other))
    assert support(other, found).tolist() == [known.get(row, 0) for row in rows]


def test_patterns_do_not_depend_on_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid((0, 0, 10, 10), 6)
    paths = CellPaths.from_trajectories(drifting_walks(300, 1), grid)
    whole = mine(paths)
    monkeypatch.setattr("ldptrace.evaluation.patterns.map_chunks", _small_chunks)
    parts = mine(paths)
    assert np.array_equal(whole.cells, parts.cells)
    assert np.array_equal(whole.counts, parts.counts)


def _small_chunks(work, n, size=0):  # type: ignore[no-untyped-def]
    return [work(number, start, min(start + 7, n)) for number, start in enumerate(range(0, n, 7))]
