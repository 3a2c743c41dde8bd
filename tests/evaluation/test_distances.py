from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation import distances
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
    kx, ky = distances.metric_scale(grid, geographic=True)
    assert ky == pytest.approx(111_195, abs=1)
    assert kx == pytest.approx(ky / 2, rel=1e-12)
    line = Trajectories.from_lists([[(10, 60), (11, 60)]])
    assert distances.travel_distances(line, (kx, ky))[0] == pytest.approx(55_597, abs=1)
