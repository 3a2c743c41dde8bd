"""Where in a cell trips begin and end: places smaller than a cell have potentials of their own.

Answers are about cells, and the streets within a cell are not equally liked. What can be learned of it comes from
what lies around (a cell next to a busy one is busier on that side) and from the streets themselves: how many more trips
begin and end where streets are dense is learned from all cells at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.sparse import csr_array, diags_array, hstack, vstack

from ldptrace.core.arrays import Flags, Floats, Ints32
from ldptrace.models.path.components import smooth
from ldptrace.models.prior import Prior, PriorComponent
from ldptrace.protocol.grid import Grid
from ldptrace.roads.classes import STREET, class_rank
from ldptrace.roads.leaning import zones_of
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
    """A finer grid whose cells are the places within the cells of this one."""
    # A third of a cell tells little that the cell does not.
    return Grid(grid.bounds, grid.n * PARTS if grid.n * PARTS <= PLACES else grid.n)


@dataclass(frozen=True, eq=False)
class Ends:
    """What is known of the ends of routes: the place and the kind of street of both.

    `marks` has a row for each route: places of its start and end, then their kinds, numbered after all places,
    whether it leads through the map, and how far apart both ends are.
    `density` says how dense the streets are at every place.
    """

    marks: Ints32
    density: Floats

    @staticmethod
    def of(routes: Routes, grid: Grid) -> Ends:
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
    """The kind of every edge as the end of a trip: how large a road it is, or the last one of a large road that ends.

    Nobody stops on a motorway, except where it leaves the map: trips from elsewhere begin there.
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
    """Whether each node lies where the map ends."""
    x0, y0, x1, y1 = roads.bounds()
    across, up = RIM * (x1 - x0), RIM * (y1 - y0)
    inside = (roads.x > x0 + across) & (roads.x < x1 - across) & (roads.y > y0 + up) & (roads.y < y1 - up)
    return ~inside


def _apart(routes: Routes, start: Ints32, end: Ints32) -> Ints32:
    """The class of how far apart both ends of every route are."""
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
    """Logarithm of the length of streets around each place, with mean 0 and deviation 1 over the streets."""
    length = np.bincount(place, roads.length, n * n).astype(np.float64)
    around = gaussian_filter(length.reshape(n, n), 1.0, mode="nearest").ravel()
    logs = np.log(np.maximum(around, 1e-2 * around.max()))
    mean = np.average(logs, weights=length)
    deviation = np.sqrt(np.average((logs - mean) ** 2, weights=length))
    return (logs - mean) / max(float(deviation), ALIKE)


def end_components(
    density: Floats, grid: Grid, scales: Floats | None = None, *, fine: bool = False
) -> tuple[PriorComponent, ...]:
    """Components of the prior over places and kinds; `scales` multiply how far each place may be from those around.

    On a `fine` grid the passage of single cells is a component of its own.

    Kinds are few, street density is one number, and many answers tell of them, so how far they may differ is not
    learned. A learned variance of kinds was too small in some cities, and trips that enter by a large road then seemed
    to begin elsewhere. A learned one of street density vanished where districts explained as much.
    """
    places = places_of(grid)
    i, j = np.divmod(np.arange(places.cells), places.n)
    near = np.sqrt(SMOOTH) * smooth(i, j, REACH * places.n / grid.n)
    own = np.sqrt(ALONE) * (np.ones(places.cells) if scales is None else scales)
    within = hstack([csr_array(near), diags_array(own)])
    district = np.pad(smooth(i, j, DISTRICT * places.n / grid.n), ((0, MARKS), (0, 0)))
    return (
        PriorComponent("ends by district", district, FIRST_FINE if fine else FIRST),
        PriorComponent(
            "ends by street density", np.append(density, np.zeros(MARKS))[:, None], 0.5, fixed=True
        ),
        PriorComponent(
            WITHIN, csr_array(vstack([within, csr_array((MARKS, within.shape[1]))])), 0.008, freedom=FREEDOM
        ),
        PriorComponent("ends by kind of street", _kinds(places.cells), 1.0, fixed=True),
        *_distances(places.cells),
    )


def _distances(places: int) -> tuple[PriorComponent, ...]:
    """How far apart ends are: a trend, so that any gamma law of distances may be found, and each class for itself.

    How many cells a trip has follows from it, and answers about that say which law it is: whether hardly anybody
    drives fifty metres is not for the library to decide.
    """
    logs = 0.5 * np.log(2) * (np.arange(CLASSES) - CLASSES + 0.5)
    trend = np.stack([logs, np.exp(logs)], axis=1)
    trend = (trend - trend.mean(axis=0)) / trend.std(axis=0)
    first, second = (
        csr_array(vstack([csr_array((places + APART, part.shape[1])), csr_array(part)]))
        for part in (trend, np.eye(CLASSES))
    )
    return PriorComponent("distance, trend", first, 4.0, fixed=True), PriorComponent("distance", second, 4e-4)


def _kinds(places: int) -> csr_array:
    """The prior's basis of the marks of kinds: a column for each, and rows of zeros for all other marks.

    Trips that begin or end where a large road leaves the map, or that lead from one such place to another, may be
    `GATES` times as far from the map's own share as other kinds.
    """
    width = np.ones(APART)
    width[[GATE, THROUGH]] = GATES
    return csr_array(vstack([csr_array((places, APART)), diags_array(width), csr_array((CLASSES, APART))]))


def standing_out(prior: Prior, variances: Mapping[str, float], potentials: Floats, places: int) -> Floats:
    """How far each place may be from its neighbours, given where a fit saw it.

    Most places are much like those around, and a few are nothing like them: Student's t of few degrees of freedom,
    which is a normal law whose width is what this says, again and again.
    """
    each = np.array([variances[part.name] for part in prior.components])
    (number,) = (k for k, part in enumerate(prior.components) if part.name == WITHIN)
    # Each place has a column of its own, and they are the last ones.
    alone = prior.components[number].basis[:, -places:]
    pull = alone.T @ prior.root(each).pull(potentials)
    width = ALONE * each[number]
    found = each[number] * (alone @ pull)[-MARKS - places : -MARKS]
    scales: Floats = np.sqrt((FREEDOM + found**2 / width) / (FREEDOM + 1))
    return scales
