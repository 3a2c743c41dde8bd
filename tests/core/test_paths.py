from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldptrace.core.paths import (
    CellPaths,
    bend_items,
    districts_of,
    grid_moves,
    link_items,
    move_items,
)
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import bend_item, district, link_count


def test_every_feasible_move_has_one_item() -> None:
    items = move_items(4)
    assert np.array_equal(np.sort(items[items >= 0]), np.arange(len(grid_moves(4))))


def test_a_move_and_its_way_back_are_one_link() -> None:
    links = link_items(5)
    assert np.array_equal(np.bincount(links[links >= 0]), np.full(link_count(5), 2))
    for cell, direction, target in grid_moves(5).tolist():
        assert links[8 * cell + direction] == links[8 * target + 7 - direction]


@pytest.mark.parametrize("n", [2, 3, 6])
def test_tables_of_bends_and_districts_are_those_of_the_device(n: int) -> None:
    moves, table = grid_moves(n).tolist(), bend_items(n).reshape(-1, 8)
    for row, (before, _, here) in zip(table.tolist(), moves, strict=True):
        found = [-1] * 8
        for source, direction, after in moves:
            if source == here:
                found[direction] = bend_item(before, here, after, n)
        assert row == found
    assert districts_of(n, 2).tolist() == [district(cell, n, 2) for cell in range(n * n)]


def test_tables_are_shared_and_cannot_be_written() -> None:
    assert grid_moves(3) is grid_moves(3)
    with pytest.raises(ValueError, match="read-only"):
        grid_moves(3)[0, 0] = 1


points = st.lists(st.tuples(st.floats(-2, 12), st.floats(-2, 12)), max_size=12)


@given(st.lists(points, max_size=6), st.integers(2, 9))
def test_paths_are_adjacent_and_keep_both_ends(trajectories: list[list[tuple[float, float]]], n: int) -> None:
    grid = Grid((0, 0, 10, 10), n)
    paths = CellPaths.from_trajectories(Trajectories.from_lists(trajectories), grid)
    assert len(paths) == len(trajectories)
    for k, trajectory in enumerate(trajectories):
        path = paths.cells[paths.offsets[k] : paths.offsets[k + 1]]
        if not trajectory:
            assert len(path) == 0
            continue
        assert path[0] == grid.cell(*trajectory[0])
        assert path[-1] == grid.cell(*trajectory[-1])
        steps = np.maximum(np.abs(np.diff(path // n)), np.abs(np.diff(path % n)))
        assert np.all(steps == 1)
        # Every visited cell is on the path, in order.
        wanted = [grid.cell(*point) for point in trajectory]
        position = 0
        for cell in wanted:
            while path[position] != cell:
                position += 1


@pytest.mark.parametrize(
    "bounds",
    [
        (0, 0, 10, 10),
        (5e6, -3e6, 5e6 + 7, -3e6 + 11),
        (-122.5, 37.7, -122.4999, 37.7003),
        (1e-9, 0.1, 2e-9, 0.3),
    ],
)
@pytest.mark.parametrize("n", [3, 7, 64])
def test_a_step_over_a_border_is_that_of_the_device(
    bounds: tuple[float, float, float, float], n: int, rng: np.random.Generator
) -> None:
    """Points within a few roundings of a border, after points on either side of it."""
    grid = Grid(bounds, n)
    (ox, oy), (sx, sy) = grid.origin, grid.step
    i, j = rng.integers(0, n + 1, (2, 4000))
    x, y = ox + sx * i, oy + sy * j
    for _ in range(3):
        x = np.where(rng.random(4000) < 0.5, np.nextafter(x, np.inf), np.nextafter(x, -np.inf))
        y = np.where(rng.random(4000) < 0.5, np.nextafter(y, np.inf), np.nextafter(y, -np.inf))
    before_x = x + sx * rng.choice([-0.5, 0.0, 0.5], 4000)
    before_y = y + sy * rng.choice([-0.5, 0.0, 0.5], 4000)
    steps = Trajectories(
        np.column_stack([before_x, x]).ravel(),
        np.column_stack([before_y, y]).ravel(),
        np.arange(0, 8001, 2),
    )
    paths = CellPaths.from_trajectories(steps, grid)
    assert paths.ends().tolist() == [grid.cell(*point) for point in zip(x, y, strict=True)]


def test_a_jump_is_filled_by_the_greedy_king_path() -> None:
    grid = Grid((0, 0, 6, 6), 6)
    jump = Trajectories.from_lists([[(0.5, 0.5), (5.5, 2.5)]])
    path = CellPaths.from_trajectories(jump, grid).cells
    assert [(c // 6, c % 6) for c in path.tolist()] == [(0, 0), (1, 1), (2, 2), (3, 2), (4, 2), (5, 2)]


def test_many_trajectories_over_several_chunks(rng: np.random.Generator) -> None:
    sizes = rng.integers(0, 5, size=70_000)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    x, y = rng.random((2, offsets[-1])) * 4
    grid = Grid((0, 0, 4, 4), 4)
    whole = Trajectories(x, y, offsets)
    paths = CellPaths.from_trajectories(whole, grid)
    some = rng.integers(0, 70_000, size=200)
    alone = CellPaths.from_trajectories(whole.take(some), grid)
    assert np.array_equal(alone.cells, paths.take(some).cells)
    assert np.array_equal(paths.sizes > 0, sizes > 0)


def test_starts_and_ends_skip_empty_paths() -> None:
    paths = CellPaths.from_lists([[0, 1], [], [3]], Grid((0, 0, 1, 1), 2))
    assert paths.starts().tolist() == [0, 3]
    assert paths.ends().tolist() == [1, 3]


def test_coarser_paths_are_those_of_the_coarser_grid(rng: np.random.Generator) -> None:
    """On dense points both are the same; a path that stays in a block has one cell, and an empty one none."""
    x, y = (np.cumsum(rng.normal(0, 0.1, 3000)) for _ in range(2))
    points = Trajectories(np.clip(x, -6, 6), np.clip(y, -6, 6), np.array([0, 0, 1000, 3000]))
    fine, coarse = Grid((-6, -6, 6, 6), 12), Grid((-6, -6, 6, 6), 4)
    found = CellPaths.from_trajectories(points, fine).coarser(3)
    wanted = CellPaths.from_trajectories(points, coarse)
    assert found.grid == coarse
    assert found.offsets.tolist() == wanted.offsets.tolist()
    assert found.cells.tolist() == wanted.cells.tolist()


def test_blocks_must_divide_the_grid() -> None:
    with pytest.raises(InputError, match="10 cells per side cannot be joined to blocks of 3"):
        CellPaths.from_lists([[0]], Grid((0, 0, 1, 1), 10)).coarser(3)
