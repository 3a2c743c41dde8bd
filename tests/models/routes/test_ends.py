"""Places within cells: where routes begin and end, how dense streets are, and what is believed of them."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.models.routes.ends import Ends, end_components, places_of, street_density
from ldptrace.protocol.grid import Grid
from ldptrace.roads.library import Library, zones_of
from ldptrace.roads.network import RoadNetwork
from road_kit import lattice_roads


@pytest.mark.parametrize(("n", "places"), [(2, 8), (6, 24), (8, 24), (12, 12), (18, 18), (30, 30)])
def test_places_nest_in_cells(n: int, places: int) -> None:
    assert places_of(Grid((0, 0, 1, 1), n)).n == places


def test_ends_lie_in_the_cells_of_their_routes() -> None:
    roads, grid = lattice_roads(9), Grid((0, 0, 800, 800), 2)
    routes = Library(routes=500).draw(roads, np.random.default_rng(0))
    ends, cell = Ends.of(routes, grid), zones_of(roads, grid)
    for place, edge in ((ends.start, routes.offsets[:-1]), (ends.end, routes.offsets[1:] - 1)):
        i, j = np.divmod(place, 8)
        assert np.array_equal(i // 4 * 2 + j // 4, cell[routes.edges[edge]])


def test_dense_streets_stand_out() -> None:
    """Three streets in one corner, one in the opposite one, nothing elsewhere."""
    x, y = [0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 7.8, 7.9], [0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 7.9, 7.9]
    roads = RoadNetwork.of(x, y, [0, 2, 4, 6], [1, 3, 5, 7])
    places = Grid((0, 0, 8, 8), 8)
    density = street_density(roads, zones_of(roads, places), 8)
    assert density[0] > density[63] > density[28]
    assert np.average(density[[0, 63]], weights=[0.3, 0.1]) == pytest.approx(0, abs=1e-9)


def test_streets_alike_everywhere_tell_nothing() -> None:
    roads = lattice_roads(2)
    assert np.isfinite(street_density(roads, zones_of(roads, Grid((0, 0, 100, 100), 2)), 2)).all()


def test_near_places_go_together() -> None:
    grid = Grid((0, 0, 1, 1), 6)
    by_density, near, _ = end_components(np.arange(576.0), grid)
    assert by_density.basis.shape == (576, 1)
    alike = near.basis @ near.basis.T
    assert alike[0, 0] == pytest.approx(1, abs=0.05)
    assert alike[0, 1] > 0.7 > 0.2 > abs(alike[0, 12])
