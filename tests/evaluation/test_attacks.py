"""The two attacks, beside plain versions of themselves."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation_data import drifting_walks
from ldptrace.core.paths import CellPaths
from ldptrace.core.trajectories import Trajectories
from ldptrace.evaluation.attacks import (
    KAPPAS,
    outlier,
    outliers,
    reidentification,
    resilience_of,
    uniform_walks,
    zone_visits,
)
from ldptrace.protocol.grid import Grid

GRID = Grid((0, 0, 10, 10), 6)
Line = list[tuple[float, float]]


def lines(trajectories: Trajectories) -> list[Line]:
    return [
        list(zip(trajectories.x[a:b].tolist(), trajectories.y[a:b].tolist(), strict=True))
        for a, b in itertools.pairwise(trajectories.offsets)
    ]


def test_the_zone_is_the_four_central_cells() -> None:
    grid = Grid((0, 0, 6, 6), 6)
    visits = zone_visits(Trajectories.from_lists([[(1, 3), (2.5, 3), (3.5, 3.5), (5, 3)], [(0, 0)]]), grid)
    assert lines(visits) == [[(2.5, 3.0), (3.5, 3.5)]]
    walks = drifting_walks(200, 1)
    cells = [{GRID.cell(*point) for point in line} for line in lines(walks)]
    inside = sum(bool(visited & {14, 15, 20, 21}) for visited in cells)
    assert len(zone_visits(walks, GRID)) == inside


def test_the_zone_of_a_small_grid_is_everything() -> None:
    walks = drifting_walks(50, 1)
    assert zone_visits(walks, Grid((0, 0, 10, 10), 2)).points == walks.points


def test_reidentification_by_hand() -> None:
    # Three users in the zone: two together, one far away. The largest distance is 1.5, the threshold 0.3.
    real = Trajectories.from_lists([[(4.0, 5.0)], [(4.1, 5.0)], [(5.5, 5.0)]])
    threshold, attack = reidentification(real, GRID)
    assert threshold == pytest.approx(0.3)
    crowd = Trajectories.from_lists([[(4.0, 5.0)]] * 5 + [[(0.0, 0.0)]] * 50)
    found = attack(crowd)
    assert found["attacked"] == 3
    # Two users have five matches: defended for kappa below five.
    assert found["resilience"] == [2 / 3 if kappa < 5 else 0.0 for kappa in KAPPAS]
    assert attack(None)["resilience"] == [0.0] * 9
    assert attack(Trajectories.from_lists([[(0.0, 0.0)]]))["resilience"] == [0.0] * 9


def test_an_empty_zone_attacks_nobody() -> None:
    real = Trajectories.from_lists([[(0.0, 0.0), (1.0, 1.0)]])
    found = reidentification(real, GRID)[1](real)
    assert found["attacked"] == 0
    assert all(math.isnan(ratio) for ratio in found["resilience"])


def test_outlier_attack_by_hand() -> None:
    # Real distances 0, 1, ..., 8: the threshold is 2.
    real = Trajectories.from_lists([[(0, 0), (k, 0)] for k in range(9)])
    threshold, attack = outlier(real, GRID)
    assert threshold == 2.0
    # One published trajectory of length 8 has the matches 6, 7, 8; one of 4 has 2 to 6.
    found = attack(Trajectories.from_lists([[(0, 0), (8, 0)], [(0, 0), (4, 0)]]))
    assert found["attacked"] == 2
    assert found["resilience"][:4] == [1.0, 0.5, 0.5, 0.0]
    # Among the others, 0 and 8 have two matches, 1 and 7 three, the rest four.
    assert attack(None)["resilience"][:3] == [7 / 9, 5 / 9, 0.0]


@given(st.lists(st.integers(0, 60), min_size=1, max_size=90))
def test_outliers_are_far_from_their_neighbours(values: list[int]) -> None:
    distances = np.array(values, dtype=float)
    near = min(50, len(values) - 1)
    radius = [float(np.sort(np.abs(distances - value))[near]) for value in distances]
    found = outliers(distances)
    assert len(found) == min(len(values), 200)
    assert sorted(found) == sorted(distances)
    by_value = dict(zip(distances, radius, strict=True))
    order = [by_value[value] for value in found]
    assert order == sorted(order, reverse=True)


def test_random_walks_know_the_lengths_only(rng: np.random.Generator) -> None:
    paths = CellPaths.from_trajectories(drifting_walks(500, 1), GRID)
    walks = uniform_walks(paths.sizes, GRID, rng)
    again = CellPaths.from_trajectories(walks, GRID)
    assert np.array_equal(again.sizes, paths.sizes)
    # 500 uniform starts in 36 cells: one with more than 45 has a probability below 1e-9.
    assert np.bincount(again.starts(), minlength=36).max() <= 45


def test_resilience_without_victims_is_undefined() -> None:
    assert resilience_of(np.array([], dtype=np.int64))["attacked"] == 0
