"""Road networks: junctions, straight edges between them, and how fast each edge is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from ldptrace.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

# Trees of this many destinations see the same perturbed costs; fewer would only cost time.
TREES_PER_MOOD = 16


@dataclass(frozen=True, eq=False)
class RoadNetwork:
    """An undirected network in metres; edge `e` runs straight from node `start[e]` to node `end[e]`.

    `kind` is the class of the road, 0 the fastest; `speed` is in metres per second.

    >>> bend = RoadNetwork([0, 100, 100], [0, 0, 50], start=[0, 1], end=[1, 2], kind=[3, 3], speed=[10, 10])
    >>> bend.nodes, bend.edges, bend.length.tolist(), bend.seconds.tolist()
    (3, 2, [100.0, 50.0], [10.0, 5.0])
    """

    x: Floats
    y: Floats
    start: Ints
    end: Ints
    kind: Ints
    speed: Floats

    def __post_init__(self) -> None:
        for name in ("x", "y", "speed"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.float64))
        for name in ("start", "end", "kind"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.int32))

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
        """The adjacency with a cost per edge, as scipy's graph functions want it."""
        edges = self.adjacency
        return csr_array(
            (np.maximum(weight, 1e-9)[edges.data - 1], edges.indices, edges.indptr), shape=edges.shape
        )

    def take_edges(self, edges: ArrayLike) -> RoadNetwork:
        """The same nodes with some of the edges (numbers or a mask)."""
        picked = np.asarray(edges)
        return replace(
            self,
            start=self.start[picked],
            end=self.end[picked],
            kind=self.kind[picked],
            speed=self.speed[picked],
        )

    def take_nodes(self, kept: NDArray[np.bool_]) -> RoadNetwork:
        """The network on the nodes of a mask, renumbered."""
        inner = self.take_edges(kept[self.start] & kept[self.end])
        number = np.cumsum(kept) - 1
        return replace(
            inner, x=self.x[kept], y=self.y[kept], start=number[inner.start], end=number[inner.end]
        )

    def cleaned(self) -> RoadNetwork:
        """The largest connected part, without loops and with the fastest of parallel edges."""
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

    def trees(
        self, roots: Ints, weight: Floats, *, spread: float, rng: np.random.Generator
    ) -> tuple[Ints, NDArray[np.float32]]:
        """Cheapest ways to every root: `ahead[r, v]` is the node after `v`, negative at the root; and costs.

        The weights are perturbed by a lognormal factor of the given spread, anew for every few roots: people
        do not all know the same shortest way.
        """
        ahead = np.empty((len(roots), self.nodes), dtype=np.int32)
        cost = np.empty((len(roots), self.nodes), dtype=np.float32)
        for first in range(0, len(roots), TREES_PER_MOOD):
            block = slice(first, first + TREES_PER_MOOD)
            felt = weight * rng.lognormal(0.0, spread, len(weight))
            cost[block], ahead[block] = dijkstra(
                self.costs(felt), indices=roots[block], return_predecessors=True
            )
        return ahead, cost
