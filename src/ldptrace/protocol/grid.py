"""The public grid: bounds and N x N cells. A device knows it; the curator's tables are in `ldptrace.core.paths`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property

from ldptrace.errors import InputError
from ldptrace.protocol.lattice import axis_cell, axis_origin_and_step
from ldptrace.protocol.limits import MAX_N
from ldptrace.protocol.records import Record
from ldptrace.protocol.units import Bounds as Bounds


def numbers(given: Iterable[float] | str) -> list[float]:
    """Read the numbers of a list, or of a text that joins them by commas.

    >>> numbers("1, 2.5"), numbers((1, 2))
    ([1.0, 2.5], [1.0, 2.0])
    """
    if isinstance(given, str):
        return [float(part) for part in given.split(",")]
    values = list(given)
    if any(isinstance(value, str | bool) for value in values):
        raise TypeError("texts are no numbers")
    return [float(value) for value in values]


def checked_bounds(bounds: Bounds | str) -> Bounds:
    """Check bounds, and return four finite floats with x0 < x1 and y0 < y1. Nothing else reads bounds.

    >>> checked_bounds((0, 0, 1, 2)), checked_bounds("-8.7, 41, -8.4, 41.4")
    ((0.0, 0.0, 1.0, 2.0), (-8.7, 41.0, -8.4, 41.4))
    """
    try:
        x0, y0, x1, y1 = numbers(bounds)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"bounds must be four numbers X0,Y0,X1,Y1, got {str(bounds)[:80]!r}") from None
    if -180 <= x1 < x0 - 180 <= 0 and -90 <= y0 < y1 <= 90:
        raise InputError(
            f"bounds {x0:g},{y0:g},{x1:g},{y1:g} run across the antimeridian, and x0 must be below x1: write the "
            f"longitudes beyond it as above 180, as in {x0:g},{y0:g},{x1 + 360:g},{y1:g}"
        )
    if not all(math.isfinite(value) for value in (x0, y0, x1, y1)) or x0 >= x1 or y0 >= y1:
        raise InputError(
            f"bounds must be finite with x0 < x1 and y0 < y1, got {x0:g}, {y0:g}, {x1:g}, {y1:g}"
        )
    return x0, y0, x1, y1


def checked_cells(n: int) -> int:
    """Check the number of cells per side of a grid.

    >>> checked_cells(6)
    6
    """
    if isinstance(n, bool) or not hasattr(n, "__index__") or not 2 <= n <= MAX_N:
        raise InputError(f"the grid needs a whole number of cells per side from 2 to {MAX_N}, got {n!r}")
    return int(n)


class Grid(Record):
    """A grid of n x n equal cells over the bounds (x0, y0, x1, y1).

    Column `i` and row `j` of the grid meet in the cell with the number `i * n + j`. The bounds must be public
    knowledge: bounds that are taken from private data reveal something about the data.

    >>> grid = Grid((0, 0, 6, 6), 6)
    >>> grid.cells, grid.cell(1.5, 0.5)
    (36, 6)
    """

    bounds: Bounds
    n: int

    def __post_init__(self) -> None:
        bounds, n = checked_bounds(self.bounds), checked_cells(self.n)
        object.__setattr__(self, "bounds", bounds)
        object.__setattr__(self, "n", n)

    @property
    def cells(self) -> int:
        return self.n * self.n

    @cached_property
    def origin(self) -> tuple[float, float]:
        """Lower left corner of the grid, very slightly outside the bounds."""
        x0, y0, x1, y1 = self.bounds
        return axis_origin_and_step(x0, x1, self.n)[0], axis_origin_and_step(y0, y1, self.n)[0]

    @cached_property
    def step(self) -> tuple[float, float]:
        """Width and height of a cell."""
        x0, y0, x1, y1 = self.bounds
        return axis_origin_and_step(x0, x1, self.n)[1], axis_origin_and_step(y0, y1, self.n)[1]

    def cell(self, x: float, y: float) -> int:
        """Return the number of the cell that contains a point, or of the nearest cell if the point is outside the
        bounds."""
        (ox, oy), (sx, sy) = self.origin, self.step
        return axis_cell(x, ox, sx, self.n) * self.n + axis_cell(y, oy, sy, self.n)

    def cell_bounds(self, cell: int) -> Bounds:
        """Return the rectangle (x0, y0, x1, y1) of a cell."""
        i, j = divmod(cell, self.n)
        (ox, oy), (sx, sy) = self.origin, self.step
        return ox + i * sx, oy + j * sy, ox + (i + 1) * sx, oy + (j + 1) * sy

    def polygon(self, cell: int) -> list[tuple[float, float]]:
        """Return the corners of a cell as a closed ring, counter-clockwise."""
        x0, y0, x1, y1 = self.cell_bounds(cell)
        return [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
