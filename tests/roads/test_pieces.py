"""Long edges in pieces: the same streets, lengths and times."""

from __future__ import annotations

import numpy as np

from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.pieces import in_pieces
from ldptrace.roads.routing import TurnGraph
from road_kit import lattice_roads, scattered_roads


def test_short_edges_stay_as_they_are() -> None:
    roads = lattice_roads(4)
    assert in_pieces(roads, 1000.0) is roads


def test_pieces_add_up_and_none_is_longer() -> None:
    roads = scattered_roads(seed=1)
    longest = float(np.median(roads.length))
    pieces = in_pieces(roads, longest)
    assert pieces.length.max() <= longest * (1 + 1e-9)
    np.testing.assert_allclose(pieces.length.sum(), roads.length.sum())
    assert len(set(pieces.components().tolist())) == len(set(roads.components().tolist()))


def test_bends_stay_on_their_pieces() -> None:
    """Twelve units east, twelve north, in four pieces: the bend is on the second cut, a point on the last piece."""
    roads = RoadNetwork.of(
        [0, 12],
        [0, 12],
        [0],
        [1],
        seconds=[8],
        shape=([12, 12], [0, 9], [0, 2]),
        classes=("a",),
        road_class=[0],
    )
    pieces = in_pieces(roads, 6.0)
    assert pieces.source.tolist() == [0, 2, 3, 4]
    assert pieces.target.tolist() == [2, 3, 4, 1]
    assert pieces.x.tolist() == [0, 12, 6, 12, 12]
    assert pieces.y.tolist() == [0, 12, 0, 0, 6]
    assert pieces.shape_offsets is not None
    assert pieces.shape_offsets.tolist() == [0, 0, 0, 0, 1]
    assert pieces.seconds is not None
    assert pieces.seconds.tolist() == [2, 2, 2, 2]
    np.testing.assert_allclose(pieces.measured(), 6.0)


def test_a_straight_edge_in_pieces_has_no_turns() -> None:
    roads = RoadNetwork.of([0, 3000], [0, 1000], [0, 1], [1, 0])
    graph = TurnGraph.of(in_pieces(roads, 500.0))
    whole = TurnGraph.of(roads)
    # The only turns are those round at both ends.
    assert np.count_nonzero(graph.bend) == np.count_nonzero(whole.bend) == 2
