"""Networks are cleaned without losing what is connected, and trees are made of shortest ways."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import floyd_warshall

from ldptrace.errors import InputError
from ldptrace.generators.roads import RoadNetwork


def network(edges: list[tuple[int, int]], nodes: int, rng: np.random.Generator) -> RoadNetwork:
    start, end = np.array(edges).reshape(-1, 2).T
    x, y = rng.uniform(0, 1000, (2, nodes))
    return RoadNetwork(x, y, start, end, np.full(len(edges), 3), rng.uniform(5, 20, len(edges)))


def test_cleaning_keeps_the_largest_part_without_loops_and_doubles(rng: np.random.Generator) -> None:
    roads = network([(0, 1), (1, 0), (1, 1), (1, 2), (3, 4)], 6, rng)
    clean = roads.cleaned()
    assert (clean.nodes, clean.edges) == (3, 2)
    doubled = clean.seconds[np.minimum(clean.start, clean.end) == 0]
    assert doubled == min(roads.seconds[0], roads.seconds[1])
    assert roads.edges == 5


def test_a_network_without_edges_is_an_error(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="no edge between two nodes"):
        network([(2, 2)], 3, rng).cleaned()


def test_trees_follow_shortest_ways(rng: np.random.Generator) -> None:
    edges = [(a, a + 1) for a in range(39)] + [tuple(rng.choice(40, 2, replace=False)) for _ in range(60)]
    roads = network(edges, 40, rng).cleaned()
    roots = np.array([0, 7, 31], dtype=np.int32)
    ahead, cost = roads.trees(roots, roads.seconds, spread=0.0, rng=rng)
    exact = floyd_warshall(roads.costs(roads.seconds))
    np.testing.assert_allclose(cost, exact[roots], rtol=1e-5)
    for row, root in enumerate(roots):
        for node in range(roads.nodes):
            here, spent = node, 0.0
            while here != root:
                edge = roads.adjacency[here, ahead[row, here]] - 1
                assert edge >= 0
                spent += roads.seconds[edge]
                here = ahead[row, here]
            assert spent == pytest.approx(exact[root, node])
        assert ahead[row, root] < 0


def test_ways_differ_when_people_feel_differently(rng: np.random.Generator) -> None:
    edges = [(a, b) for a in range(30) for b in (a + 1, a + 2, a + 3) if b < 30]
    roads = network(edges, 30, rng).cleaned()
    roots = np.zeros(200, dtype=np.int32)
    ahead, _ = roads.trees(roots, roads.seconds, spread=0.5, rng=rng)
    assert len(np.unique(ahead, axis=0)) > 3
