"""A made-up city has what a city has, for any seed; a network is cleaned without losing what is connected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from ldptrace.errors import InputError
from ldptrace.generators.streets import (
    ARTERIAL,
    MARGIN,
    MOTORWAY,
    STREET,
    CityMap,
    both_ways,
    cleaned,
    neighbours,
    one_way,
)
from ldptrace.roads.network import RoadNetwork

SIZE = 20_000.0
RINGS = ((0, 2000), (3000, 5000), (7000, 9000))  # metres from the centre


@pytest.fixture(
    scope="module", params=[0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))]
)
def town(request: pytest.FixtureRequest) -> CityMap:
    return CityMap.generate(SIZE, np.random.default_rng(request.param))


@pytest.mark.slow
def test_every_city_is_whole(town: CityMap) -> None:
    roads = town.roads
    assert connected_components(neighbours(roads))[0] == 1
    assert 2000 < roads.nodes < 8000
    for axis in (roads.x, roads.y):
        assert axis.min() >= MARGIN * SIZE
        assert axis.max() <= (1 - MARGIN) * SIZE
    assert set(np.unique(roads.road_class)) == {0, 1, 2, 3}
    assert roads.seconds is not None
    speed = roads.length / roads.seconds
    assert speed[roads.road_class == MOTORWAY].min() > speed[roads.road_class == ARTERIAL].max()


def test_the_river_is_crossed_by_few_bridges(town: CityMap) -> None:
    roads, river = town.roads, town.river
    bank = river.across(roads.x, roads.y) > 0
    assert 0.2 < bank.mean() < 0.8
    crossing = bank[roads.source] != bank[roads.target]
    assert 1 <= crossing.sum() <= 40
    assert not np.any(roads.road_class[crossing] == STREET)


def test_streets_are_dense_in_the_centre_and_sparse_outside(town: CityMap) -> None:
    away = np.hypot(town.roads.x - town.hubs.x[0], town.roads.y - town.hubs.y[0])
    per_area = [np.count_nonzero((away > low) & (away < high)) / (high**2 - low**2) for low, high in RINGS]
    assert per_area[0] > 1.4 * per_area[1]
    assert per_area[1] > 3 * per_area[2]


@pytest.mark.slow
def test_the_seed_decides_the_city() -> None:
    one, same, other = (CityMap.generate(5000.0, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.roads.x, same.roads.x)
    np.testing.assert_array_equal(one.roads.road_class, same.roads.road_class)
    assert one.roads.nodes != other.roads.nodes or not np.array_equal(one.roads.x, other.roads.x)


def test_a_small_city_has_blocks_of_a_street_not_of_a_room() -> None:
    town = CityMap.generate(3000.0, np.random.default_rng(1))
    assert town.roads.nodes < 2500


def draft(edges: list[tuple[int, int]], nodes: int, rng: np.random.Generator) -> RoadNetwork:
    ends = np.array(edges)
    x, y = rng.uniform(0, 1000, (2, nodes))
    kind, speed = np.full(len(edges), 3), rng.uniform(5, 20, len(edges))
    return one_way(x, y, ends, kind, speed, ("a", "b", "c", "street"), "plan")


def test_cleaning_keeps_the_largest_part_without_loops_and_doubles(rng: np.random.Generator) -> None:
    roads = draft([(0, 1), (1, 0), (1, 1), (1, 2), (3, 4)], 6, rng)
    clean = cleaned(roads)
    assert (clean.nodes, clean.edges) == (3, 2)
    assert clean.seconds is not None
    assert roads.seconds is not None
    doubled = clean.seconds[np.minimum(clean.source, clean.target) == 0]
    assert doubled == min(roads.seconds[0], roads.seconds[1])
    assert roads.edges == 5


def test_a_network_without_edges_is_an_error(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="no edge between two nodes"):
        cleaned(draft([(2, 2)], 3, rng))


def test_a_finished_network_leads_both_ways(rng: np.random.Generator) -> None:
    plan = draft([(0, 1), (1, 2), (3, 1)], 4, rng)
    roads = both_ways(plan)
    assert roads.opposite.tolist() == [3, 4, 5, 0, 1, 2]
    assert roads.seconds is not None
    assert plan.seconds is not None
    np.testing.assert_array_equal(roads.seconds, np.tile(plan.seconds, 2))
    assert roads.classes[roads.road_class[0]] == "street"
