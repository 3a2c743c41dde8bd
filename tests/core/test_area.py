"""Areas: exact membership, points drawn from what a cell has of them, a way ashore."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ldptrace.core.area import FINENESS, Area
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from statistics_kit import ALPHA

HARBOUR = Area.of([[[(0, 0), (10, 0), (10, 10), (0, 10)], [(2, 2), (8, 2), (8, 8), (2, 8)]]])
GRID = Grid((0.0, 0.0, 10.0, 10.0), 5)


def star(rng: np.random.Generator, corners: int) -> list[tuple[float, float]]:
    """A polygon with spikes that does not cross itself."""
    angle = np.sort(rng.uniform(0, 2 * np.pi, corners))
    radius = rng.uniform(0.2, 1.0, corners)
    x, y = rng.uniform(-1, 1, 2)
    return list(zip(x + radius * np.cos(angle), y + radius * np.sin(angle), strict=True))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 300), st.integers(1, 4))
def test_membership_agrees_with_another_implementation(seed: int, corners: int, polygons: int) -> None:
    rng = np.random.default_rng(seed)
    stars = [star(rng, corners) for _ in range(polygons)]
    area = Area.of([[ring] for ring in stars])
    x, y = rng.uniform(-2, 2, (2, 2000))
    exact = np.any([shapely.contains_xy(shapely.Polygon(ring), x, y) for ring in stars], axis=0)
    np.testing.assert_array_equal(area.contains(x, y), exact)


def test_polygons_may_overlap_and_have_holes() -> None:
    island = [(4.0, 4.0), (6.0, 4.0), (6.0, 6.0), (4.0, 6.0)]
    both = Area.of(
        [[[(0, 0), (10, 0), (10, 10), (0, 10)], [(2, 2), (8, 2), (8, 8), (2, 8)]], [island], [island]]
    )
    assert both.contains([1, 3, 5], [1, 3, 5]).tolist() == [True, False, True]


def test_cells_know_how_much_land_they_have() -> None:
    land = HARBOUR.land(GRID)
    share = land.share.reshape(5, 5)
    np.testing.assert_allclose(share[0], 1.0)
    np.testing.assert_allclose(share[1:4, 1:4], 0.0)
    assert land.cells.sum() == 16
    half = Area.of([[[(0, 0), (1, 0), (1, 10), (0, 10)]]]).land(GRID)
    np.testing.assert_allclose(half.share.reshape(5, 5)[0], 0.5)


def test_points_are_uniform_on_the_land_of_their_cell() -> None:
    # A triangle: the lower left half of a cell. Its distribution function along x is 1 - (1 - x)^2.
    grid = Grid((0.0, 0.0, 2.0, 2.0), 2)
    land = Area.of([[[(0, 0), (1, 0), (0, 1)]]]).land(grid)
    x, y = land.draw(np.zeros(40_000, dtype=np.int64), np.random.default_rng(1))
    assert land.contains(x, y).all()
    # Squares whose middle is outside of the triangle are left out: less than 1 / FINENESS of a bias.
    assert stats.kstest(x, lambda v: 1 - (1 - np.clip(v, 0, 1)) ** 2).statistic < 1 / FINENESS + np.sqrt(
        -np.log(ALPHA / 2) / (2 * 40_000)
    )
    with pytest.raises(InputError, match="cell B2 has no part in the area"):
        land.draw(np.array([3]), np.random.default_rng(1))


def test_who_is_in_the_water_comes_ashore_where_it_is_near() -> None:
    land = HARBOUR.land(GRID)
    x, y = np.array([3.0, 5.0, 1.0, 20.0]), np.array([5.0, 2.5, 1.0, 5.0])
    new_x, new_y = land.ashore(x, y)
    assert HARBOUR.contains(new_x, new_y).all()
    assert (new_x[2], new_y[2]) == (1.0, 1.0)
    assert new_x[0] == pytest.approx(2.0, abs=0.05)
    assert new_y[1] == pytest.approx(2.0, abs=0.05)
    assert np.hypot(new_x - x, new_y - y)[:2].max() < 1.2


@pytest.mark.parametrize(
    ("polygons", "words"),
    [
        ([], "at least one polygon"),
        ([[[(0, 0), (1, 1)]]], "at least three points"),
        ([[[(0, 0), (1, np.nan), (1, 1)]]], "finite"),
    ],
)
def test_what_is_no_area_is_refused(polygons: list[list[list[tuple[float, float]]]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Area.of(polygons)


def test_an_area_elsewhere_is_refused() -> None:
    with pytest.raises(
        InputError, match="no part of the area lies in the bounds 100,100,110,110; it lies in 0,0,"
    ):
        HARBOUR.land(Grid((100.0, 100.0, 110.0, 110.0), 5))
