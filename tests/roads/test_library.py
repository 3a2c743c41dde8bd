"""The library: its law, the weights that make up for leaning, and independence of the number of cores."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from ldptrace.protocol.grid import Grid
from ldptrace.roads.coverage import in_pieces
from ldptrace.roads.library import Lean, Library, Zones, zones_of
from road_kit import lattice_roads, scattered_roads


def test_the_seed_decides_and_not_the_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    roads = scattered_roads(seed=1)
    drawn = []
    for cores in (1, 7):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        drawn.append(Library(routes=5000).draw(roads, np.random.default_rng(3)))
    for column in ("edges", "offsets", "begin", "end", "weights"):
        assert np.array_equal(getattr(drawn[0], column), getattr(drawn[1], column))
    other = Library(routes=5000).draw(roads, np.random.default_rng(4))
    assert not np.array_equal(other.offsets, drawn[0].offsets)


def test_routes_are_connected_and_as_many_as_asked() -> None:
    roads = scattered_roads(seed=2)
    routes = Library(routes=1234).draw(roads, np.random.default_rng(0))
    assert len(routes) == 1234
    inner = np.ones(len(routes.edges), dtype=bool)
    inner[routes.offsets[1:] - 1] = False
    here = np.flatnonzero(inner)
    assert np.array_equal(roads.target[routes.edges[here]], roads.source[routes.edges[here + 1]])
    assert np.allclose(routes.weights, 1 / 1234)
    assert routes.lengths.min() >= 0


def test_reach_is_breadth() -> None:
    roads = lattice_roads(20)
    means = [
        Library(routes=3000, reaches=(reach,)).draw(roads, np.random.default_rng(0)).lengths.mean()
        for reach in (0.05, 0.2, math.inf)
    ]
    assert means[0] < means[1] < means[2]


@pytest.mark.slow
def test_tempers_are_mixed_in_equal_parts() -> None:
    """A mixed library has the mean number of sharp bends of its tempers, which differ."""
    roads = scattered_roads(nodes=300, seed=3)

    def bends(library: Library) -> float:
        routes = library.draw(roads, np.random.default_rng(0))
        leaving, arriving = roads.headings
        last = np.zeros(len(routes.edges), dtype=bool)
        last[routes.offsets[1:] - 1] = True
        here = np.flatnonzero(~last)
        angle = np.cos(leaving[routes.edges[here + 1]] - arriving[routes.edges[here]])
        return float((angle < 0.5).sum()) / len(routes)

    turn_costs, noises = (0.0, 8.0), (0.0, 0.8)
    alone = [
        [bends(Library(6000, (math.inf,), (price,), (noise,))) for noise in noises] for price in turn_costs
    ]
    # Dear turns are avoided, and with noise there are more of them.
    assert alone[0][0] > 1.2 * alone[1][0]
    assert alone[1][1] > 1.2 * alone[1][0]
    mixed = bends(Library(6000, (math.inf,), turn_costs, noises))
    assert mixed == pytest.approx(np.mean(alone), rel=0.03)


def test_variety_does_not_depend_on_how_many_edges_a_street_is_cut_into() -> None:
    """Detours because of noise: how much longer routes are than the shortest ones on a lattice."""

    def detour(longest: float) -> float:
        roads = in_pieces(lattice_roads(12), longest)
        library = Library(routes=20_000, reaches=(math.inf,), turn_costs=(0.0,), noises=(0.5,))
        routes = library.draw(roads, np.random.default_rng(1))
        lines = routes.points(spacing=1e9)
        first, last = lines.offsets[:-1], lines.offsets[1:] - 1
        straight = np.abs(lines.x[last] - lines.x[first]) + np.abs(lines.y[last] - lines.y[first])
        far = straight > 500
        return float(np.average(routes.lengths[far] / straight[far], weights=routes.weights[far])) - 1

    whole, pieces = detour(100.0), detour(10.0)
    assert whole > 0.03
    assert pieces == pytest.approx(whole, rel=0.3)


def test_progress_goes_from_little_to_all() -> None:
    told: list[float] = []
    roads = scattered_roads()
    Library(routes=5000).pool(roads, np.random.default_rng(0), Lean.none(roads), told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.15])
def test_weights_make_up_for_leaning(noise: float) -> None:
    """Weighted shares of zone pairs agree with the broad law's; without the weights they do not."""
    roads = lattice_roads(8)
    grid = Grid((0, 0, 700, 700), 2)
    zone = zones_of(roads, grid)
    rng = np.random.default_rng(5)
    lean = Lean(zone, rng.uniform(0.2, 5, (4, 4)), rng.uniform(0.2, 5, 4), rng.uniform(0.2, 5, 4))
    # The same law drawn twice tells what chance does.
    library = Library(routes=120_000, noises=(noise,))

    def shares(lean: Lean | None, seed: int, weighted: bool = True) -> np.ndarray:
        routes = library.pool(roads, np.random.default_rng(seed), lean or Lean.none(roads)).routes
        start, end = zone[routes.edges[routes.offsets[:-1]]], zone[routes.edges[routes.offsets[1:] - 1]]
        weights = routes.weights if weighted else np.full(len(routes), 1 / len(routes))
        return np.bincount(4 * start + end, weights, 16)

    chance = np.abs(shares(None, 1) - shares(None, 2)).max()
    fair = (shares(None, 1) + shares(None, 2)) / 2
    assert np.abs(shares(lean, 3) - fair).max() < max(5 * chance, 0.03)
    assert np.abs(shares(lean, 3, weighted=False) - fair).max() > 0.1


def test_leaning_towards_a_fit_raises_the_effective_number() -> None:
    roads = lattice_roads(12)
    grid = Grid((0, 0, 1100, 1100), 3)
    first = Library(routes=30_000).draw(roads, np.random.default_rng(0))
    zone = zones_of(roads, grid)

    def wanted(routes: object) -> np.ndarray:
        start = zone[routes.edges[routes.offsets[:-1]]]  # type: ignore[attr-defined]
        end = zone[routes.edges[routes.offsets[1:] - 1]]  # type: ignore[attr-defined]
        tilted = routes.weights * np.exp(3.0 * (start == 0) + 2.0 * (end == 8))  # type: ignore[attr-defined]
        return tilted / tilted.sum()

    lean = Lean.towards(first, wanted(first), Zones.of(roads, grid))
    second = Library(routes=30_000).pool(roads, np.random.default_rng(1), lean).routes
    effective = [1 / (wanted(routes) ** 2).sum() for routes in (first, second)]
    assert effective[1] > 2 * effective[0]


def test_alternatives_have_the_same_ends_and_differ_by_the_driver_only() -> None:
    """Without random changes of costs, the alternative of a route's own kind is the route itself."""
    roads = scattered_roads(seed=5)
    library = Library(routes=600, turn_costs=(0.0, 8.0), noises=(0.0,))
    pool = library.pool(roads, np.random.default_rng(0), Lean.none(roads))
    picked = np.arange(0, 600, 7)
    kinds = library.alternatives(pool, picked, np.random.default_rng(1))
    assert len(kinds) == len(library.kinds) == 2
    own = pool.routes.take(picked)
    differ = 0
    for number, routes in enumerate(kinds):
        assert np.array_equal(routes.begin, own.begin)
        for at in range(len(picked)):
            ways = [each.edges[each.offsets[at] : each.offsets[at + 1]].tolist() for each in (routes, own)]
            assert (ways[0][0], ways[0][-1]) == (ways[1][0], ways[1][-1])
            if pool.temper[pool.tree[picked[at]]] == number:
                assert ways[0] == ways[1]
            else:
                differ += ways[0] != ways[1]
    assert differ > 10


def test_kinds_of_drivers_have_their_shares_in_every_part_of_the_map() -> None:
    library, shares = Library(turn_costs=(0.0, 1.0), noises=(0.15,)), np.array([0.8, 0.2])
    of = library._kinds_of(shares)
    many = np.array([of(place) for place in range(100)])
    for part in np.split(many, 5):
        assert abs((part == 0).mean() - 0.8) <= 0.05
    assert [library._kinds_of(None)(place) for place in range(4)] == [0, 1, 0, 1]
