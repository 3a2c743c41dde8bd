from __future__ import annotations

import numpy as np
import pytest

from conftest import random_paths
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import place
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import PrivacyWarning
from ldptrace.protocol.grid import Grid
from ldptrace_lab.central.curator import TrustedCurator
from ldptrace_lab.central.dpt import grid_of, learn, synthetic
from synthesis_kit import run_method


@pytest.fixture
def real(grid: Grid, rng: np.random.Generator) -> Trajectories:
    return place(random_paths(4000, grid, rng), rng)


def test_slow_trips_have_small_cells(grid: Grid) -> None:
    grids = [Grid(grid.bounds, grid.n * 2**level) for level in range(3)]
    trips = Trajectories.from_lists(
        [
            [(0.1, 0.1), (0.2, 0.1)],
            [(0.1, 0.1), (0.1, 0.5)],
            [(0.1, 0.1), (0.9, 0.1)],
            [(0.1, 0.1), (3.9, 0.1)],
        ]
    )
    assert grid_of(trips, grids).tolist() == [2, 1, 0, 0]


@pytest.mark.slow
def test_much_epsilon_gives_the_densities_back(
    real: Trajectories, grid: Grid, rng: np.random.Generator
) -> None:
    trees = learn(real, grid, TrustedCurator(20.0, rng))
    assert np.isclose(sum(tree.share for tree in trees), 1)
    made = synthetic(trees, 4000, rng)
    assert len(made) == 4000
    shares = [
        np.bincount(CellPaths.from_trajectories(each, grid).cells, minlength=grid.cells)
        for each in (real, made)
    ]
    first, second = (each / each.sum() for each in shares)
    assert np.abs(first - second).sum() < 0.15


def test_a_tree_remembers_the_last_move(grid: Grid, rng: np.random.Generator) -> None:
    """Everybody goes straight through one cell, half from the west and half from the south."""
    west = [(0.5, 1.5), (1.5, 1.5), (2.5, 1.5)]
    south = [(1.5, 0.5), (1.5, 1.5), (1.5, 2.5)]
    trees = learn(Trajectories.from_lists([west, south] * 500), grid, TrustedCurator(20.0, rng))
    assert trees[0].share > 0.95
    made = CellPaths.from_trajectories(synthetic(trees, 1000, rng), grid)
    parts = [tuple(part.tolist())[:3] for part in np.split(made.cells, made.offsets[1:-1])]
    straight = sum(part in {(1, 5, 9), (4, 5, 6)} for part in parts)
    turned = sum(part in {(1, 5, 6), (1, 5, 4), (4, 5, 9), (4, 5, 1)} for part in parts)
    assert straight > 700
    assert turned < 30


def test_nobody_and_nothing(grid: Grid, rng: np.random.Generator) -> None:
    trees = learn(Trajectories.from_lists([[], []]), grid, TrustedCurator(1.0, rng))
    assert len(synthetic(trees, 3, rng)) == 3
    assert len(synthetic(trees, 0, rng)) == 0


def test_the_method_says_whom_one_must_trust(real: Trajectories, grid: Grid) -> None:
    with pytest.warns(PrivacyWarning, match="trusted curator"):
        run = run_method(real, 1.0, bounds=grid.bounds, grid=4, method="dpt", seed=1, count=20)
    assert len(run.trajectories) == 20
    assert "trusted curator" in run.privacy()["leaks"]
