from __future__ import annotations

import numpy as np
import pytest

from ldptrace.models.path.network import Network
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import link_item, turn


@pytest.mark.parametrize("n", [2, 3, 5])
def test_tables_agree_with_the_lattice(n: int) -> None:
    network = Network(Grid((0, 0, 1, 1), n))
    moves = np.arange(network.moves)
    assert np.array_equal(network.reverse[network.reverse], moves)
    assert np.array_equal(network.source[network.reverse], network.target)
    ends = zip(network.source.tolist(), network.target.tolist(), strict=True)
    assert network.link.tolist() == [link_item(here, there, n) for here, there in ends]
    assert network.links == network.link.max() + 1
    for e in moves:
        following = [s for s in network.following[e] if s >= 0]
        assert following == np.flatnonzero(network.source == network.target[e]).tolist()
        for k, s in enumerate(following):
            assert network.turns[e, k] == turn(int(network.direction[e]), int(network.direction[s]))
        assert following[network.back[e]] == network.reverse[e]


def test_sums_over_cells_and_links(rng: np.random.Generator) -> None:
    network = Network(Grid((0, 0, 1, 1), 4))
    values = rng.random((3, network.moves))
    for got, groups, size in (
        (network.by_source(values), network.source, network.cells),
        (network.by_target(values), network.target, network.cells),
        (network.by_link(values), network.link, network.links),
    ):
        wanted = np.array([np.bincount(groups, weights=row, minlength=size) for row in values])
        np.testing.assert_allclose(got, wanted)
