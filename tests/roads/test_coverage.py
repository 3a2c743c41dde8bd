"""How much of a box has streets, and which cells have none."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.protocol.grid import Grid
from ldptrace.roads.coverage import Coverage, covered
from road_kit import lattice_roads

TOWN = lattice_roads(20)  # streets in 0..1900


@pytest.mark.parametrize(("side", "share"), [(1900, 1.0), (3800, 0.25), (19_000, 0.01)])
def test_the_share_of_the_bounds_with_streets(side: int, share: float) -> None:
    # A block at the rim of the town counts too.
    assert share - 1e-9 <= covered(TOWN, (0, 0, side, side)) <= share + 0.05


def test_cells_without_streets_are_those_outside_the_town() -> None:
    found = Coverage.of(TOWN, Grid((0, 0, 4000, 4000), 4))
    assert np.flatnonzero(~found.bare).tolist() == [0, 1, 4, 5]
    assert found.line == "Streets in 25% of the bounds"


def test_one_road_through_a_cell_makes_it_one_with_streets() -> None:
    inside = (TOWN.y > 850) & (TOWN.y < 950)
    assert not Coverage.of(TOWN.take_nodes(inside), Grid((0, 0, 1900, 1900), 2)).bare[[0, 2]].any()


def test_a_file_keeps_it_and_is_checked() -> None:
    grid = Grid((0, 0, 3800, 3800), 4)
    found = Coverage.of(TOWN, grid)
    loaded = Coverage.restored(found.document(), grid)
    assert loaded is not None
    assert loaded.share == found.share
    assert np.array_equal(loaded.bare, found.bare)
    assert Coverage.restored(None, grid) is None
    with pytest.raises(ValueError, match="among the 16 of the grid"):
        Coverage.restored({"share": 0.5, "bare": [16]}, grid)
