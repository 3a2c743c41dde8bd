"""Cuts of routes into cells."""

from __future__ import annotations

import numpy as np

from ldptrace.models.routes.fitted import Cut
from ldptrace.protocol.grid import Grid
from ldptrace.roads.library import Library
from road_kit import lattice_roads

GRID = Grid((0, 0, 1900, 1900), 3)
ROADS = lattice_roads(20)


def test_joined_cuts_are_cut_as_they_were() -> None:
    rng = np.random.default_rng(1)
    routes = [Library(routes=many).draw(ROADS, rng) for many in (40, 70)]
    cuts = [Cut.of(part, GRID, rng) for part in routes]
    both = cuts[0].joined(cuts[1])
    assert np.array_equal(both.strides.kind, np.concatenate([cut.strides.kind for cut in cuts]))
    again = both.strides.cells(routes[0].joined(routes[1]), GRID)
    assert np.array_equal(both.cells.cells, again.cells)
    assert np.array_equal(both.cells.offsets, again.offsets)
