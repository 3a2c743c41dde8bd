"""Routes: their lines, their cells, and public trajectories as a library."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.roads.library import Library
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes
from road_kit import scattered_roads


def bent() -> RoadNetwork:
    """Two edges, the first with a bend in its line; 100 and 50 long, 10 and 50 seconds."""
    return RoadNetwork.of(
        [0, 50, 100],
        [0, 50, 50],
        [0, 1],
        [1, 2],
        seconds=[10, 50],
        shape=([50.0], [0.0], [0, 1, 1]),
    )


def test_points_at_equal_distances_follow_the_line() -> None:
    routes = Routes.of(bent(), [[0, 1]])
    points = routes.points(spacing=25)
    assert points.x.tolist() == [0, 25, 50, 50, 50, 75, 100]
    assert points.y.tolist() == [0, 0, 0, 25, 50, 50, 50]
    assert points.t is not None
    assert points.t.tolist() == [0, 2.5, 5, 7.5, 10, 35, 60]


def test_points_in_time_are_dense_where_traffic_is_slow() -> None:
    points = Routes.of(bent(), [[0, 1]]).points(interval=8)
    assert points.t is not None
    assert points.t.tolist() == [0, 8, 16, 24, 32, 40, 48, 56, 60]
    assert points.x[:3].tolist() == [0, 50, 56]
    assert points.y[:3].tolist() == pytest.approx([0, 30, 50])


def test_bends_alone() -> None:
    points = Routes.of(bent(), [[0, 1], [1]]).points()
    assert points.offsets.tolist() == [0, 4, 6]
    assert points.x.tolist() == [0, 50, 50, 100, 50, 100]
    assert points.y.tolist() == [0, 0, 50, 50, 50, 50]


def test_a_route_may_begin_and_end_within_an_edge() -> None:
    routes = Routes(bent(), [0, 1, 0], [0, 2, 3], [0.25, 0.5], [0.5, 0.75], [0.5, 0.5])
    assert routes.lengths.tolist() == [100, 25]
    assert routes.seconds is not None
    assert routes.seconds.tolist() == [32.5, 2.5]
    for points in (routes.points(spacing=1000), routes.points(interval=1000)):
        assert points.x.tolist() == [25, 75, 50, 50]
        assert points.y.tolist() == [0, 50, 0, 25]
    bends = routes.points()
    assert bends.x.tolist() == [25, 50, 50, 75, 50, 50, 50]


@pytest.mark.parametrize("spacing", [7.0, 60.0, 333.0])
def test_points_lie_on_the_streets_and_are_never_too_far_apart(spacing: float) -> None:
    roads = scattered_roads(seed=2)
    routes = Library(routes=200).draw(roads, np.random.default_rng(0))
    points = routes.points(spacing=spacing)
    dense = routes.points()
    for k in range(len(routes)):
        x, y = (column[points.offsets[k] : points.offsets[k + 1]] for column in (points.x, points.y))
        a, b = (column[dense.offsets[k] : dense.offsets[k + 1]] for column in (dense.x, dense.y))
        assert np.hypot(np.diff(x), np.diff(y)).max() <= spacing * (1 + 1e-9)
        assert (x[0], y[0], x[-1], y[-1]) == pytest.approx((a[0], b[0], a[-1], b[-1]))
        assert np.hypot(np.diff(a), np.diff(b)).sum() == pytest.approx(routes.lengths[k])
        length = np.hypot(np.diff(a), np.diff(b))
        for px, py in zip(x, y, strict=True):
            along = np.clip(
                ((px - a[:-1]) * np.diff(a) + (py - b[:-1]) * np.diff(b)) / np.maximum(length, 1e-12) ** 2,
                0,
                1,
            )
            off = np.hypot(px - a[:-1] - along * np.diff(a), py - b[:-1] - along * np.diff(b))
            assert off.min() < 1e-6


def test_public_trajectories_are_a_library_too() -> None:
    file = Trajectories(
        [0, 1, 1, 5, 9, 9], [0, 0, 2, 5, 9, 8], [0, 3, 4, 6], t=[0, 10, 20, 0, 5, 9], crs="EPSG:3857"
    )
    routes = Routes.from_trajectories(file)
    assert len(routes) == 2
    points = routes.points()
    assert points.x.tolist() == [0, 1, 1, 9, 9]
    assert points.y.tolist() == [0, 0, 2, 9, 8]
    assert points.crs == "EPSG:3857"
    assert routes.seconds is not None
    assert routes.seconds.tolist() == [20, 4]
    with pytest.raises(InputError, match="two points"):
        Routes.from_trajectories(Trajectories.from_lists([[(0, 0)]]))


def test_only_the_streets_that_are_used_are_kept() -> None:
    routes = Library(routes=3).draw(scattered_roads(seed=5), np.random.default_rng(0))
    small = routes.on_used_roads()
    assert small.roads.edges == len(np.unique(routes.edges)) < routes.roads.edges
    assert np.array_equal(small.points(spacing=10).x, routes.points(spacing=10).x)


def test_taken_routes_keep_their_lines() -> None:
    routes = Library(routes=50).draw(scattered_roads(seed=5), np.random.default_rng(0))
    picked = routes.take([7, 3, 7])
    assert picked.weights.sum() == pytest.approx(1)
    again = routes.points([7, 3, 7])
    assert np.array_equal(picked.points().x, again.x)


def test_misuse_is_refused() -> None:
    roads = RoadNetwork.of([0, 1], [0, 1], [0, 1], [1, 0])
    routes = Routes.of(roads, [[0]])
    with pytest.raises(InputError, match="spacing must be a positive number, got 0"):
        routes.points(spacing=0)
    with pytest.raises(InputError, match="not both"):
        routes.points(spacing=1, interval=1)
    with pytest.raises(InputError, match="its speeds are not known"):
        routes.points(interval=1)
    with pytest.raises(InputError, match="not among the 2"):
        Routes.of(roads, [[5]])
    with pytest.raises(InputError, match="at least one route"):
        Routes.of(roads, [])
    with pytest.raises(InputError, match="not all zero"):
        Routes(roads, [0], [0, 1], [0.0], [1.0], [0.0])
    with pytest.raises(InputError, match="at least one route"):
        Library(routes=0)
