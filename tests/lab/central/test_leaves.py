from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.protocol.grid import Grid
from ldptrace_lab.central.leaves import Leaves


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
