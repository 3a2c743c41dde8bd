from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.moves import grid_moves, inside, link_items, move_items
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import link_count


def test_every_feasible_move_has_one_item() -> None:
    items = move_items(4)
    assert np.array_equal(np.sort(items[items >= 0]), np.arange(len(grid_moves(4))))


def test_a_move_and_its_way_back_are_one_link() -> None:
    links = link_items(5)
    assert np.array_equal(np.bincount(links[links >= 0]), np.full(link_count(5), 2))
    for cell, direction, target in grid_moves(5).tolist():
        assert links[8 * cell + direction] == links[8 * target + 7 - direction]


def test_tables_are_shared_and_cannot_be_written() -> None:
    assert grid_moves(3) is grid_moves(3)
    with pytest.raises(ValueError, match="read-only"):
        grid_moves(3)[0, 0] = 1


def test_the_border_is_inside() -> None:
    x = np.array([0.0, 1.0, 1.1, -0.1])
    assert inside(Grid((0, 0, 1, 1), 2), x, np.full(4, 0.5)).tolist() == [True, True, False, False]
