"""Where within a cell trips begin and end: parts of cells, called places, have potentials of their own.

Answers are about cells, but trips do not begin and end evenly within a cell. The model learns from the cells around (a
cell next to a busy cell is busier on that side) and from the streets. How many more trips begin and end where streets
are dense is learned from all cells together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.sparse import csr_array, diags_array, hstack, issparse, vstack

from ldptrace.core.arrays import Flags, Floats, Ints32
from ldptrace.models.linear import smooth
from ldptrace.models.prior import Prior, PriorComponent
from ldptrace.protocol.grid import Grid
from ldptrace.roads.classes import STREET, class_rank
from ldptrace.roads.library import zones_of
from ldptrace.roads.network import RoadNetwork
from ldptrace.roads.routes import Routes
from ldptrace.roads.routing import side_of

# Places along one side of the map, at most, and along one side of a cell that is divided into places.
PLACES, PARTS = 36, 4
# How far apart places are alike, in sides of a cell; variances of that part and of a place alone, as in generated
# cities. One factor of both is learned: answers about cells do not tell the two apart.
REACH, SMOOTH, ALONE = 0.5, 0.5, 0.4
# Streets whose density varies by less, as the standard deviation of its logarithm, are equally dense everywhere.
ALIKE = 0.1
# Districts are alike over this many sides of a cell. Their variance is learned and begins small: where single places
# explain the answers, districts must not hide them. On fine grids it begins larger, because the passage of single cells
# would otherwise explain where trips begin and end.
DISTRICT, FIRST, FIRST_FINE = 2.0, 4e-4, 0.05
# Degrees of freedom of a place alone: a few stand out far.
FREEDOM = 3.0
WITHIN = "ends within cells"
# Kinds of street by rank, the last for the ends of large roads; how large those are, and how far they may stand out.
KINDS, LARGE, GATES = 6, 1, 3.0
GATE = KINDS - 1
# How near to the rim of the map a road ends that leaves it, in sides of the map.
RIM = 0.05
# After the kinds of single ends: from one end of a large road to another, through the map, or not; then classes of how
# far apart both ends are, each sqrt(2) times as far as the one before, up to the side of the map.
THROUGH, APART, CLASSES = KINDS, KINDS + 2, 15
MARKS = APART + CLASSES


def places_of(grid: Grid) -> Grid:
    """Return a finer grid, whose cells are the places within the cells of this grid."""
    # A third of a cell tells little that the cell does not.
    return Grid(grid.bounds, grid.n * PARTS if grid.n * PARTS <= PLACES else grid.n)


@dataclass(frozen=True, eq=False)
class Ends:
    """The first and last edges of routes: their places and their kinds of street.

    `marks` has a row for each route: the places of its start and end, their kinds (numbered after all places), whether
    the route crosses the whole map from one large road to another, and the class of the distance between its ends.
    `density` is the density of streets at each place.
    """

    marks: Ints32
    density: Floats

    @staticmethod
    def of(routes: Routes, grid: Grid) -> Ends:
        """Find the places and kinds of both ends of each route, and what both ends have together."""
        places = places_of(grid)
        place, kind = zones_of(routes.roads, places), places.cells + kinds_of(routes.roads)
        start, end = routes.edges[routes.offsets[:-1]], routes.edges[routes.offsets[1:] - 1]
        gates = (kind[start] == places.cells + GATE) & (kind[end] == places.cells + GATE)
        through = places.cells + THROUGH + ~gates
        apart = places.cells + APART + _apart(routes, start, end)
        marks = np.stack([place[start], place[end], kind[start], kind[end], through, apart], axis=1)
        return Ends(
            np.ascontiguousarray(marks, dtype=np.int32), street_density(routes.roads, place, places.n)
        )


def kinds_of(roads: RoadNetwork) -> Ints32:
    """Return the kind of each edge as the end of a trip: the rank of its road, or a separate kind for a large road at
    the border of the map.

    Trips do not end on a motorway, except where it leaves the map: trips from outside begin there.
    """
    ranks = np.array([min(class_rank(word), GATE - 1) for word in roads.classes] + [STREET])
    kind = ranks[roads.road_class]
    # Where a street ends, the only way on is the way back.
    leaving, arriving = roads.headings
    into, out = (np.bincount(nodes, minlength=roads.nodes) for nodes in (roads.target, roads.source))
    last, first = np.zeros(roads.nodes, dtype=np.int64), np.zeros(roads.nodes, dtype=np.int64)
    last[roads.target], first[roads.source] = np.arange(roads.edges), np.arange(roads.edges)
    back = np.cos(leaving[first] - arriving[last]) < -0.9
    ends = (into == 1) & (out == 1) & back & _at_the_rim(roads)
    gate = (kind <= LARGE) & (ends[roads.source] | ends[roads.target])
    return np.where(gate, GATE, kind).astype(np.int32)


def _at_the_rim(roads: RoadNetwork) -> Flags:
    """Return which nodes lie near the border of the map."""
    x0, y0, x1, y1 = roads.bounds()
    across, up = RIM * (x1 - x0), RIM * (y1 - y0)
    inside = (roads.x > x0 + across) & (roads.x < x1 - across) & (roads.y > y0 + up) & (roads.y < y1 - up)
    return ~inside


def _apart(routes: Routes, start: Ints32, end: Ints32) -> Ints32:
    """Return the class of the distance between the two ends of each route."""
    roads = routes.roads
    across, up = roads.scale

    def at(edge: Ints32, share: Floats) -> tuple[Floats, Floats]:
        first, last = roads.source[edge], roads.target[edge]
        x = roads.x[first] + share * (roads.x[last] - roads.x[first])
        return x * across, (roads.y[first] + share * (roads.y[last] - roads.y[first])) * up

    (x0, y0), (x1, y1) = at(start, routes.begin), at(end, routes.end)
    far = np.hypot(x1 - x0, y1 - y0) / side_of(roads)
    classes = CLASSES - 1 + np.ceil(2 * np.log2(np.maximum(far, 1e-9)))
    return np.clip(classes, 0, CLASSES - 1).astype(np.int32)


def street_density(roads: RoadNetwork, place: Ints32, n: int) -> Floats:
    """Return the logarithm of the length of streets around each place, scaled to mean 0 and standard deviation 1 over
    the streets."""
    length = np.bincount(place, roads.length, n * n).astype(np.float64)
    around = gaussian_filter(length.reshape(n, n), 1.0, mode="nearest").ravel()
    logs = np.log(np.maximum(around, 1e-2 * around.max()))
    mean = np.average(logs, weights=length)
    deviation = np.sqrt(np.average((logs - mean) ** 2, weights=length))
    return (logs - mean) / max(float(deviation), ALIKE)


def end_components(
    density: Floats, grid: Grid, scales: Floats | None = None, *, fine: bool = False
) -> tuple[PriorComponent, ...]:
    """Return the components of the prior for places and kinds of ends. `scales` multiply how far each place may differ
    from the places around it.

    On a `fine` grid, the number of trips through each cell is a component of its own.

    The variances of kinds and of street density are fixed. There are few kinds and one density, and many answers depend
    on them. A fitted variance of kinds was too small in some cities, and trips that enter by a large road then seemed
    to begin elsewhere. A fitted variance of street density vanished where districts explained as much.
    """
    places = places_of(grid)
    i, j = np.divmod(np.arange(places.cells), places.n)
    near = np.sqrt(SMOOTH) * smooth(i, j, REACH * places.n / grid.n)
    own = np.sqrt(ALONE) * (np.ones(places.cells) if scales is None else scales)
    within = hstack([csr_array(near), diags_array(own)])
    district = padded(smooth(i, j, DISTRICT * places.n / grid.n), 0, MARKS)
    return (
        PriorComponent("ends by district", district, FIRST_FINE if fine else FIRST),
        PriorComponent("ends by street density", padded(density[:, None], 0, MARKS), 0.5, fixed=True),
        PriorComponent(WITHIN, padded(within, 0, MARKS), 0.008, freedom=FREEDOM),
        PriorComponent("ends by kind of street", _kinds(places.cells), 1.0, fixed=True),
        *_distances(places.cells),
    )


def _distances(places: int) -> tuple[PriorComponent, ...]:
    """Return the components for the distance between both ends: a trend, which allows any gamma distribution of
    distances, and a term for each class of distances.

    The number of cells of a trip depends on this distance, so the answers about lengths determine the distribution. The
    library must not decide, for example, how rare very short trips are.
    """
    logs = 0.5 * np.log(2) * (np.arange(CLASSES) - CLASSES + 0.5)
    trend = np.stack([logs, np.exp(logs)], axis=1)
    trend = (trend - trend.mean(axis=0)) / trend.std(axis=0)
    first, second = (padded(csr_array(part), places + APART, 0) for part in (trend, np.eye(CLASSES)))
    return PriorComponent("distance, trend", first, 4.0, fixed=True), PriorComponent("distance", second, 4e-4)


def _kinds(places: int) -> Any:
    """Return the basis of the prior for kinds: a column for each kind, and rows of zeros for all other marks.

    The potentials of ends where a large road leaves the map, and of routes between two such ends, may be `GATES` times
    as large as those of other kinds.
    """
    width = np.ones(APART)
    width[[GATE, THROUGH]] = GATES
    return padded(diags_array(width), places, CLASSES)


def padded(basis: Any, above: int, below: int) -> Any:
    """Return the basis with more rows of zeros; a sparse basis stays sparse."""
    if issparse(basis):
        many = basis.shape[1]
        return csr_array(vstack([csr_array((above, many)), basis, csr_array((below, many))]))
    return np.pad(basis, ((above, below), (0, 0)))


def standing_out(prior: Prior, variances: Mapping[str, float], potentials: Floats, places: int) -> Floats:
    """Return how far each place may differ from its neighbours in the next fit, given the result of a fit.

    Most places are similar to their neighbours, and a few are very different. Student's t distribution with few degrees
    of freedom describes this; it is fitted as a normal distribution whose width is computed again after each fit.
    """
    each = np.array([variances[part.name] for part in prior.components])
    (number,) = (k for k, part in enumerate(prior.components) if part.name == WITHIN)
    # Each place has a column of its own, and they are the last ones.
    alone = prior.components[number].basis[:, -places:]
    pull = alone.T @ prior.root(each).pull(potentials)
    width = ALONE * each[number]
    fitted = each[number] * (alone @ pull)[-MARKS - places : -MARKS]
    scales: Floats = np.sqrt((FREEDOM + fitted**2 / width) / (FREEDOM + 1))
    return scales
