"""Networks while they are drawn: junctions in the plane, who is neighbour of whom, straight streets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import Delaunay

from ldptrace.core.arrays import Flags, Floats, Ints32, make_columns
from ldptrace.errors import InputError
from ldptrace.roads.network import RoadNetwork


@dataclass(frozen=True, eq=False)
class Draft:
    """An undirected network in metres; edge `e` runs straight from node `start[e]` to node `end[e]`.

    `kind` is the class of the road, 0 the fastest; `speed` is in metres per second.

    >>> bend = Draft([0, 100, 100], [0, 0, 50], start=[0, 1], end=[1, 2], kind=[3, 3], speed=[10, 10])
    >>> bend.nodes, bend.edges, bend.length.tolist(), bend.seconds.tolist()
    (3, 2, [100.0, 50.0], [10.0, 5.0])
    """

    x: Floats
    y: Floats
    start: Ints32
    end: Ints32
    kind: Ints32
    speed: Floats

    def __post_init__(self) -> None:
        make_columns(self, np.float64, "x", "y", "speed")
        make_columns(self, np.int32, "start", "end", "kind")

    @property
    def nodes(self) -> int:
        return len(self.x)

    @property
    def edges(self) -> int:
        return len(self.start)

    @cached_property
    def length(self) -> Floats:
        """Length of every edge in metres."""
        return np.hypot(self.x[self.end] - self.x[self.start], self.y[self.end] - self.y[self.start])

    @cached_property
    def seconds(self) -> Floats:
        """Time to travel every edge on an empty road."""
        return self.length / self.speed

    @cached_property
    def adjacency(self) -> csr_array:
        """Row `v` holds the neighbours of node `v`; the value is the number of the edge plus one."""
        number = np.arange(1, self.edges + 1, dtype=np.int32)
        return csr_array(
            (np.r_[number, number], (np.r_[self.start, self.end], np.r_[self.end, self.start])),
            shape=(self.nodes, self.nodes),
        )

    def costs(self, weight: Floats) -> csr_array:
        """Return the adjacency with a cost per edge, as scipy's graph functions want it."""
        edges = self.adjacency
        return csr_array(
            (np.maximum(weight, 1e-9)[edges.data - 1], edges.indices, edges.indptr), shape=edges.shape
        )

    def take_edges(self, edges: ArrayLike) -> Draft:
        """Return the same nodes with some of the edges (numbers or a mask)."""
        picked = np.asarray(edges)
        return replace(
            self,
            start=self.start[picked],
            end=self.end[picked],
            kind=self.kind[picked],
            speed=self.speed[picked],
        )

    def take_nodes(self, kept: Flags) -> Draft:
        """Return the network on the nodes of a mask, renumbered."""
        inner = self.take_edges(kept[self.start] & kept[self.end])
        number = np.cumsum(kept) - 1
        return replace(
            inner, x=self.x[kept], y=self.y[kept], start=number[inner.start], end=number[inner.end]
        )

    def cleaned(self) -> Draft:
        """Return the largest connected part, without loops and with the fastest of parallel edges."""
        low, high = np.minimum(self.start, self.end), np.maximum(self.start, self.end)
        fastest_first = np.lexsort((self.seconds, high, low))
        pairs = low[fastest_first].astype(np.int64) * max(self.nodes, 1) + high[fastest_first]
        _, first = np.unique(pairs, return_index=True)
        edges = fastest_first[first]
        simple = self.take_edges(np.sort(edges[low[edges] != high[edges]]))
        if simple.edges == 0:
            raise InputError(
                f"the road network has no edge between two nodes ({self.nodes} nodes were given)"
            )
        _, part = connected_components(simple.adjacency, directed=False)
        return simple.take_nodes(part == np.bincount(part).argmax())

    def network(self, classes: tuple[str, ...], name: str) -> RoadNetwork:
        """Return the finished network: every street leads both ways; first all edges one way, then all back."""
        return RoadNetwork.of(
            self.x,
            self.y,
            np.r_[self.start, self.end],
            np.r_[self.end, self.start],
            length=np.tile(self.length, 2),
            seconds=np.tile(self.seconds, 2),
            road_class=np.tile(self.kind, 2),
            classes=classes,
            name=name,
        )


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
