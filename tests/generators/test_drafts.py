"""Drafts are cleaned without losing what is connected, and become networks that lead both ways."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.errors import InputError
from ldptrace.generators.drafts import both_ways, cleaned, one_way
from ldptrace.roads.network import RoadNetwork


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
