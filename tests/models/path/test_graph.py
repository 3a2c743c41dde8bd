from __future__ import annotations

import numpy as np
import pytest

from ldptrace.models.path.graph import MoveGraph
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import bend_item, link_item


@pytest.mark.parametrize("n", [2, 3])
def test_tables_agree_with_the_lattice(n: int) -> None:
    graph = MoveGraph(Grid((0, 0, 1, 1), n))
    moves = np.arange(graph.moves)
    assert np.array_equal(graph.reverse[graph.reverse], moves)
    assert np.array_equal(graph.source[graph.reverse], graph.target)
    ends = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
    assert graph.link.tolist() == [link_item(here, there, n) for here, there in ends]
    assert graph.links == graph.link.max() + 1
    for out, into, cell in np.ndindex(8, 8, graph.cells):
        before = [e for e in moves if graph.target[e] == cell and graph.direction[e] == into]
        after = [e for e in moves if graph.source[e] == cell and graph.direction[e] == out]
        wanted = (
            bend_item(int(graph.source[before[0]]), cell, int(graph.target[after[0]]), n)
            if before and after
            else -1
        )
        assert graph.bend[out, into, cell] == wanted


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


def test_bends_of_one_shape_are_in_every_inner_cell() -> None:
    graph = MoveGraph(Grid((0, 0, 1, 1), 4))
    assert len(np.unique(graph.bend_shape)) == 36
    inner = graph.bend_cell == 5
    assert len(np.unique(graph.bend_shape[inner])) == inner.sum() == 36
    values = np.random.default_rng(1).random((8, 8, graph.cells))
    np.testing.assert_allclose(graph.by_bend(values.ravel()).sum(), values[graph.bend >= 0].sum())
