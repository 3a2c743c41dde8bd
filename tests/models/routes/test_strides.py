from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ldptrace.core.paths import CellPaths
from ldptrace.models.routes.strides import DRAWN, SHARES, STRIDES, Strides
from ldptrace.protocol.grid import Grid
from ldptrace.roads.library import Library
from ldptrace.roads.routes import Routes
from road_kit import scattered_roads

GRID = Grid((0.0, 0.0, 1000.0, 1000.0), 6)


@pytest.fixture(scope="module")
def routes() -> Routes:
    return Library(routes=300).draw(scattered_roads(), np.random.default_rng(1))


def test_strides_are_drawn_as_often_as_stated(routes: Routes, rng: np.random.Generator) -> None:
    strides = Strides.drawn(routes, GRID, rng)
    np.testing.assert_allclose(np.bincount(strides.kind), len(routes) * np.array(DRAWN), atol=0.6)
    assert not strides.timed
    np.testing.assert_allclose(strides.apart, np.array(STRIDES) * min(GRID.step))


def test_strides_are_seconds_where_speeds_are_known(routes: Routes, rng: np.random.Generator) -> None:
    fast = replace(routes, roads=replace(routes.roads, seconds=routes.roads.length / 20.0))
    strides = Strides.drawn(fast, GRID, rng)
    assert strides.timed
    np.testing.assert_allclose(strides.apart, np.array(STRIDES) * min(GRID.step) / 20.0)


def test_dense_fixes_are_common_before_any_answer(routes: Routes, rng: np.random.Generator) -> None:
    strides = Strides.drawn(routes, GRID, rng)
    weights = strides.weighted(np.full(len(routes), 1 / len(routes)))
    np.testing.assert_allclose(np.bincount(strides.kind, weights=weights), SHARES, atol=0.001)
    assert weights.sum() == pytest.approx(1)


def test_strides_follow_those_of_a_fit_without_becoming_more_common(
    routes: Routes, rng: np.random.Generator
) -> None:
    found = np.array([0.0, 0.9, 0.1, 0, 0, 0, 0])
    strides = Strides.drawn(routes, GRID, rng, found)
    drawn = np.bincount(strides.kind, minlength=len(STRIDES)) / len(routes)
    assert drawn[1] > 0.8
    # None is missing, whatever a fit finds.
    assert drawn.min() > 0
    both = Strides.drawn(routes, GRID, rng).joined(strides)
    weights = both.weighted(np.full(len(both.kind), 1 / len(both.kind)))
    # 300 routes have one or two of a stride that is drawn once in 200.
    np.testing.assert_allclose(both.shares(weights), SHARES, atol=0.03)
    picked = np.array([3, 310])
    assert both.take(picked).kind.tolist() == [
        strides_of.kind[i] for strides_of, i in ((both, 3), (strides, 10))
    ]


def test_the_paths_of_the_dense_points_are_those_of_the_fixes(
    routes: Routes, rng: np.random.Generator
) -> None:
    strides = Strides.drawn(routes, GRID, rng)
    trips = strides.trips(routes, np.arange(len(routes)), GRID)
    seen, wanted = CellPaths.from_trajectories(trips, GRID), strides.cells(routes, GRID)
    same = [
        np.array_equal(seen.cells[a:b], wanted.cells[c:d])
        for a, b, c, d in zip(
            seen.offsets, seen.offsets[1:], wanted.offsets, wanted.offsets[1:], strict=False
        )
    ]
    # Fixes at the stride and every so-manieth dense point lie a little apart at the end of a route.
    assert np.mean(same) > 0.95
    assert trips.points > strides.points(routes, np.arange(len(routes))).points
