"""Shortest ways: against another implementation, with turns that cost, and without turning round."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from ldptrace.errors import InputError
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routing import Tree, TurnGraph
from road_kit import lattice_roads, scattered_roads


def way_of(graph: TurnGraph, start: int, end: int) -> list[int]:
    """The cheapest route from one edge to another, including both."""
    tree = Tree(graph)
    assert end in tree.grow(graph, graph.cost, start)
    edges, _ = tree.ways(np.array([end], dtype=np.int32))
    return [int(edge) for edge in edges]


def line_graph(graph: TurnGraph, cost: np.ndarray) -> csr_array:
    """Edges as nodes for scipy: the cost of entering an edge is its bend and its own cost."""
    before = np.repeat(np.arange(graph.edges), np.diff(graph.first))
    entries = (graph.bend + cost[graph.following], (before, graph.following))
    return csr_array(entries, shape=(graph.edges, graph.edges))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("backward", [False, True])
def test_costs_agree_with_scipy(seed: int, backward: bool) -> None:
    graph = TurnGraph.of(scattered_roads(seed=seed))
    rng = np.random.default_rng(seed)
    cost = graph.cost * rng.lognormal(0, 0.3, graph.edges)
    tree = Tree(graph)
    matrix = line_graph(graph, cost)
    for root in rng.integers(0, graph.edges, 5):
        walked = graph.reversed if backward else graph
        order = tree.grow(walked, cost, int(root))
        assert np.all(np.diff(tree.cost[order]) >= 0)
        if backward:
            for leaf in order[:: len(order) // 5]:
                there = dijkstra(matrix, indices=leaf)[root] + cost[leaf]
                assert tree.cost[leaf] == pytest.approx(there)
        else:
            expected = dijkstra(matrix, indices=root) + cost[root]
            assert np.array_equal(np.sort(order), np.flatnonzero(np.isfinite(expected)))
            np.testing.assert_allclose(tree.cost[order], expected[order])


@pytest.mark.parametrize("spread", [0.0, 4.0])
def test_costs_may_be_alike_or_nothing_like_each_other(spread: float) -> None:
    """One edge as dear as a million others, and one that costs next to nothing: buckets of any width will do."""
    graph = TurnGraph.of(scattered_roads(seed=7))
    rng = np.random.default_rng(0)
    cost = rng.lognormal(0, spread, graph.edges)
    cost[3], cost[4] = 1e6 * cost.mean(), 1e-9
    tree, matrix = Tree(graph), line_graph(graph, cost)
    for root in (0, 3, 4, 50):
        order = tree.grow(graph, cost, root)
        expected = dijkstra(matrix, indices=root) + cost[root]
        assert np.all(np.diff(tree.cost[order]) >= 0)
        assert np.isfinite(expected).sum() == len(order) == len(np.unique(order))
        np.testing.assert_allclose(tree.cost[order], expected[order])


def test_ways_follow_the_streets_and_have_the_length_they_say() -> None:
    roads = scattered_roads(seed=9)
    graph = TurnGraph.of(roads)
    tree = Tree(graph)
    for backward in (False, True):
        walked = graph.reversed if backward else graph
        order = tree.grow(walked, graph.cost, 7)
        edges, sizes = tree.ways(order, backward)
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        for k, leaf in enumerate(order):
            way = edges[offsets[k] : offsets[k + 1]]
            assert (way[-1 if backward else 0], way[0 if backward else -1]) == (7, leaf)
            assert np.array_equal(roads.target[way[:-1]], roads.source[way[1:]])
            assert roads.length[way].sum() == pytest.approx(tree.way[leaf])


def test_a_staircase_is_avoided_where_turns_cost() -> None:
    roads = lattice_roads(5)
    bends = {}
    for price in (0.0, 1.0):
        graph = TurnGraph.of(roads).priced(price)
        start = int(np.flatnonzero((roads.source == 0) & (roads.target == 5))[0])
        end = int(np.flatnonzero((roads.source == 19) & (roads.target == 24))[0])
        way = way_of(graph, start, end)
        leaving, arriving = roads.headings
        turned = np.abs(np.angle(np.exp(1j * (leaving[way[1:]] - arriving[way[:-1]]))))
        bends[price] = int((turned > 0.1).sum())
        assert roads.length[way].sum() == 800
    assert bends[1.0] == 2


def test_right_angles_cost_less_than_the_free_angle_says() -> None:
    roads = RoadNetwork.of(
        [0, 5000, 5000, 10000, 9000, 6000], [0, 0, 5000, 0, 1000, 0], [0, 1, 1, 1], [1, 2, 3, 4]
    )
    graph = TurnGraph.of(roads)
    price = dict(zip(graph.following.tolist(), graph.bend.tolist(), strict=True))
    # A right angle: 65 of 90 degrees beyond the free 25; straight on and a slight bend: nothing.
    assert price[2] == price[3] == 0
    assert price[1] == pytest.approx(min(120, 0.01 * np.sqrt(10000 * 5000)) * 65 / 90)


def test_nobody_turns_round_except_in_a_dead_end() -> None:
    roads = RoadNetwork.of([0, 100, 200], [0, 0, 0], [0, 1, 1, 2], [1, 0, 2, 1])
    graph = TurnGraph.of(roads)
    after = {e: graph.following[graph.first[e] : graph.first[e + 1]].tolist() for e in range(4)}
    assert after == {0: [2], 1: [0], 2: [3], 3: [1]}


def test_seconds_are_what_costs_where_they_are_known() -> None:
    # The long way round is faster.
    x, y = [0, 0, 100, 200, 200], [0, 100, 0, 100, 0]
    source, target = [0, 0, 1, 2, 3], [2, 1, 3, 4, 4]
    slow = RoadNetwork.of(
        [-100, *x, 300], [0, *y, 0], [0, *(1 + np.array(source)), 5], [1, *(1 + np.array(target)), 6]
    )
    fast = TurnGraph.of(
        RoadNetwork.of(
            slow.x, slow.y, slow.source, slow.target, seconds=np.where(slow.target == 3, 1000.0, 10.0)
        )
    ).priced(0.0)
    assert way_of(TurnGraph.of(slow).priced(0.0), 0, 6) == [0, 1, 4, 6]
    assert way_of(fast, 0, 6) == [0, 2, 3, 5, 6]


def test_a_tree_that_is_cut_off_holds_what_is_near() -> None:
    graph = TurnGraph.of(scattered_roads(200, seed=3))
    tree = Tree(graph)
    far = tree.grow(graph, graph.cost, 0).copy()
    costs, ways = tree.cost.copy(), tree.way.copy()
    near = tree.grow(graph, graph.cost, 0, 300.0)
    assert 0 < len(near) < len(far)
    np.testing.assert_allclose(tree.cost[near], costs[near])
    assert set(far[ways[far] <= 300]) <= set(near)


def test_no_edges_is_told() -> None:
    with pytest.raises(InputError, match="no edges"):
        TurnGraph.of(RoadNetwork.of([0, 1], [0, 1], [], []))


def test_a_street_ends_where_there_is_something_to_choose() -> None:
    """Three arms of two edges each way: six streets, the same seen from their ends and at any price of turns."""
    x, y = [0, 1, 2, -1, -2, 0, 0], [0, 0, 0, 0, 0, 1, 2]
    there, back = [0, 1, 0, 3, 0, 5], [1, 2, 3, 4, 5, 6]
    graph = TurnGraph.of(RoadNetwork.of(x, y, [*there, *back], [*back, *there]))
    out, home = graph.streets[:6], graph.streets[6:]
    assert out[0] == out[1] != out[2] == out[3] != out[4] == out[5]
    # In a dead end one can only turn round.
    assert out.tolist() == home.tolist()
    assert graph.reversed.priced(2.0).streets is graph.streets
