"""How much of a box has streets, and which cells have none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ldptrace.protocol.grid import Grid
from ldptrace.roads.coverage import Coverage, covered, in_pieces
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routing import TurnGraph
from road_kit import lattice_roads, scattered_roads

TOWN = lattice_roads(20)  # streets in 0..1900


@pytest.mark.parametrize(("side", "share"), [(1900, 1.0), (3800, 0.25), (19_000, 0.01)])
def test_the_share_of_the_bounds_with_streets(side: int, share: float) -> None:
    # A block at the rim of the town counts too.
    assert share - 1e-9 <= covered(TOWN, (0, 0, side, side)) <= share + 0.05


def test_cells_without_streets_are_those_outside_the_town() -> None:
    found = Coverage.of(TOWN, Grid((0, 0, 4000, 4000), 4))
    assert np.flatnonzero(~found.bare).tolist() == [0, 1, 4, 5]
    assert found.line == "Streets in 25% of the bounds"


def test_one_road_through_a_cell_makes_it_one_with_streets() -> None:
    inside = (TOWN.y > 850) & (TOWN.y < 950)
    assert not Coverage.of(TOWN.take_nodes(inside), Grid((0, 0, 1900, 1900), 2)).bare[[0, 2]].any()


def test_a_file_keeps_it_and_is_checked() -> None:
    grid = Grid((0, 0, 3800, 3800), 4)
    found = Coverage.of(TOWN, grid)
    loaded = Coverage.restored(found.document(), grid)
    assert loaded is not None
    assert loaded.share == found.share
    assert np.array_equal(loaded.bare, found.bare)
    assert Coverage.restored(None, grid) is None
    with pytest.raises(ValueError, match="among the 16 of the grid"):
        Coverage.restored({"share": 0.5, "bare": [16]}, grid)


def test_short_edges_stay_as_they_are() -> None:
    roads = lattice_roads(4)
    assert in_pieces(roads, 1000.0) is roads


def parts(roads: RoadNetwork) -> int:
    """The number of strongly connected components."""
    links = csr_array((np.ones(roads.edges), (roads.source, roads.target)), shape=(roads.nodes, roads.nodes))
    return int(connected_components(links, connection="strong")[0])


def test_pieces_add_up_and_none_is_longer() -> None:
    roads = scattered_roads(seed=1)
    longest = float(np.median(roads.length))
    pieces = in_pieces(roads, longest)
    assert pieces.length.max() <= longest * (1 + 1e-9)
    np.testing.assert_allclose(pieces.length.sum(), roads.length.sum())
    assert parts(pieces) == parts(roads)


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
