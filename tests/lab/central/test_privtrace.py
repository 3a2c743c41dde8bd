from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import random_paths
from ldptrace.core.placement import place
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import PrivacyWarning
from ldptrace.protocol.grid import Grid
from ldptrace_lab.central.curator import TrustedCurator
from ldptrace_lab.central.privtrace import LONGEST, Leaves, calibrated, learn, norm_cut, synthetic
from synthesis_kit import run_method


@pytest.fixture
def real(grid: Grid, rng: np.random.Generator) -> Trajectories:
    return place(random_paths(4000, grid, rng), rng)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=12))
def test_what_negative_values_lack_is_taken_from_the_smallest(values: list[float]) -> None:
    given_ = np.array(values)
    found = norm_cut(given_)
    assert np.all(found >= 0)
    assert np.all(found <= np.maximum(given_, 0) + 1e-12)
    assert np.isclose(found.sum(), max(given_.sum(), 0), atol=1e-9)
    changed = (found < np.maximum(given_, 0) - 1e-9) & (found > 1e-9)
    assert changed.sum() <= 1


def test_a_calibrated_table_has_the_starts_and_the_ends(rng: np.random.Generator) -> None:
    start, leave, ways = rng.random(6), rng.random(6), rng.integers(1, 5, (6, 6))
    trips = calibrated(start, leave, ways, rounds=200)
    weighted = trips / (ways + 1)
    assert np.allclose(weighted.sum(axis=1) / weighted.sum(), start / start.sum(), atol=1e-6)
    assert np.allclose(weighted.sum(axis=0) / weighted.sum(), leave / leave.sum(), atol=1e-6)


@pytest.mark.slow
def test_much_epsilon_gives_the_densities_back(
    real: Trajectories, grid: Grid, rng: np.random.Generator
) -> None:
    features = learn(real, grid, TrustedCurator(20.0, rng))
    assert set(features.leaves.sides.tolist()) <= {1, 2, 4}
    made = synthetic(features, 4000, rng)
    assert len(made) == 4000
    shares = [
        np.bincount(features.leaves.paths(each)[0], minlength=features.leaves.count) for each in (real, made)
    ]
    first, second = (each / each.sum() for each in shares)
    assert np.abs(first - second).sum() < 0.2


def test_second_order_remembers_where_one_came_from(grid: Grid, rng: np.random.Generator) -> None:
    """Everybody goes straight through the middle, half from the west and half from the south, and nobody turns."""
    west = [(0.5, 1.5), (1.5, 1.5), (2.5, 1.5)]
    south = [(1.5, 0.5), (1.5, 1.5), (1.5, 2.5)]
    real = Trajectories.from_lists([west, south] * 90)
    features = learn(real, grid, TrustedCurator(20.0, rng))
    assert features.leaves.count == 16
    assert features.table[5] >= 0
    made, offsets = features.leaves.paths(synthetic(features, 1000, rng))
    ways = {tuple(part.tolist()) for part in np.split(made, offsets[1:-1]) if len(part) == 3}
    turned = {(1, 5, 6), (1, 5, 4), (4, 5, 9), (4, 5, 1)}
    counts = [tuple(part.tolist()) for part in np.split(made, offsets[1:-1])]
    straight = sum(part[:3] in {(1, 5, 9), (4, 5, 6)} for part in counts)
    assert straight > 20 * max(1, sum(part[:3] in turned for part in counts))
    assert ways


def test_walks_that_are_caught_are_drawn_anew(
    real: Trajectories, grid: Grid, rng: np.random.Generator
) -> None:
    """Leaves 0 and 1 lead to each other only, and nobody ends there."""
    features = learn(real, grid, TrustedCurator(20.0, rng))
    onward, leave, table = features.onward.copy(), features.leave.copy(), features.table.copy()
    for leaf, other in ((0, 1), (1, 0)):
        own = slice(features.leaves.begin[leaf], features.leaves.begin[leaf + 1])
        onward[own] = features.leaves.to[own] == other
        leave[leaf], table[leaf] = 0.0, -1
    caught = replace(features, onward=onward, leave=leave, table=table)
    made = synthetic(caught, 1000, rng)
    assert len(made) == 1000
    assert made.sizes.max() < LONGEST
    # If there is no other way, the walks stay as they are.
    trips = np.zeros_like(features.trips)
    trips[0, 1] = 1.0
    assert set(synthetic(replace(caught, trips=trips), 5, rng).sizes.tolist()) == {LONGEST}


def test_nobody_and_nothing(grid: Grid, rng: np.random.Generator) -> None:
    features = learn(Trajectories.from_lists([[], []]), grid, TrustedCurator(1.0, rng))
    assert len(synthetic(features, 3, rng)) == 3
    assert len(synthetic(features, 0, rng)) == 0


def test_the_method_says_whom_one_must_trust(real: Trajectories, grid: Grid) -> None:
    with pytest.warns(PrivacyWarning, match="trusted curator"):
        run = run_method(real, 1.0, bounds=grid.bounds, grid=4, method="privtrace", seed=1, count=20)
    assert len(run.trajectories) == 20
    assert "trusted curator" in run.privacy()["leaks"]


@pytest.fixture
def leaves(grid: Grid) -> Leaves:
    sides = np.ones(16, dtype=np.int64)
    sides[0], sides[5] = 4, 2
    return Leaves(grid, sides)


def test_leaves_are_numbered_cell_by_cell(leaves: Leaves) -> None:
    assert leaves.count == 16 + 4 + 14
    assert np.bincount(leaves.of_fine).tolist() == [1] * 16 + [16] * 4 + [4] * 4 + [16] * 10


def test_leaves_that_touch_are_neighbours_of_each_other(leaves: Leaves) -> None:
    here, there = np.divmod(leaves.edges, leaves.count)
    assert set(zip(here.tolist(), there.tolist(), strict=True)) == set(
        zip(there.tolist(), here.tolist(), strict=True)
    )
    # The corner leaf of the finest cell touches three, all in its own cell.
    assert there[here == 0].tolist() == [1, 4, 5]


def test_paths_go_from_leaf_to_leaf_that_touch(leaves: Leaves, rng: np.random.Generator) -> None:
    walks = 4 * rng.random((200, 6, 2))
    real = Trajectories(walks[..., 0].ravel(), walks[..., 1].ravel(), np.arange(0, 1201, 6))
    path, offsets = leaves.paths(real)
    inner = np.setdiff1d(np.arange(len(path)), offsets[:-1])
    assert np.all(np.isin(path[inner - 1] * leaves.count + path[inner], leaves.edges))
    assert len(offsets) == 201


def test_points_are_in_their_leaves(leaves: Leaves, rng: np.random.Generator) -> None:
    path, offsets = np.int32([0, 1, 17, 33]), np.array([0, 2, 3, 4])
    made = leaves.points(path, offsets, rng)
    assert made.sizes.tolist() == [2, 2, 2]
    found, starts = leaves.paths(made)
    assert found.tolist() == path.tolist()
    assert starts.tolist() == offsets.tolist()
