"""Which of many points in the plane are neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay

from ldptrace.generators.roads import Floats


def triangulation(x: Floats, y: Floats) -> NDArray[np.integer]:
    """Edges of the Delaunay triangulation, one row (node, node) each."""
    corners = Delaunay(np.c_[x, y]).simplices
    return np.unique(np.sort(corners[:, [[0, 1], [1, 2], [0, 2]]].reshape(-1, 2), axis=1), axis=0)


def relative_neighbours(x: Floats, y: Floats, edges: NDArray[np.integer], ease: float) -> NDArray[np.bool_]:
    """Which edges have no third node that is nearer to both ends than `ease` times their length.

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
