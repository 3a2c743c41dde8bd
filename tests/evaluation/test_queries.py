from __future__ import annotations

import numpy as np
import pytest

from evaluation_data import points_in
from ldptrace.core.paths import CellPaths
from ldptrace.evaluation.queries import SquareQueries, average_relative_error, resample, share_error
from ldptrace.protocol.grid import Grid
from statistics_kit import assert_same_law


def test_squares_have_a_ninth_of_the_map() -> None:
    queries = SquareQueries.draw(np.random.default_rng(1), Grid((0, 0, 5, 2), 4), count=20)
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
def test_scattered_points_are_counted_as_if_drawn_one_by_one() -> None:
    """The same law either way, by the counts of 4000 draws in every square (`assert_same_law` says how sure)."""
    grid, rng = Grid((0, 0, 5, 2), 3), np.random.default_rng(3)
    queries = SquareQueries.draw(rng, grid, count=6)
    visits = rng.integers(0, 9, 9)
    at_once = np.array([queries.scattered(visits, grid, rng) for _ in range(4000)])
    i, j = np.divmod(np.repeat(np.arange(9), visits), 3)
    (ox, oy), (sx, sy) = grid.origin, grid.step
    x, y = (o + s * (k + rng.random((4000, len(k)))) for o, s, k in ((ox, sx, i), (oy, sy, j)))
    one_by_one = np.array([points_in(queries, *point) for point in zip(x, y, strict=True)])
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
