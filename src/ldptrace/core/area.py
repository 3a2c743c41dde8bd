"""A public area, such as the land of a city by the sea: which points and cells are in it, and points drawn from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ldptrace.core import ragged
from ldptrace.core.arrays import Flags, Floats, Ints, make_columns
from ldptrace.core.crs import box_text
from ldptrace.core.parallel import map_chunks
from ldptrace.errors import InputError
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.lattice import cell_name

FINENESS = 24  # parts per side of a cell that are land or not
TRIES = 8  # draws of a point in a part that the border cuts, before its middle is taken
HALVINGS = 12  # of the way from the water to the shore


@dataclass(frozen=True, eq=False)
class Area:
    """A set of polygons. Ring `r` has the points `offsets[r]:offsets[r + 1]` and belongs to polygon `polygon[r]`.

    A point is inside a polygon if an odd number of its rings surround the point, so holes are rings too. A point is
    inside the area if it is inside any polygon.

    >>> ring = Area.of([[[(0, 0), (4, 0), (4, 4), (0, 4)], [(1, 1), (3, 1), (3, 3), (1, 3)]]])
    >>> ring.contains([0.5, 2.0, 9.0], [0.5, 2.0, 0.5]).tolist()
    [True, False, False]
    """

    x: Floats
    y: Floats
    offsets: Ints
    polygon: Ints

    def __post_init__(self) -> None:
        make_columns(self, np.float64, "x", "y")
        make_columns(self, np.int64, "offsets", "polygon")
        sizes = np.diff(self.offsets)
        if len(self.y) != len(self.x) or len(self.offsets) == 0 or self.offsets[-1] != len(self.x):
            raise InputError("the rings of an area do not fit its points")
        if len(self.polygon) != len(sizes) or np.any(np.diff(self.polygon) < 0):
            raise InputError("the rings of an area must come polygon by polygon")
        if len(sizes) == 0 or sizes.min() < 3:
            raise InputError("an area needs at least one polygon, and a polygon at least three points")
        if not (np.isfinite(self.x).all() and np.isfinite(self.y).all()):
            raise InputError("the corners of an area must be finite numbers")

    @staticmethod
    def of(polygons: Sequence[Sequence[Sequence[tuple[float, float]]]]) -> Area:
        """Make an area from lists: polygons of rings of (x, y)."""
        rings = [(number, ring) for number, polygon in enumerate(polygons) for ring in polygon]
        points = np.array([point[:2] for _, ring in rings for point in ring], dtype=np.float64).reshape(-1, 2)
        offsets = np.cumsum([0, *(len(ring) for _, ring in rings)])
        return Area(points[:, 0], points[:, 1], offsets, np.array([number for number, _ in rings]))

    def bounds(self) -> tuple[float, float, float, float]:
        """Return the smallest rectangle around the area."""
        return float(self.x.min()), float(self.y.min()), float(self.x.max()), float(self.y.max())

    def contains(self, x: ArrayLike, y: ArrayLike) -> Flags:
        """Return which points lie in the area."""
        # Few runs have an area.
        import shapely

        px, py = (np.asarray(axis, dtype=np.float64).ravel() for axis in (x, y))
        shape = self._shape
        # The shape is looked at from many threads, for which it must be prepared before.
        shapely.prepare(shape)
        inside = map_chunks(lambda _, a, b: shapely.contains_xy(shape, px[a:b], py[a:b]), len(px))
        return np.concatenate([np.empty(0, np.bool_), *inside]).reshape(np.shape(x))

    @cached_property
    def _shape(self) -> Any:
        """All polygons as one shape."""
        import shapely

        try:
            rings = shapely.linearrings(np.c_[self.x, self.y], indices=ragged.owners(self.offsets))
        except shapely.GEOSException as error:
            raise InputError(f"a ring of the area is none: {error}") from None
        polygons = shapely.make_valid(shapely.polygons(rings, indices=self.polygon))
        return shapely.union_all(polygons)

    def land(self, grid: Grid) -> Land:
        """Return the part of each cell of a grid that is in the area."""
        fine = grid.n * FINENESS
        middle = (np.arange(fine) + 0.5) / FINENESS
        (ox, oy), (sx, sy) = grid.origin, grid.step
        column, row = np.meshgrid(np.arange(fine), np.arange(fine), indexing="ij")
        inside = self.contains(ox + middle[column.ravel()] * sx, oy + middle[row.ravel()] * sy)
        column, row = column.ravel()[inside], row.ravel()[inside]
        cell = (column // FINENESS) * grid.n + row // FINENESS
        order = np.argsort(cell, kind="stable")
        if len(order) == 0:
            raise InputError(
                f"no part of the area lies in the bounds {box_text(grid.bounds)}; it lies in "
                f"{box_text(self.bounds())}"
            )
        first = np.searchsorted(cell[order], np.arange(grid.cells + 1))
        return Land(self, grid, column[order] / FINENESS, row[order] / FINENESS, first)


@dataclass(frozen=True, eq=False)
class Land:
    """The area in the cells of a grid, as small squares; cell `c` has the squares `first[c]:first[c + 1]`.

    `column` and `row` are the lower corners of the squares, in cells.
    """

    area: Area
    grid: Grid
    column: Floats
    row: Floats
    first: Ints

    @property
    def share(self) -> Floats:
        """The fraction of every cell that is in the area."""
        return np.diff(self.first) / FINENESS**2

    @cached_property
    def cells(self) -> Flags:
        """Whether each cell has a part of the area."""
        return np.diff(self.first) > 0

    def draw(self, cells: NDArray[np.integer], rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw a uniform point of the area in each of the cells, in units of cells from the origin of the grid."""
        count = np.diff(self.first)[cells]
        if np.any(count == 0):
            n = math.isqrt(len(self.first) - 1)
            raise InputError(f"cell {cell_name(int(cells[count == 0][0]), n)} has no part in the area")
        square = np.empty(len(cells), dtype=np.int64)
        x, y = np.empty(len(cells)), np.empty(len(cells))
        todo = np.arange(len(cells))
        for _ in range(TRIES):
            chosen, u, v = rng.random((3, len(todo)))
            square[todo] = self.first[cells[todo]] + (chosen * count[todo]).astype(np.int64)
            x[todo] = self.column[square[todo]] + u / FINENESS
            y[todo] = self.row[square[todo]] + v / FINENESS
            todo = todo[~self.contains(x[todo], y[todo])]
            if len(todo) == 0:
                return x, y
        x[todo], y[todo] = self.column[square[todo]] + 0.5 / FINENESS, self.row[square[todo]] + 0.5 / FINENESS
        return x, y

    def contains(self, x: Floats, y: Floats) -> Flags:
        """Return which points, in units of cells, lie in the area."""
        (ox, oy), (sx, sy) = self.grid.origin, self.grid.step
        return self.area.contains(ox + x * sx, oy + y * sy)

    def ashore(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return the points, with points outside the area moved to its border."""
        outside = np.flatnonzero(~self.area.contains(x, y))
        if len(outside) == 0:
            return x, y
        shore_x, shore_y = self._middles
        scale = np.array(self.grid.step)
        _, near = self._tree.query(np.c_[x[outside], y[outside]] / scale)
        wet, dry = np.zeros(len(outside)), np.ones(len(outside))
        dx, dy = shore_x[near] - x[outside], shore_y[near] - y[outside]
        for _ in range(HALVINGS):
            half = (wet + dry) / 2
            inside = self.area.contains(x[outside] + half * dx, y[outside] + half * dy)
            dry, wet = np.where(inside, half, dry), np.where(inside, wet, half)
        moved_x, moved_y = x.copy(), y.copy()
        moved_x[outside] += dry * dx
        moved_y[outside] += dry * dy
        return moved_x, moved_y

    @cached_property
    def _middles(self) -> tuple[Floats, Floats]:
        (ox, oy), (sx, sy) = self.grid.origin, self.grid.step
        return ox + (self.column + 0.5 / FINENESS) * sx, oy + (self.row + 0.5 / FINENESS) * sy

    @cached_property
    def _tree(self) -> Any:
        # It takes as long to load as all of Arrow, and few runs have an area.
        from scipy.spatial import cKDTree

        return cKDTree(np.stack(self._middles, axis=1) / np.array(self.grid.step))
