"""How much of a box has streets, and which cells of a grid have none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation

from ldptrace.protocol.grid import Grid
from ldptrace.roads.network import Bounds, RoadNetwork
from ldptrace.roads.pieces import in_pieces

Flags = NDArray[np.bool_]

# Blocks along a side of the bounds: each has streets if one runs through it or through the next one.
BLOCKS = 48
# Blocks along a side of a cell, and how many of them streets run through where a cell has streets.
PARTS, FEWEST = 4, 2


@dataclass(frozen=True, eq=False)
class Coverage:
    """What part of the bounds has streets, and for every cell of a grid whether it is `bare`: without streets."""

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
        """One line for a person."""
        return f"Streets in {self.share:.0%} of the bounds"

    def document(self) -> dict[str, Any]:
        """Plain data for a file."""
        return {"share": self.share, "bare": np.flatnonzero(self.bare).tolist()}

    @staticmethod
    def restored(found: Mapping[str, Any] | None, grid: Grid) -> Coverage | None:
        """From the plain data of a file, checked; files of before have none."""
        if found is None:
            return None
        cells = np.asarray(found["bare"], dtype=np.int64)
        if len(cells) and not (cells.min() >= 0 and cells.max() < grid.cells):
            raise ValueError(f"cells without streets must be among the {grid.cells} of the grid")
        return Coverage(float(found["share"]), np.isin(np.arange(grid.cells), cells))


def covered(roads: RoadNetwork, bounds: Bounds) -> float:
    """The share of the bounds that has streets.

    >>> street = RoadNetwork.of([0, 96], [23, 23], source=[0], target=[1])
    >>> covered(street, (0, 0, 96, 96))
    0.0625
    """
    return float(binary_dilation(_blocks(roads, Grid(bounds, BLOCKS))).mean())


def _blocks(roads: RoadNetwork, blocks: Grid) -> Flags:
    """Through which cells of a fine grid streets run."""
    across, up = roads.scale
    (ox, oy), (sx, sy) = blocks.origin, blocks.step
    # Nodes are near enough to each other then to be seen in every block.
    near = in_pieces(roads, min(sx * across, sy * up) / 2)
    i, j = np.floor((near.x - ox) / sx), np.floor((near.y - oy) / sy)
    inside = (i >= 0) & (i < blocks.n) & (j >= 0) & (j < blocks.n)
    found: Flags = np.zeros((blocks.n, blocks.n), dtype=np.bool_)
    found[i[inside].astype(np.int64), j[inside].astype(np.int64)] = True
    return found
