"""Where in a cell trips begin and end: places smaller than a cell have potentials of their own.

Answers are about cells, and the streets within a cell are not equally liked. What can be learned of it comes from
what lies around (a cell next to a busy one is busier on that side; whoever ends at the edge of a cell crossed no other)
and from the streets themselves: how much more is done where they are dense is learned from all cells at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.sparse import eye_array

from ldptrace.models.path.components import smooth
from ldptrace.models.prior import PriorComponent
from ldptrace.protocol.grid import Grid
from ldptrace.roads.library import zones_of
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

# Places along one side of the map, and of a cell, at most.
PLACES, PARTS = 24, 4
# How far apart places are alike, in sides of a cell.
REACH = 0.5


def places_of(grid: Grid) -> Grid:
    """A finer grid whose cells are the places within the cells of this one."""
    parts = min(PLACES // grid.n, PARTS)
    # Half a cell tells little that the cell does not.
    return Grid(grid.bounds, grid.n * parts if parts > 2 else grid.n)


@dataclass(frozen=True, eq=False)
class Ends:
    """The places where each route begins and ends, and how dense the streets are at every place."""

    start: Ints
    end: Ints
    density: Floats

    @staticmethod
    def of(routes: Routes, grid: Grid) -> Ends:
        places = places_of(grid)
        place = zones_of(routes.roads, places)
        start, end = routes.edges[routes.offsets[:-1]], routes.edges[routes.offsets[1:] - 1]
        return Ends(place[start], place[end], street_density(routes.roads, place, places.n))


def street_density(roads: RoadNetwork, place: Ints, n: int) -> Floats:
    """Logarithm of the length of streets around each place, with mean 0 and deviation 1 over the streets."""
    length = np.bincount(place, roads.length, n * n).astype(np.float64)
    around = gaussian_filter(length.reshape(n, n), 1.0, mode="nearest").ravel()
    logs = np.log(np.maximum(around, 1e-2 * around.max()))
    mean = np.average(logs, weights=length)
    deviation = np.sqrt(np.average((logs - mean) ** 2, weights=length))
    return (logs - mean) / max(float(deviation), 1e-6)


def end_components(density: Floats, grid: Grid) -> tuple[PriorComponent, ...]:
    """Components of the prior over the places."""
    places = places_of(grid)
    i, j = np.divmod(np.arange(places.cells), places.n)
    near = smooth(i, j, REACH * places.n / grid.n)
    return (
        PriorComponent("ends by street density", density[:, None], 0.25, fixed=True),
        PriorComponent("ends within cells, smooth", near, 0.5),
        PriorComponent("ends within cells", eye_array(places.cells), 1.0),
    )
