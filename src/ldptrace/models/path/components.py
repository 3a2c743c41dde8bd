"""The components of the path model's prior: plausible reasons for its potentials to move together.

Both ends of a trip like the same places, a road is driven both ways, neighbouring cells are alike
(`docs/explanation/path-model.md`, "The prior").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout
from ldptrace.models.prior import PriorComponent
from ldptrace.protocol.lattice import TURNS

Floats = NDArray[np.float64]
# Smooth components are kept up to this share of their largest eigenvalue.
_SPECTRUM = 1e-3


def components(graph: MoveGraph, layout: Layout) -> tuple[PriorComponent, ...]:
    """The components of the prior for a grid."""
    cells, moves = graph.cells, graph.moves
    start = _placed(np.eye(cells), layout.start, layout)
    end = _placed(np.eye(cells), layout.end, layout)
    into = _indicator(graph.target, cells)
    out = _indicator(graph.source, cells)
    through = _placed(into + out, layout.move, layout)
    pull = _placed(into - out, layout.move, layout)
    heading = _indicator(graph.direction, 8)
    axis = _indicator(np.minimum(graph.direction, 7 - graph.direction), 4)
    n = graph.grid.n
    i, j = np.divmod(np.arange(cells), n)
    near = _root(_bump(i, j, n))
    middle_i = (i[graph.source] + i[graph.target]) / 2
    middle_j = (j[graph.source] + j[graph.target]) / 2

    def alike(group: Floats) -> sparse.csr_array:
        """Smooth over the places of moves, separately for each group of directions."""
        blocks = []
        for members in group.T.astype(bool):
            root = _root(_bump(middle_i[members], middle_j[members], n))
            block = np.zeros((moves, root.shape[1]))
            block[members] = root
            blocks.append(block)
        return _placed(np.hstack(blocks), layout.move, layout)

    return (
        PriorComponent("popularity", start + end + through / 2),
        PriorComponent("popularity, smooth", (start + end + through / 2) @ near),
        PriorComponent("terminals", start + end),
        PriorComponent("start", start),
        PriorComponent("end", end),
        PriorComponent("passage", through),
        PriorComponent("pull", pull),
        PriorComponent("pull, smooth", pull @ near),
        PriorComponent("axis", _placed(axis, layout.move, layout), 1.0, fixed=True),
        PriorComponent("axis, smooth", alike(axis)),
        PriorComponent("heading", _placed(heading, layout.move, layout)),
        PriorComponent("heading, smooth", alike(heading)),
        PriorComponent("link", _placed(_indicator(graph.link, graph.links), layout.move, layout)),
        PriorComponent("move", _placed(np.eye(moves), layout.move, layout)),
        PriorComponent("turn", _placed(np.eye(TURNS), layout.turn, layout), 1.0, fixed=True, needs="turns"),
        *_length_components(layout),
    )


def _length_components(layout: Layout) -> tuple[PriorComponent, ...]:
    """A trend that holds gamma and normal shapes, a smooth deviation on the logarithmic scale, single lengths."""
    length = np.arange(1, layout.lengths + 1, dtype=np.float64)
    trend = np.stack([length, np.log(length), length**2], axis=1)
    trend = (trend - trend.mean(axis=0)) / trend.std(axis=0)
    distance = np.log(length)[:, None] - np.log(length)
    smooth = np.exp(-0.5 * (distance / 0.5) ** 2)
    return (
        PriorComponent("length, trend", _placed(trend, layout.length, layout), 1.0, fixed=True),
        PriorComponent("length, smooth", _placed(_root(smooth), layout.length, layout)),
        PriorComponent("length", _placed(np.eye(layout.lengths), layout.length, layout), 0.01),
    )


def _indicator(group: NDArray[np.int64], groups: int) -> Floats:
    return (group[:, None] == np.arange(groups)).astype(np.float64)


def _placed(block: Floats, rows: slice, layout: Layout) -> sparse.csr_array:
    """The block in the given rows of the vector of all potentials, zeros elsewhere."""
    at, column = np.nonzero(block)
    entries = (block[at, column], (at + rows.start, column))
    return sparse.csr_array(entries, shape=(layout.size, block.shape[1]))


def _bump(i: NDArray[np.generic], j: NDArray[np.generic], n: int) -> Floats:
    """Covariance that falls off with distance, over a third of the grid's side."""
    squares = np.subtract.outer(i, i) ** 2.0 + np.subtract.outer(j, j) ** 2.0
    return np.exp(-0.5 * squares / max(1.0, n / 3) ** 2)


def _root(covariance: Floats) -> Floats:
    """B with B @ B.T nearly the covariance, few columns."""
    values, vectors = np.linalg.eigh(covariance)
    large = values > _SPECTRUM * values[-1]
    return vectors[:, large] * np.sqrt(values[large])
