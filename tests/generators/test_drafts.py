"""Drafts are cleaned without losing what is connected, and become networks that lead both ways."""

from __future__ import annotations

import numpy as np
import pytest

from ldptrace.errors import InputError
from ldptrace.generators.drafts import Draft


def draft(edges: list[tuple[int, int]], nodes: int, rng: np.random.Generator) -> Draft:
    start, end = np.array(edges).reshape(-1, 2).T
    x, y = rng.uniform(0, 1000, (2, nodes))
    return Draft(x, y, start, end, np.full(len(edges), 3), rng.uniform(5, 20, len(edges)))


def test_cleaning_keeps_the_largest_part_without_loops_and_doubles(rng: np.random.Generator) -> None:
    roads = draft([(0, 1), (1, 0), (1, 1), (1, 2), (3, 4)], 6, rng)
    clean = roads.cleaned()
    assert (clean.nodes, clean.edges) == (3, 2)
    doubled = clean.seconds[np.minimum(clean.start, clean.end) == 0]
    assert doubled == min(roads.seconds[0], roads.seconds[1])
    assert roads.edges == 5


def test_a_network_without_edges_is_an_error(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="no edge between two nodes"):
        draft([(2, 2)], 3, rng).cleaned()


def test_a_finished_network_leads_both_ways(rng: np.random.Generator) -> None:
    plan = draft([(0, 1), (1, 2), (3, 1)], 4, rng)
    roads = plan.network(("a", "b", "c", "street"), "plan")
    assert roads.opposite.tolist() == [3, 4, 5, 0, 1, 2]
    assert roads.seconds is not None
    np.testing.assert_array_equal(roads.seconds, np.tile(plan.seconds, 2))
    assert roads.classes[roads.road_class[0]] == "street"
