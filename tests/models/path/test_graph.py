from __future__ import annotations

import numpy as np
import pytest

from ldptrace.models.path.graph import MoveGraph
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import link_item, turn


@pytest.mark.parametrize("n", [2, 3, 5])
def test_tables_agree_with_the_lattice(n: int) -> None:
    graph = MoveGraph(Grid((0, 0, 1, 1), n))
    moves = np.arange(graph.moves)
    assert np.array_equal(graph.reverse[graph.reverse], moves)
    assert np.array_equal(graph.source[graph.reverse], graph.target)
    ends = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
    assert graph.link.tolist() == [link_item(here, there, n) for here, there in ends]
    assert graph.links == graph.link.max() + 1
    for e in moves:
        following = [s for s in graph.following[e] if s >= 0]
        assert following == np.flatnonzero(graph.source == graph.target[e]).tolist()
        for k, s in enumerate(following):
            assert graph.turns[e, k] == turn(int(graph.direction[e]), int(graph.direction[s]))
        assert following[graph.back[e]] == graph.reverse[e]


def test_sums_over_cells_and_links(rng: np.random.Generator) -> None:
    graph = MoveGraph(Grid((0, 0, 1, 1), 4))
    values = rng.random((3, graph.moves))
    for got, groups, size in (
        (graph.by_source(values), graph.source, graph.cells),
        (graph.by_target(values), graph.target, graph.cells),
        (graph.by_link(values), graph.link, graph.links),
    ):
        wanted = np.array([np.bincount(groups, weights=row, minlength=size) for row in values])
        np.testing.assert_allclose(got, wanted)
