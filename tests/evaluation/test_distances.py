from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation_data import drifting_walks
from ldptrace.core.crs import scale_of
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation import distances
from ldptrace.evaluation.distances import count_near, largest_distance
from ldptrace.protocol.grid import Grid

shapes = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=80)


@given(shapes)
def test_diameter_is_the_farthest_pair(points: list[tuple[int, int]]) -> None:
    found = distances.diameters(Trajectories.from_lists([points]))[0]
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
        found = distances.diameters(Trajectories(x, y, np.array([0, 300])))[0]
        assert found == pytest.approx(expected, rel=1e-12), shape


def test_distances_are_in_metres_when_geographic() -> None:
    # A degree of latitude is 111.2 km, one of longitude at 60 degrees north half of it.
    grid = Grid((10, 59, 12, 61), 2)
    kx, ky = scale_of(grid.bounds, "EPSG:4326")
    assert ky == pytest.approx(111_195, abs=1)
    assert kx == pytest.approx(ky / 2, rel=1e-12)
    line = Trajectories.from_lists([[(10, 60), (11, 60)]])
    assert distances.travel_distances(line, (kx, ky))[0] == pytest.approx(55_597, abs=1)


Line = list[tuple[float, float]]


def lines(trajectories: Trajectories) -> list[Line]:
    return [
        list(zip(trajectories.x[a:b].tolist(), trajectories.y[a:b].tolist(), strict=True))
        for a, b in itertools.pairwise(trajectories.offsets)
    ]


def warped(first: Line, second: Line) -> float:
    """The whole table, as in every textbook."""
    table = np.full((len(first) + 1, len(second) + 1), np.inf)
    table[0, 0] = 0.0
    for i, a in enumerate(first, start=1):
        for j, b in enumerate(second, start=1):
            table[i, j] = math.dist(a, b) + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return float(table[-1, -1])


@pytest.mark.slow
@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_warping_distances_are_exact(seed: int) -> None:
    one, other = drifting_walks(12, seed), drifting_walks(15, seed + 1)
    first, second = lines(one), lines(other)
    distances = np.array([[warped(a, b) for b in second] for a in first])
    threshold = float(np.quantile(distances, 0.3))
    assert count_near(one, other, threshold, 99).tolist() == (distances <= threshold).sum(axis=1).tolist()
    assert count_near(one, other, threshold, 2).max() <= 2
    among = np.array([[warped(a, b) for b in first] for a in first])
    assert largest_distance(one) == pytest.approx(among.max(), rel=1e-12)
    near = (among <= threshold).sum(axis=1) - 1
    assert count_near(one, one, threshold, 99, itself=True).tolist() == near.tolist()


def test_nobody_is_near_to_an_empty_set() -> None:
    one = Trajectories.from_lists([[(0, 0), (1, 1)]])
    assert count_near(one, Trajectories.from_lists([]), 9.0, 5).tolist() == [0]
    assert count_near(one, one, 0.0, 5).tolist() == [1]
    assert count_near(one, one, 0.0, 5, itself=True).tolist() == [0]


def test_waiting_costs_nothing_where_the_other_waits_too() -> None:
    moving, waiting = [(0, 0), (1, 0), (2, 0)], [(0, 0), (0, 0), (1, 0), (2, 0), (2, 0)]
    assert largest_distance(Trajectories.from_lists([moving, waiting])) == 0.0
