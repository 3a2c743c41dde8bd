"""Where a network has streets; and long edges cut into pieces, because trips begin at some point of a long edge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.ndimage import binary_dilation

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags
from ldptrace.protocol.grid import Bounds, Grid
from ldptrace.roads.network import RoadNetwork

# Blocks along a side of the bounds: each has streets if one runs through it or through the next one.
BLOCKS = 48
# Blocks along a side of a cell, and how many of them streets run through where a cell has streets.
PARTS, FEWEST = 4, 2


@dataclass(frozen=True, eq=False)
class Coverage:
    """The share of the bounds that has streets, and for each cell of a grid whether it is `bare` (without streets)."""

    share: float
    bare: Flags

    @staticmethod
    def of(roads: RoadNetwork, grid: Grid) -> Coverage:
        n = grid.n
        blocks = _blocks(roads, Grid(grid.bounds, n * PARTS))
        through = blocks.reshape(n, PARTS, n, PARTS).sum(axis=(1, 3)).ravel()
        return Coverage(covered(roads, grid.bounds), through < FEWEST)

    @property
    def line(self) -> str:
        """The coverage as one line of text."""
        return f"Streets in {self.share:.0%} of the bounds"

    def document(self) -> dict[str, Any]:
        """Return plain data for a file."""
        return {"share": self.share, "bare": np.flatnonzero(self.bare).tolist()}

    @staticmethod
    def restored(data: Mapping[str, Any] | None, grid: Grid) -> Coverage | None:
        """Read and check the plain data of a file; None stays None."""
        if data is None:
            return None
        cells = np.asarray(data["bare"], dtype=np.int64)
        if len(cells) and not (cells.min() >= 0 and cells.max() < grid.cells):
            raise ValueError(f"cells without streets must be among the {grid.cells} of the grid")
        return Coverage(float(data["share"]), np.isin(np.arange(grid.cells), cells))


def covered(roads: RoadNetwork, bounds: Bounds) -> float:
    """Return the share of the bounds that has streets.

    >>> street = RoadNetwork.of([0, 96], [23, 23], source=[0], target=[1])
    >>> covered(street, (0, 0, 96, 96))
    0.0625
    """
    return float(binary_dilation(_blocks(roads, Grid(bounds, BLOCKS))).mean())


def _blocks(roads: RoadNetwork, blocks: Grid) -> Flags:
    """Return which cells of a fine grid streets run through."""
    across, up = roads.scale
    (ox, oy), (sx, sy) = blocks.origin, blocks.step
    # Nodes are near enough to each other then to be seen in every block.
    near = in_pieces(roads, min(sx * across, sy * up) / 2)
    i, j = np.floor((near.x - ox) / sx), np.floor((near.y - oy) / sy)
    inside = (i >= 0) & (i < blocks.n) & (j >= 0) & (j < blocks.n)
    crossed: Flags = np.zeros((blocks.n, blocks.n), dtype=np.bool_)
    crossed[i[inside].astype(np.int64), j[inside].astype(np.int64)] = True
    return crossed


def in_pieces(roads: RoadNetwork, longest: float) -> RoadNetwork:
    """Return the same streets, with every edge longer than `longest` cut into equal pieces.

    >>> line = RoadNetwork.of([0, 100], [0, 0], source=[0], target=[1], seconds=[10])
    >>> halves = in_pieces(line, 60)
    >>> halves.x.tolist(), halves.length.tolist(), halves.seconds.tolist()
    ([0.0, 100.0, 50.0], [50.0, 50.0], [5.0, 5.0])
    """
    many = np.maximum(np.ceil(roads.length / longest - 1e-9), 1).astype(np.int64)
    if many.max(initial=1) == 1:
        return roads
    edge = np.repeat(np.arange(roads.edges), many)
    first = np.cumsum(many) - many
    number = np.arange(len(edge)) - first[edge]
    x, y, offsets = roads.lines(np.arange(roads.edges))
    share = roads.shares(x, y, offsets)
    # Shares run from 0 to 1 on each line; with the number of the line they run on over all lines.
    line = np.repeat(np.arange(roads.edges), np.diff(offsets))
    cut = number > 0
    places = 2.0 * edge[cut] + number[cut] / many[edge[cut]]
    new_x, new_y = (np.interp(places, 2.0 * line + share, values) for values in (x, y))
    node = np.empty(len(edge), dtype=np.int64)
    node[cut] = roads.nodes + np.arange(cut.sum())
    node[~cut] = roads.source
    target = np.append(node[1:], 0)
    target[first + many - 1] = roads.target
    shape: dict[str, Any] = {}
    if roads.shape_offsets is not None:
        inner = np.ones(len(x), dtype=bool)
        inner[offsets[:-1]] = inner[offsets[1:] - 1] = False
        # A bend on a cut is the node there.
        along = share * many[line]
        inner &= (many[line] == 1) | (np.abs(along - np.round(along)) > 1e-9)
        piece = first[line[inner]] + np.minimum(along[inner].astype(np.int64), many[line[inner]] - 1)
        sizes = np.bincount(piece, minlength=len(edge))
        shape = {"shape_x": x[inner], "shape_y": y[inner], "shape_offsets": ragged.offsets_of(sizes)}
    cut_up = roads.take_edges(edge)
    return replace(
        cut_up,
        x=np.concatenate([roads.x, new_x]),
        y=np.concatenate([roads.y, new_y]),
        source=node.astype(np.int32),
        target=target.astype(np.int32),
        length=cut_up.length / many[edge],
        seconds=None if cut_up.seconds is None else cut_up.seconds / many[edge],
        **shape,
    )
