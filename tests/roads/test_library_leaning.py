"""Libraries that lean, weighed one by one and as one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ldptrace.protocol.grid import Grid
from ldptrace.roads.library import SPECIAL, Lean, Library, Zones, zones_of
from road_kit import lattice_roads

ROADS, GRID = lattice_roads(8), Grid((0, 0, 700, 700), 2)


def leaning(seed: int) -> Lean:
    rng = np.random.default_rng(seed)
    return Lean(
        zones_of(ROADS, GRID), rng.uniform(0.2, 5, (4, 4)), rng.uniform(0.2, 5, 4), rng.uniform(0.2, 5, 4)
    )


def test_zones_lie_in_cells_and_special_edges_have_their_own() -> None:
    special = np.arange(ROADS.edges) == 3
    zones = Zones.of(ROADS, GRID, Grid(GRID.bounds, 4), special)
    assert np.array_equal(zones.cell[zones.of_edge], zones_of(ROADS, GRID))
    assert np.flatnonzero(zones.special[zones.of_edge]).tolist() == [3]
    even = Lean.even(zones)
    chances = even.starts[zones.of_edge]
    assert abs(chances[3] / chances.sum() - SPECIAL) < 0.02
    plain = Zones.of(ROADS, GRID)
    assert np.all(Lean.even(plain).starts[plain.of_edge] == 1)


def test_two_libraries_are_weighed_as_draws_of_both_laws() -> None:
    """One lean drawn twice weighs as one; a route's weight is one over the sum of the chances of both libraries."""
    library, rng = Library(routes=4000), np.random.default_rng(1)
    first, again = (library.pool(ROADS, rng, leaning(5)) for _ in range(2))
    alone = np.concatenate([first.routes.weights, again.routes.weights]) / 2
    # Each library was normalised by its own sum.
    np.testing.assert_allclose(first.joined(again).routes.weights, alone, rtol=0.1)
    other = library.pool(ROADS, rng, leaning(6))
    both = first.joined(other)
    assert len(both.routes) == 8000
    assert both.sizes == (4000, 4000)
    np.testing.assert_allclose(both.routes.weights.sum(), 1.0)
    # What one library draws rarely and weighs much, the other draws too: no weight is as large as alone.
    assert both.routes.weights.max() < 0.5 * first.routes.weights.max()


@pytest.mark.slow
def test_weights_of_a_pool_make_up_for_all_that_leaned() -> None:
    """Shares of zone pairs of three libraries agree with the broad law's, within chance."""
    zone, rng = zones_of(ROADS, GRID), np.random.default_rng(2)
    library = Library(routes=40_000, noises=(0.0,))
    pool = library.pool(ROADS, rng, leaning(1))
    for seed in (2, 3):
        pool = pool.joined(library.pool(ROADS, rng, leaning(seed)))

    def shares(routes: object, weights: np.ndarray) -> np.ndarray:
        start = zone[routes.edges[routes.offsets[:-1]]]  # type: ignore[attr-defined]
        end = zone[routes.edges[routes.offsets[1:] - 1]]  # type: ignore[attr-defined]
        return np.bincount(4 * start + end, weights, 16)

    broad = library.draw(ROADS, rng)
    fair, found = shares(broad, broad.weights), shares(pool.routes, pool.routes.weights)
    # Seeded; trees are 267 to a library, so a share of .1 has a standard error below .01.
    assert np.abs(found - fair).max() < 0.025
    even = np.full(len(pool.routes), 1 / len(pool.routes))
    assert np.abs(shares(pool.routes, even) - fair).max() > 0.04


def test_weights_make_up_for_kinds_of_drivers_that_were_drawn_more_often() -> None:
    library, rng = Library(routes=6000, turn_costs=(0.0, 2.0), noises=(0.15,)), np.random.default_rng(3)
    rare = replace(Lean.none(ROADS), drivers=np.array([0.2, 0.8]))
    pool = library.pool(ROADS, rng, Lean.none(ROADS)).joined(library.pool(ROADS, rng, rare))
    kind = pool.temper[pool.tree]
    assert abs((kind == 1).mean() - 0.65) < 0.02
    assert abs(pool.routes.weights[kind == 1].sum() - 0.5) < 0.02
    driven = pool.driven(np.array([0.9, 0.1]))
    assert abs(driven.routes.weights[kind == 1].sum() - 0.1) < 0.02
