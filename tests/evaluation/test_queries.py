from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.paths import CellPaths
from ldptrace.evaluation.queries import SquareQueries, average_relative_error, resample, share_error
from ldptrace.protocol.grid import Grid
from statistics_kit import assert_same_law


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


@pytest.mark.slow
def test_points_that_are_many_are_not_drawn_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same law either way, by the counts of 4000 draws in every square (`assert_same_law` says how sure)."""
    grid, rng = Grid((0, 0, 5, 2), 3), np.random.default_rng(3)
    queries = SquareQueries.draw(rng, grid, count=6)
    visits = rng.integers(0, 9, 9)
    one_by_one = np.array([queries.scattered(visits, grid, rng) for _ in range(4000)])
    monkeypatch.setattr("ldptrace.evaluation.queries._ONE_BY_ONE", 0)
    at_once = np.array([queries.scattered(visits, grid, rng) for _ in range(4000)])
    for square in range(6):
        assert_same_law(one_by_one[:, square], at_once[:, square])
    # Squares that overlap have points in common, whichever way.
    both = [np.cov(found.T) for found in (one_by_one, at_once)]
    assert np.abs(both[0] - both[1]).max() < 0.15 * np.abs(both[0]).max()


def test_shares_of_a_table_of_cells_by_hand() -> None:
    half = SquareQueries(*(np.array([value]) for value in (0.0, 1.0, 0.0, 0.5)))
    # The lower cell of the left column, with 1 of 8.
    table = np.array([[1.0, 1.0], [3.0, 3.0]])
    assert half.shares(table, Grid((0, 0, 2, 1), 2)) == pytest.approx([0.125], rel=1e-5)
    assert half.shares(np.zeros((2, 2)), Grid((0, 0, 2, 1), 2)).tolist() == [0.0]


def test_errors_are_relative_with_a_floor() -> None:
    assert average_relative_error(np.array([10, 0]), np.array([5, 3]), 200) == (0.5 + 1.5) / 2
    assert share_error(np.array([0.5]), np.array([0.25]), 1 / 9) == 0.5
