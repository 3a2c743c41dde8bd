"""The components of the path model's prior: plausible reasons for its potentials to move together.

Both ends of a trip like the same places, a road is driven both ways, neighbouring cells are alike
(`docs/explanation/path-model.md`, "The prior").
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ldptrace.core.arrays import Floats, Ints
from ldptrace.models.linear import SMALL, matrix_of, root_of, smooth
from ldptrace.models.pairs import pair_components
from ldptrace.models.path.graph import MoveGraph
from ldptrace.models.path.potentials import Layout
from ldptrace.models.prior import PriorComponent
from ldptrace.protocol.lattice import TURNS

# Variances are first guesses: what fits of Oldenburg and of four generated cities find where noise is small
# (docs/lab/path-model.md), but a tenth at most: with larger ones a fit follows answers that are nothing but noise.
# How far they may be off, as the standard deviation of the logarithm.
_SPREAD = 2.0


def components(graph: MoveGraph, layout: Layout) -> tuple[PriorComponent, ...]:
    """Return the components of the prior for a grid."""
    cells, moves = graph.cells, graph.moves
    start = _placed(_own(cells), layout.start, layout)
    end = _placed(_own(cells), layout.end, layout)
    into = _indicator(graph.target, cells)
    out = _indicator(graph.source, cells)
    through = _placed(into + out, layout.move, layout)
    pull = _placed(into - out, layout.move, layout)
    heading = np.asarray(graph.direction)
    axis = np.minimum(heading, 7 - heading)
    n = graph.grid.n
    i, j = np.divmod(np.arange(cells), n)
    near = smooth(i, j, _reach(n))
    middle_i = (i[graph.source] + i[graph.target]) / 2
    middle_j = (j[graph.source] + j[graph.target]) / 2

    def alike(group: Ints, groups: int) -> Any:
        """Smooth over the places of moves, separately for each group of directions."""
        entries, rows, columns, width = [], [], [], 0
        for number in range(groups):
            members = np.flatnonzero(group == number)
            root = smooth(middle_i[members], middle_j[members], _reach(n))
            entries.append(root.ravel())
            rows.append(np.repeat(members, root.shape[1]))
            columns.append(np.tile(width + np.arange(root.shape[1]), len(members)))
            width += root.shape[1]
        at = np.concatenate(rows), np.concatenate(columns)
        return _placed(matrix_of(np.concatenate(entries), *at, (moves, width)), layout.move, layout)

    return (
        PriorComponent("popularity", start + end + through / 2, 0.01, _SPREAD),
        PriorComponent("popularity, smooth", (start + end + through / 2) @ near, 0.1, _SPREAD),
        PriorComponent("terminals", start + end, 0.1, _SPREAD),
        PriorComponent("start", start, 0.02, _SPREAD),
        PriorComponent("end", end, 0.02, _SPREAD),
        PriorComponent("passage", through, 0.01, _SPREAD),
        PriorComponent("pull", pull, 0.005, _SPREAD),
        PriorComponent("pull, smooth", pull @ near, 0.01, _SPREAD),
        PriorComponent("axis", _placed(_indicator(axis, 4), layout.move, layout), 1.0, fixed=True),
        PriorComponent("axis, smooth", alike(axis, 4), 0.1, _SPREAD),
        PriorComponent("heading", _placed(_indicator(heading, 8), layout.move, layout), 0.005, _SPREAD),
        PriorComponent("heading, smooth", alike(heading, 8), 0.005, _SPREAD),
        PriorComponent(
            "link", _placed(_indicator(graph.link, graph.links), layout.move, layout), 0.1, _SPREAD
        ),
        PriorComponent("move", _placed(_own(moves), layout.move, layout), 0.005, _SPREAD),
        PriorComponent("turn", _placed(_own(TURNS), layout.turn, layout), 1.0, fixed=True, needs="turns"),
        *_length_components(layout),
        *_pair_components(layout),
        *_bend_components(graph, layout, near),
    )


def _pair_components(layout: Layout) -> tuple[PriorComponent, ...]:
    """Return pairs of districts as in every model, and pairs that are equally far apart: moves know no distance."""
    k = layout.districts
    if not k:
        return ()
    i, j = (np.abs(np.subtract.outer(place, place)).ravel() for place in np.divmod(np.arange(k * k), k))
    parts = pair_components(k)
    parts = (replace(parts[0], name="pairs, distance", basis=_indicator(i * k + j, k * k)), *parts)
    return tuple(
        replace(
            part, basis=_placed(part.basis, layout.pair, layout), variance=0.1, spread=_SPREAD, needs="pairs"
        )
        for part in parts
    )


def _bend_components(graph: MoveGraph, layout: Layout, near: Floats) -> tuple[PriorComponent, ...]:
    """Make the components of bends: of one shape anywhere alike, in cells near each other alike, each alone."""
    if not layout.bends:
        return ()
    shapes, shape = np.unique(graph.bend_shape, return_inverse=True)
    columns = shape[:, None] * near.shape[1] + np.arange(near.shape[1])
    rows = np.repeat(np.arange(graph.bends), near.shape[1])
    spread = near[graph.bend_cell].ravel(), rows, columns.ravel(), (graph.bends, len(shapes) * near.shape[1])
    parts = {
        "bend, shape": (_indicator(shape, len(shapes)), 0.1),
        "bend, smooth": (matrix_of(*spread), 0.1),
        "bend": (_own(graph.bends), 0.1),
    }
    return tuple(
        PriorComponent(name, _placed(block, layout.bend, layout), variance, _SPREAD, needs="bends")
        for name, (block, variance) in parts.items()
    )


def _length_components(layout: Layout) -> tuple[PriorComponent, ...]:
    """Return a trend that holds gamma and normal shapes, the last length, which counts all longer trips too, a smooth
    deviation of the logarithm, and single lengths."""
    length = np.arange(1, layout.lengths + 1, dtype=np.float64)
    trend = np.stack([length, np.log(length), length**2], axis=1)
    trend = (trend - trend.mean(axis=0)) / trend.std(axis=0)
    last = matrix_of(np.ones(1), np.array([layout.lengths - 1]), np.array([0]), (layout.lengths, 1))
    distance = np.log(length)[:, None] - np.log(length)
    near = np.exp(-0.5 * (distance / 0.5) ** 2)
    return (
        PriorComponent("length, trend", _placed(trend, layout.length, layout), 1.0, fixed=True),
        PriorComponent("length, last", _placed(last, layout.length, layout), 4.0, fixed=True),
        PriorComponent("length, smooth", _placed(root_of(near), layout.length, layout), 0.1, _SPREAD),
        PriorComponent("length", _placed(_own(layout.lengths), layout.length, layout), 0.02, _SPREAD),
    )


def _indicator(group: Ints, groups: int) -> Any:
    return matrix_of(np.ones(len(group)), np.arange(len(group)), group, (len(group), groups))


def _own(size: int) -> Any:
    """Return one component for each potential by itself."""
    return _indicator(np.arange(size), size)


def _placed(block: Any, rows: slice, layout: Layout) -> Any:
    """Return the block in the given rows of the vector of all potentials, zeros elsewhere."""
    if layout.size <= SMALL:
        matrix = np.zeros((layout.size, block.shape[1]))
        matrix[rows] = block if isinstance(block, np.ndarray) else block.toarray()
        return matrix
    at, column = block.nonzero()
    entries = np.asarray(block[at, column]).ravel()
    return matrix_of(entries, at + rows.start, column, (layout.size, block.shape[1]))


def _reach(n: int) -> float:
    """Return over which distance cells are alike: a third of the grid's side."""
    return max(1.0, n / 3)
