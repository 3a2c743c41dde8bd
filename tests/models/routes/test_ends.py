"""Places within cells: where routes begin and end, how dense streets are, and what is believed of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldptrace.models.prior import Prior
from ldptrace.models.routes.ends import (
    ALONE,
    APART,
    CLASSES,
    FREEDOM,
    GATE,
    MARKS,
    SMOOTH,
    THROUGH,
    WITHIN,
    Ends,
    end_components,
    kinds_of,
    places_of,
    standing_out,
    street_density,
)
from ldptrace.protocol.grid import Grid
from ldptrace.roads.classes import STREET
from ldptrace.roads.library import Library, zones_of
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes
from road_kit import lattice_roads


@pytest.mark.parametrize(("n", "places"), [(2, 8), (6, 24), (8, 32), (9, 36), (10, 10), (12, 12), (30, 30)])
def test_places_nest_in_cells(n: int, places: int) -> None:
    assert places_of(Grid((0, 0, 1, 1), n)).n == places


def test_ends_lie_in_the_cells_of_their_routes() -> None:
    roads, grid = lattice_roads(9), Grid((0, 0, 800, 800), 2)
    routes = Library(routes=500).draw(roads, np.random.default_rng(0))
    ends, cell = Ends.of(routes, grid), zones_of(roads, grid)
    for place, edge in zip(ends.marks.T, (routes.offsets[:-1], routes.offsets[1:] - 1), strict=False):
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


def test_near_places_go_together_and_kinds_alone() -> None:
    district, by_density, within, by_kind, trend, apart = end_components(
        np.arange(576.0), Grid((0, 0, 1, 1), 6)
    )
    assert by_density.basis.shape == (576 + MARKS, 1)
    alike = (within.basis @ within.basis.T).toarray()
    assert alike[0, 0] == pytest.approx(SMOOTH + ALONE, abs=0.05)
    assert alike[0, 1] > 0.7 * SMOOTH > 0.2 * SMOOTH > abs(alike[0, 12])
    assert not alike[576:].any()
    wide = district.basis @ district.basis.T
    # Four places a cell: the next cell is much like this one, the far side of the map is not.
    assert wide[0, 0] == pytest.approx(1, abs=0.05)
    assert wide[0, 4] > 0.8 > 0.2 > wide[0, 23]
    assert not wide[576:].any()
    assert np.count_nonzero(by_kind.basis.toarray()) == APART
    assert np.count_nonzero(apart.basis.toarray()) == CLASSES
    assert not trend.basis[: 576 + APART].count_nonzero()


def test_every_gamma_law_of_distances_is_a_trend() -> None:
    (*_, trend, _) = end_components(np.zeros(576), Grid((0, 0, 1, 1), 6))
    far = np.exp2((np.arange(CLASSES) - CLASSES + 0.5) / 2)
    law = 2 * np.log(far) - 3 * far
    basis = np.column_stack([trend.basis[-CLASSES:].toarray(), np.ones(CLASSES)])
    found, *_ = np.linalg.lstsq(basis, law, rcond=None)
    assert basis @ found == pytest.approx(law)


def test_a_place_that_stands_out_may_stand_out_further() -> None:
    """The part of a place alone is found again, and its width grows with it; others get narrower."""
    grid = Grid((0, 0, 1, 1), 6)
    prior = Prior(end_components(np.zeros(576), grid))
    variances = {part.name: part.variance for part in prior.components}
    potentials = np.zeros(576 + MARKS)
    potentials[100] = 5.0
    scales = standing_out(prior, variances, potentials, 576)
    assert scales.argmax() == 100
    assert scales[100] > 2
    assert scales[400] == pytest.approx(math.sqrt(FREEDOM / (FREEDOM + 1)), abs=1e-3)
    (wider,) = (part for part in end_components(np.zeros(576), grid, scales) if part.name == WITHIN)
    assert (wider.basis @ wider.basis.T)[100, 100] > 2


def motorway() -> RoadNetwork:
    """A motorway that ends at both sides of the map, another one that ends in its middle, and a street."""
    return RoadNetwork.of(
        [0, 40, 100, 40, 40, 40],
        [50, 50, 50, 60, 0, 100],
        [0, 1, 1, 2, 1, 3, 4, 5],
        [1, 0, 2, 1, 3, 1, 5, 4],
        road_class=[0, 0, 0, 0, 0, 0, 1, 1],
        classes=("motorway", "residential"),
    )


def test_only_a_large_road_that_ends_at_the_rim_leaves_the_map() -> None:
    assert kinds_of(motorway()).tolist() == [GATE, GATE, GATE, GATE, 0, 0, STREET, STREET]


def test_a_route_from_rim_to_rim_leads_through() -> None:
    grid = Grid((0, 0, 100, 100), 2)
    marks = Ends.of(Routes.of(motorway(), [[0, 2], [0, 4]]), grid).marks - places_of(grid).cells
    assert marks[:, 2:5].tolist() == [[GATE, GATE, THROUGH], [GATE, 0, THROUGH + 1]]


def test_ends_have_a_class_of_how_far_apart_they_are() -> None:
    """From rim to rim is a side of the map; 41 of 100 is between a half of it and a half over the root of two."""
    grid = Grid((0, 0, 100, 100), 2)
    marks = Ends.of(Routes.of(motorway(), [[0, 2], [0, 4]]), grid).marks - places_of(grid).cells
    assert marks[:, 5].tolist() == [MARKS - 1, MARKS - 3]


def test_what_is_not_known_of_a_street_makes_it_a_street() -> None:
    assert set(kinds_of(lattice_roads(3)).tolist()) == {STREET}


def test_a_single_street_says_nothing_of_density() -> None:
    """It is equally dense along its way, and how empty the other places are must not matter: nobody starts there."""
    x = np.arange(0.0, 6001.0, 500.0)
    street = RoadNetwork.of(x, np.full(13, 100.0), np.arange(12), np.arange(1, 13))
    grid = Grid((0, 0, 6000, 6000), 3)
    places = places_of(grid)
    density = street_density(street, zones_of(street, places), places.n)
    prior = Prior(end_components(density, grid))
    root = prior.root(np.array([1e-9 if not part.fixed else part.variance for part in prior.components]))
    assert np.isfinite(root.pull(np.ones(prior.size))).all()
