from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import random_paths
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import STYLES, Style, place, respace
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.distances import travel_distances
from ldptrace.protocol.grid import Grid


@pytest.mark.parametrize("style", STYLES)
@given(seed=st.integers(0, 2**32))
def test_points_lead_back_to_their_cells(style: Style, seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = Grid((-3.0, 5.0, 9.0, 7.0), 5)
    paths = random_paths(60, grid, rng)
    placed = place(paths, rng, style)
    assert placed.sizes.tolist() == np.where(paths.sizes == 1, 2, paths.sizes).tolist()
    again = CellPaths.from_trajectories(placed, grid)
    assert np.array_equal(again.cells, paths.cells)
    assert np.array_equal(again.offsets, paths.offsets)


def test_neighbours_shorten_the_way(grid: Grid, rng: np.random.Generator) -> None:
    straight = CellPaths.from_lists([[0, 4, 8, 12]] * 500, grid)
    uniform, smooth = (travel_distances(place(straight, rng, style)).mean() for style in STYLES)
    assert smooth < 0.95 * uniform


def test_uniform_points_fill_the_cell(grid: Grid, rng: np.random.Generator) -> None:
    placed = place(CellPaths.from_lists([[5]] * 20_000, grid), rng)
    # Mean of 40,000 uniform numbers: five standard errors are 0.0072 of a cell, an alarm in 2 million runs.
    assert abs(placed.x.mean() - 1.5) < 0.0072
    assert abs(placed.y.mean() - 1.5) < 0.0072


def test_the_seed_decides(grid: Grid, rng: np.random.Generator) -> None:
    paths = random_paths(200, grid, rng)
    first, second = (place(paths, np.random.default_rng(4), "neighbours") for _ in range(2))
    assert np.array_equal(first.x, second.x)


@given(st.floats(0.05, 5.0), st.integers(0, 2**32))
def test_respaced_points_are_on_the_way_and_near_each_other(spacing: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 6, 20)
    x, y = rng.random((2, sizes.sum())) * 3
    given_ = Trajectories(x, y, np.concatenate(([0], np.cumsum(sizes))))
    spaced = respace(given_, spacing)
    for a, b, c, d in zip(
        given_.offsets, given_.offsets[1:], spaced.offsets, spaced.offsets[1:], strict=False
    ):
        if a == b:
            assert c == d
            continue
        assert (spaced.x[c], spaced.y[c]) == (x[a], y[a])
        assert (spaced.x[d - 1], spaced.y[d - 1]) == (x[b - 1], y[b - 1])
        steps = np.hypot(np.diff(spaced.x[c:d]), np.diff(spaced.y[c:d]))
        assert np.all(steps <= spacing * (1 + 1e-9))
    assert np.all(travel_distances(spaced) <= travel_distances(given_) * (1 + 1e-9) + 1e-12)


def test_misuse_is_refused(grid: Grid, rng: np.random.Generator) -> None:
    paths = random_paths(3, grid, rng)
    with pytest.raises(InputError, match="uniform or neighbours"):
        place(paths, rng, "centre")  # type: ignore[arg-type]
    assert len(respace(place(CellPaths.from_lists([], grid), rng, "neighbours"), 1.0)) == 0


@pytest.mark.parametrize("spacing", [1e-6, 1e-300])
def test_a_spacing_that_fills_the_memory_is_refused(spacing: float) -> None:
    with pytest.raises(InputError, match=r"makes [\d,]+ points of 1 trip, .* give a larger one"):
        respace(Trajectories.from_lists([[(0, 0), (3000, 0)]]), spacing)
