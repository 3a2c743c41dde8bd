"""Range queries: how many points lie in random squares (section 6.2 of the paper)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldptrace.core.arrays import Floats, Ints
from ldptrace.core.paths import CellPaths
from ldptrace.core.placement import cells_of_points
from ldptrace.protocol.grid import Grid

QUERIES = 200
FRACTION = 1 / 9
SANITY = 0.01


@dataclass(frozen=True, eq=False)
class SquareQueries:
    """Closed squares, which may extend beyond the border of the map."""

    left: Floats
    right: Floats
    bottom: Floats
    top: Floats

    def __len__(self) -> int:
        return len(self.left)

    @staticmethod
    def draw(
        rng: np.random.Generator,
        grid: Grid,
        *,
        count: int = QUERIES,
        fraction: float = FRACTION,
        scale: tuple[float, float] = (1.0, 1.0),
    ) -> SquareQueries:
        """Draw squares with `fraction` of the area of the map and uniform centres, in the scaled plane."""
        (ox, oy), (sx, sy) = grid.origin, grid.step
        width, height = sx * grid.n, sy * grid.n
        edge = math.sqrt(width * scale[0] * height * scale[1] * fraction)
        half_x, half_y = edge / scale[0] / 2, edge / scale[1] / 2
        x = rng.random(count) * width + ox
        y = rng.random(count) * height + oy
        return SquareQueries(x - half_x, x + half_x, y - half_y, y + half_y)

    def scattered(self, visits: Ints, grid: Grid, rng: np.random.Generator) -> Ints:
        """Draw the number of points in each square if every cell has the given number of uniform points. The borders of
        all squares cut the plane into slabs. The numbers of points of a cell in each pair of slabs are multinomial, and
        the number in a square is a difference of cumulative sums.

        >>> all_ = SquareQueries(*(np.array([v]) for v in (-1.0, 2.0, -1.0, 2.0)))
        >>> all_.scattered(np.array([5, 0, 1 << 21, 3]), Grid((0, 0, 1, 1), 2), np.random.default_rng(1)).tolist()
        [2097160]
        """
        (ox, oy), (sx, sy) = grid.origin, grid.step
        x_edges, *x_range = _slabs(self.left, self.right)
        y_edges, *y_range = _slabs(self.bottom, self.top)
        columns = [_cut(x_edges, ox + sx * i, sx) for i in range(grid.n)]
        rows = [_cut(y_edges, oy + sy * j, sy) for j in range(grid.n)]
        total = np.zeros((len(x_edges) + 1, len(y_edges) + 1), dtype=np.int64)
        for cell in np.flatnonzero(visits).tolist():
            (across, wide), (up, high) = columns[cell // grid.n], rows[cell % grid.n]
            total[across, up] += rng.multinomial(rng.multinomial(visits[cell], wide), high)
        sums = np.zeros((total.shape[0] + 1, total.shape[1] + 1), dtype=np.int64)
        sums[1:, 1:] = total.cumsum(axis=0).cumsum(axis=1)
        (x_low, x_high), (y_low, y_high) = x_range, y_range
        return sums[x_high, y_high] - sums[x_low, y_high] - sums[x_high, y_low] + sums[x_low, y_low]

    def shares(self, table: Floats, grid: Grid) -> Floats:
        """Return the share of the total of a table in each square. The table has sums per cell of a grid over the map.
        A cell that a border cuts counts by the part of its area inside. Further axes of the table stay axes of the
        result.

        >>> half = SquareQueries(*(np.array([v]) for v in (0.0, 0.5, 0.0, 1.0)))
        >>> half.shares(np.ones((3, 3)), Grid((0, 0, 1, 1), 6)).round(3).tolist()
        [0.5]
        """
        side = len(table)
        sums = np.zeros((side + 1, side + 1, *table.shape[2:]))
        sums[1:, 1:] = table.cumsum(axis=0).cumsum(axis=1)
        (ox, oy), (sx, sy) = grid.origin, grid.step
        x, y = (
            np.clip((edge - origin) / (step * grid.n) * side, 0, side)
            for edge, origin, step in (
                (np.stack((self.left, self.right)), ox, sx),
                (np.stack((self.bottom, self.top)), oy, sy),
            )
        )
        corner = [[_between(sums, a, b) for b in y] for a in x]
        inside: Floats = corner[1][1] - corner[0][1] - corner[1][0] + corner[0][0]
        total = table.sum()
        return inside / total if total else inside


def _between(sums: Floats, x: Floats, y: Floats) -> Floats:
    """Interpolate cumulative sums between the corners of a grid."""
    side = len(sums) - 1
    i, j = (np.minimum(value.astype(np.int64), side - 1) for value in (x, y))
    ahead = (-1,) + (1,) * (sums.ndim - 2)
    a, b = (x - i).reshape(ahead), (y - j).reshape(ahead)
    low = (1 - a) * sums[i, j] + a * sums[i + 1, j]
    high = (1 - a) * sums[i, j + 1] + a * sums[i + 1, j + 1]
    return (1 - b) * low + b * high


def resample(paths: CellPaths, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw one uniform point per cell of every path, or two points for a path of one cell, as in the reference code."""
    cells, _ = cells_of_points(paths)
    (ox, oy), (sx, sy) = paths.grid.origin, paths.grid.step
    i, j = np.divmod(cells, paths.grid.n)
    return ox + sx * (i + rng.random(len(cells))), oy + sy * (j + rng.random(len(cells)))


def share_error(real: Floats, synthetic: Floats, even: float) -> float:
    """Return the mean relative error of shares, with denominators of at least 9 % of the share in a uniform
    distribution. For squares of 1/9 of the map, this is the bound of the reference code, 1 % of all points.

    >>> share_error(np.array([0.2, 0.0]), np.array([0.1, 0.01]), 1 / 9)
    0.75
    """
    return float(np.mean(np.abs(real - synthetic) / np.maximum(real, SANITY / FRACTION * even)))


def average_relative_error(real: Ints, synthetic: NDArray[Any], total: float) -> float:
    """Return the mean of |Q(real) - Q(synthetic)| / max(Q(real), 1 % of all real points)."""
    return float(np.mean(np.abs(real - synthetic) / np.maximum(real, total * SANITY)))


def _slabs(low: Floats, high: Floats) -> tuple[Floats, Ints, Ints]:
    """Return the sorted borders, and for each interval the first slab inside and the first slab after it. A closed
    upper border is treated as a half-open border just above it.
    """
    beyond = np.nextafter(high, np.inf)
    edges = np.sort(np.concatenate((low, beyond)))
    return edges, np.searchsorted(edges, low, side="right"), np.searchsorted(edges, beyond, side="right")


def _cut(edges: Floats, low: float, width: float) -> tuple[slice, Floats]:
    """Return the slabs that an interval overlaps, and the share of the interval in each slab."""
    first, last = np.searchsorted(edges, (low, low + width), side="right")
    borders = np.concatenate(([low], edges[first:last], [low + width]))
    shares = np.diff(borders) / width
    return slice(int(first), int(last) + 1), shares / shares.sum()
