from __future__ import annotations

import numpy as np

from ldptrace.models.path.features import Features, turn_classes
from ldptrace.models.path.graph import MoveGraph
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import turn

GRAPH = MoveGraph(Grid((0, 0, 1, 1), 2))


def test_features_add_up_kind_by_kind(rng: np.random.Generator) -> None:
    zero = Features.zero(GRAPH, 2)
    some = Features(*(rng.random(block.shape) for block in zero.blocks()))
    for one, two in zip(some.blocks(), (some + some).blocks(), strict=True):
        np.testing.assert_allclose(2 * one, two)
    assert zero.pairs.shape == (4, 4)
    assert Features.zero(GRAPH).pairs.shape == (1, 1)


def test_turns_are_bends_of_equal_angle(rng: np.random.Generator) -> None:
    bends = rng.random((8, 8, GRAPH.cells))
    found = Features(*Features.zero(GRAPH).blocks()[:3], bends, np.zeros((1, 1))).turns()
    wanted = np.zeros(5)
    for out in range(8):
        for into in range(8):
            wanted[turn(into, out)] += bends[out, into].sum()
            assert turn_classes()[out, into] == turn(into, out)
    np.testing.assert_allclose(found, wanted)
