"""Networks while they are drawn: junctions in the plane, who is neighbour of whom, and straight streets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import Delaunay

from ldptrace.core.arrays import Flags, Floats
from ldptrace.errors import InputError
from ldptrace.generators.legs import fastest_only
from ldptrace.roads.network import RoadNetwork


def one_way(
    x: ArrayLike,
    y: ArrayLike,
    ends: NDArray[np.integer],
    kind: ArrayLike,
    speed: Floats | float,
    classes: tuple[str, ...],
    name: str = "city",
) -> RoadNetwork:
    """Return straight streets, in metres, with one edge each from `ends[e, 0]` to `ends[e, 1]`; `kind` is an index into
    `classes`, and `speed` is in metres per second.

    >>> bend = one_way([0, 100, 100], [0, 0, 50], np.array([[0, 1], [1, 2]]), [0, 0], 10, ("street",))
    >>> bend.length.tolist(), bend.seconds.tolist()
    ([100.0, 50.0], [10.0, 5.0])
    """
    roads = RoadNetwork.of(x, y, ends[:, 0], ends[:, 1], road_class=kind, classes=classes, name=name)
    return replace(roads, seconds=roads.length / speed)


def both_ways(roads: RoadNetwork) -> RoadNetwork:
    """Return the finished network: every street leads both ways; first all edges one way, then all back."""
    return replace(
        roads,
        source=np.r_[roads.source, roads.target],
        target=np.r_[roads.target, roads.source],
        length=np.tile(roads.length, 2),
        seconds=None if roads.seconds is None else np.tile(roads.seconds, 2),
        road_class=np.tile(roads.road_class, 2),
    )


def neighbours(roads: RoadNetwork, cost: Floats | None = None) -> csr_array:
    """Return a sparse matrix whose row `v` holds the neighbours of node `v`: with the cost of the edge, or its number
    plus one."""
    value = np.arange(1, roads.edges + 1, dtype=np.int32) if cost is None else np.maximum(cost, 1e-9)
    ends = np.r_[roads.source, roads.target], np.r_[roads.target, roads.source]
    return csr_array((np.tile(value, 2), ends), shape=(roads.nodes, roads.nodes))


def cleaned(roads: RoadNetwork) -> RoadNetwork:
    """Return the largest connected part, without loops and with the fastest of parallel streets."""
    low, high = np.minimum(roads.source, roads.target), np.maximum(roads.source, roads.target)
    assert roads.seconds is not None
    fastest = fastest_only(replace(roads, source=low, target=high), roads.seconds)
    simple = roads.take_edges(fastest & (low != high))
    if simple.edges == 0:
        raise InputError(f"the road network has no edge between two nodes ({roads.nodes} nodes were given)")
    _, part = connected_components(neighbours(simple), directed=False)
    return simple.take_nodes(part == np.bincount(part).argmax())


def triangulation(x: Floats, y: Floats) -> NDArray[np.integer]:
    """Return the edges of the Delaunay triangulation, one row (node, node) each."""
    corners = Delaunay(np.c_[x, y]).simplices
    return np.unique(np.sort(corners[:, [[0, 1], [1, 2], [0, 2]]].reshape(-1, 2), axis=1), axis=0)


def relative_neighbours(x: Floats, y: Floats, edges: NDArray[np.integer], ease: float) -> Flags:
    """Return which edges have no third node that is nearer to both ends than `ease` times their length.

    With `ease` = 1 this is the relative neighbourhood graph; a smaller value keeps more edges.
    """
    a, b = edges.T
    limit = ease * np.hypot(x[a] - x[b], y[a] - y[b])
    order = np.argsort(np.r_[a, b], kind="stable")
    neighbour = np.r_[b, a][order]
    first = np.searchsorted(np.r_[a, b][order], np.arange(len(x) + 1))
    kept = np.ones(len(edges), dtype=bool)
    for rank in range(int(np.diff(first).max())):
        slot = first[a] + rank
        valid = slot < first[a + 1]
        third = neighbour[np.where(valid, slot, 0)]
        nearer = np.maximum(
            np.hypot(x[a] - x[third], y[a] - y[third]), np.hypot(x[b] - x[third], y[b] - y[third])
        )
        kept &= ~(valid & (nearer < limit))
    return kept
