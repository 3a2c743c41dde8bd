"""A procedural city: districts of streets, main roads between hubs, a motorway ring and a river.

Nothing of it is a real place; it is made to have what matters for mobility data: a dense centre and sparse
outskirts, roads that bundle traffic, detours around a river, and places that attract more than others. While a network
is drawn, a street is one straight edge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import Delaunay, cKDTree

from ldptrace.core.arrays import Flags, Floats, Ints
from ldptrace.errors import InputError
from ldptrace.generators.legs import fastest_only
from ldptrace.roads.network import RoadNetwork

MOTORWAY, ARTERIAL, COLLECTOR, STREET = range(4)
SPEED = np.array([22.0, 13.5, 10.5, 7.5])  # metres per second by class
CLASSES = ("motorway", "primary", "tertiary", "residential")  # what OpenStreetMap would call them

# Lengths as shares of the side of the city.
MARGIN = 0.03  # no road comes closer to the border
FINE, COARSE = 0.005, 0.032  # between junctions in the centre and in the countryside
RIVER_WIDTH = 0.011
RING_RADIUS = 0.235

SHORTEST_BLOCK = 85.0  # metres
SUBURBS, VILLAGES, DISTRICTS, QUARTERS, SPOKES, RING_NODES = 7, 10, 90, 110, 4, 96


@dataclass(frozen=True, eq=False)
class Hubs:
    """Places that people go to: the centre first, then suburbs, then villages.

    `pull` is the share of all visits, `reach` the radius in metres, `peak` how built-up the middle is.
    """

    x: Floats
    y: Floats
    pull: Floats
    reach: Floats
    peak: Floats

    def built_up(self, x: Floats, y: Floats) -> Floats:
        """Return how dense the city is at the points, from 0 (fields) to 1 (the middle of the centre)."""
        empty = np.ones(len(x))
        for hx, hy, peak, reach in zip(self.x, self.y, self.peak, self.reach, strict=True):
            empty *= 1 - peak * np.exp(-((x - hx) ** 2 + (y - hy) ** 2) / (2 * reach**2))
        return 1 - empty


@dataclass(frozen=True, eq=False)
class River:
    """A winding line through `middle` along `angle`; rows of `waves` are amplitude, wavelength and phase."""

    middle: tuple[float, float]
    angle: float
    waves: Floats
    width: float

    def across(self, x: Floats, y: Floats) -> Floats:
        """Return the signed distance to the middle of the river, negative on one bank and positive on the other."""
        dx, dy = x - self.middle[0], y - self.middle[1]
        u = dx * np.cos(self.angle) + dy * np.sin(self.angle)
        v = dy * np.cos(self.angle) - dx * np.sin(self.angle)
        amplitude, wavelength, phase = self.waves[:, :, None]
        bend = np.sum(amplitude * (np.sin(2 * np.pi * u / wavelength + phase) - np.sin(phase)), axis=0)
        return v - bend

    def flows_through(self, x: Floats, y: Floats, bank: Floats | float = 0.0) -> Flags:
        """Return which points are in the water, or closer to it than `bank` metres."""
        return np.abs(self.across(x, y)) < 0.5 * self.width + bank


@dataclass(frozen=True, eq=False)
class CityMap:
    """A square city in metres, with the corners (0, 0) and (size, size)."""

    size: float
    hubs: Hubs
    river: River
    # With one edge for each street.
    roads: RoadNetwork

    @staticmethod
    def generate(size: float, rng: np.random.Generator) -> CityMap:
        """Return a new city; the same random source gives the same city."""
        centre = size * (0.5 + rng.uniform(-0.03, 0.03, 2))
        river = _river(size, centre, rng)
        hubs = _hubs(size, centre, river, rng)
        mains = _main_lines(size, hubs, rng)
        x, y, spacing = _junctions(size, hubs, mains, rng)
        streets = _streets(size, river, mains, x, y, spacing, rng)
        return CityMap(size, hubs, river, cleaned(_with_motorways(streets, size, centre, rng)))


def _river(size: float, centre: Floats, rng: np.random.Generator) -> River:
    """Return a river that passes beside the centre."""
    angle = rng.uniform(0, np.pi)
    aside = size * rng.uniform(0.03, 0.045) * rng.choice([-1, 1])
    middle = (float(centre[0] - aside * np.sin(angle)), float(centre[1] + aside * np.cos(angle)))
    amplitude = size * rng.uniform([0.03, 0.008], [0.05, 0.016])
    wavelength = size * rng.uniform([0.6, 0.22], [0.9, 0.3])
    return River(
        middle, angle, np.array([amplitude, wavelength, rng.uniform(0, 2 * np.pi, 2)]), RIVER_WIDTH * size
    )


def _hubs(size: float, centre: Floats, river: River, rng: np.random.Generator) -> Hubs:
    """Return the centre, suburbs around it, villages further out; none in the river, none too close to another."""
    spots = centre[None, :]
    for number in range(SUBURBS + VILLAGES):
        near, far = (0.12, 0.25) if number < SUBURBS else (0.28, 0.5)
        apart = 0.12 * size
        while len(spots) < number + 2:
            angle, radius = rng.uniform(0, 2 * np.pi), size * rng.uniform(near, far)
            spot = centre + radius * np.array([[np.cos(angle), np.sin(angle)]])
            inside = np.all(np.abs(spot / size - 0.5) < 0.5 - 2 * MARGIN)
            dry = not river.flows_through(spot[:, 0], spot[:, 1], 0.01 * size)[0]
            if inside and dry and np.hypot(*(spots - spot).T).min() > apart:
                spots = np.r_[spots, spot]
            apart *= 0.99  # so that a place is found in the end
    pull = np.r_[1.8, rng.uniform(0.12, 0.35, SUBURBS), rng.uniform(0.02, 0.07, VILLAGES)]
    reach = size * np.r_[0.085, rng.uniform(0.035, 0.055, SUBURBS), rng.uniform(0.022, 0.034, VILLAGES)]
    peak = np.r_[1.0, rng.uniform(0.8, 0.92, SUBURBS), rng.uniform(0.75, 0.85, VILLAGES)]
    return Hubs(spots[:, 0], spots[:, 1], pull / pull.sum(), reach, peak)


def _spacing(size: float, hubs: Hubs, x: Floats, y: Floats) -> Floats:
    """Return the distance between junctions at each point, which is small where the city is dense."""
    spacing = size * (FINE + (COARSE - FINE) * (1 - hubs.built_up(x, y)) ** 3)
    return np.maximum(spacing, SHORTEST_BLOCK)


def _main_lines(size: float, hubs: Hubs, rng: np.random.Generator) -> list[Floats]:
    """Return slightly bent lines between neighbouring hubs, with points as dense as the streets around them."""
    lines = []
    edges = triangulation(hubs.x, hubs.y)
    edges = edges[relative_neighbours(hubs.x, hubs.y, edges, 0.95) | (edges[:, 0] == 0)]
    for a, b in edges:
        dx, dy = hubs.x[b] - hubs.x[a], hubs.y[b] - hubs.y[a]
        bend = rng.uniform(-0.07, 0.07)
        along = np.linspace(0, 1, 400)
        across = bend * np.sin(np.pi * along) + 0.3 * bend * np.sin(3 * np.pi * along)
        x, y = hubs.x[a] + along * dx - across * dy, hubs.y[a] + along * dy + across * dx
        passed = np.r_[0, np.cumsum(np.hypot(np.diff(x), np.diff(y)) / _spacing(size, hubs, x, y)[1:])]
        stops = np.interp(np.linspace(0, passed[-1], max(2, round(passed[-1]) + 1)), passed, np.arange(400))
        kept = np.rint(stops).astype(int)
        lines.append(np.c_[x[kept], y[kept]])
    return lines


def _junctions(
    size: float, hubs: Hubs, mains: list[Floats], rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """Return points of tilted lattices, one per district, away from the main roads; and their spacing."""
    own = np.arange(DISTRICTS) < len(hubs.x)
    hub = np.where(
        own, np.arange(DISTRICTS), rng.choice(len(hubs.x), DISTRICTS, p=hubs.reach / hubs.reach.sum())
    )
    hub[own] = np.arange(len(hubs.x))
    scatter = np.where(own, 0.1, 1.5) * hubs.reach[hub]
    low, high = MARGIN * size, (1 - MARGIN) * size
    country = rng.uniform(low, high, (DISTRICTS // 2, 2))
    cx = np.r_[hubs.x[hub] + scatter * rng.normal(size=DISTRICTS), country[:, 0]]
    cy = np.r_[hubs.y[hub] + scatter * rng.normal(size=DISTRICTS), country[:, 1]]
    pitch = 0.9 * _spacing(size, hubs, cx, cy)
    # Streets tend to run towards the centre and around it.
    tilt = np.arctan2(cy - hubs.y[0], cx - hubs.x[0]) + rng.normal(0, 0.3, len(cx))
    nearest = cKDTree(np.c_[cx, cy])
    parts = [np.c_[line, np.zeros(len(line))] for line in mains]
    for district, (step, angle) in enumerate(zip(pitch, tilt, strict=True)):
        half = int(np.ceil((0.7 if step > 0.5 * COARSE * size else 0.25) * size / step))
        i, j = np.meshgrid(np.arange(-half, half + 1), np.arange(-half, half + 1))
        wobble = step * (0.06 + 0.2 * step / (COARSE * size))
        u = i.ravel() * step * rng.uniform(1.0, 1.5) + rng.normal(0, wobble, i.size)
        v = j.ravel() * step + rng.normal(0, wobble, i.size)
        x = cx[district] + u * np.cos(angle) - v * np.sin(angle)
        y = cy[district] + u * np.sin(angle) + v * np.cos(angle)
        inside = (x > low) & (x < high) & (y > low) & (y < high)
        inside[inside] = nearest.query(np.c_[x[inside], y[inside]])[1] == district
        # A district frays out where the city around it is less dense than its middle.
        inside[inside] = rng.random(inside.sum()) < (step / _spacing(size, hubs, x[inside], y[inside])) ** 2
        parts.append(np.c_[x, y, np.full(len(x), step)][inside])
    return _thinned(np.concatenate(parts), rng)


def _thinned(points: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Remove points that are too close to an earlier one (main roads come first), and leave a few gaps for parks."""
    x, y, spacing = points.T
    spacing = np.where(spacing > 0, spacing, np.inf)
    fixed = np.isinf(spacing)
    pairs = np.sort(
        cKDTree(points[:, :2]).query_pairs(0.6 * spacing[~fixed].max(), output_type="ndarray"), axis=1
    )
    gap = np.hypot(x[pairs[:, 0]] - x[pairs[:, 1]], y[pairs[:, 0]] - y[pairs[:, 1]])
    limit = 0.6 * np.minimum(spacing[pairs[:, 0]], spacing[pairs[:, 1]])
    kept = fixed | (rng.random(len(x)) > 0.04)
    kept[pairs[:, 1][(gap < limit) & ~fixed[pairs[:, 1]]]] = False
    return x[kept], y[kept], np.where(fixed, 0.0, spacing)[kept]


def _streets(
    size: float,
    river: River,
    mains: list[Floats],
    x: Floats,
    y: Floats,
    spacing: Floats,
    rng: np.random.Generator,
) -> RoadNetwork:
    """Join junctions to their neighbours by streets; only main roads cross the river."""
    wet = river.flows_through(x, y, 0.25 * spacing)
    x, y = x[~wet], y[~wet]
    edges = triangulation(x, y)
    bank = river.across(x, y) > 0
    land = edges[bank[edges[:, 0]] == bank[edges[:, 1]]]
    land = land[relative_neighbours(x, y, land, 0.9)]
    land = land[rng.random(len(land)) > 0.05]
    land = land[np.hypot(*(np.c_[x, y][land[:, 0]] - np.c_[x, y][land[:, 1]]).T) < 2 * COARSE * size]
    where = cKDTree(np.c_[x, y])
    lines = [where.query(line[~river.flows_through(line[:, 0], line[:, 1])])[1] for line in mains]
    main = np.concatenate([np.c_[line[:-1], line[1:]] for line in lines])
    kind = np.r_[np.full(len(main), ARTERIAL), np.full(len(land), STREET)]
    return _with_collectors(cleaned(_network(x, y, np.concatenate([main, land]), kind)), rng)


def _network(x: Floats, y: Floats, ends: NDArray[np.integer], kind: Ints) -> RoadNetwork:
    return one_way(x, y, ends, kind, SPEED[kind], CLASSES)


def _with_collectors(roads: RoadNetwork, rng: np.random.Generator) -> RoadNetwork:
    """Turn streets on the shortest ways between neighbouring quarters into collectors; ways share a collector that
    exists."""
    kind, number = roads.road_class.astype(np.int64), neighbours(roads)
    weight = roads.length * np.where(kind == STREET, 1.0, 0.7)
    place = rng.choice(roads.nodes, min(QUARTERS, roads.nodes), replace=False)
    links = triangulation(roads.x[place], roads.y[place])
    for a, b in links[relative_neighbours(roads.x[place], roads.y[place], links, 1.0)]:
        _, before = dijkstra(neighbours(roads, weight), indices=int(place[a]), return_predecessors=True)
        node = int(place[b])
        while before[node] >= 0:
            edge = number[node, before[node]] - 1
            kind[edge] = min(kind[edge], COLLECTOR)
            weight[edge] = 0.7 * roads.length[edge]
            node = int(before[node])
    return _network(roads.x, roads.y, np.c_[roads.source, roads.target], kind)


def _with_motorways(roads: RoadNetwork, size: float, centre: Floats, rng: np.random.Generator) -> RoadNetwork:
    """Return a ring around the city and spokes from it to the border, joined to main roads at interchanges only."""
    angle = np.linspace(0, 2 * np.pi, RING_NODES, endpoint=False)
    wave = 0.06 * np.sin(2 * angle + rng.uniform(0, 6)) + 0.04 * np.sin(3 * angle + rng.uniform(0, 6))
    radius = RING_RADIUS * size * (1 + wave)
    lines = [np.c_[centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle)]]
    ring = np.arange(RING_NODES)
    links = [np.c_[ring, np.roll(ring, -1)]]
    feet = rng.integers(RING_NODES) + (np.arange(SPOKES) * RING_NODES) // SPOKES + rng.integers(-6, 7, SPOKES)
    for foot in feet % RING_NODES:
        far = 0.012 * size * np.arange(1, 80)
        phase = rng.uniform(0, 6)
        heading = angle[foot] + 0.15 * (np.sin(5 * far / size + phase) - np.sin(phase))
        spoke = lines[0][foot] + np.c_[far * np.cos(heading), far * np.sin(heading)]
        outside = np.any(np.abs(spoke / size - 0.5) > 0.5 - MARGIN, axis=1)
        spoke = spoke[: int(np.argmax(outside))]
        own = sum(map(len, lines)) + np.arange(len(spoke))
        links.append(np.c_[np.r_[foot, own[:-1]], own] if len(own) else np.empty((0, 2), dtype=int))
        lines.append(spoke)
    points, motorway = np.concatenate(lines), np.concatenate(links) + roads.nodes
    ramps = _ramps(roads, points, 0.035 * size)
    kind = np.r_[roads.road_class, np.full(len(motorway), MOTORWAY), np.full(len(ramps), ARTERIAL)]
    ends = np.r_[np.c_[roads.source, roads.target], motorway, ramps + np.array([roads.nodes, 0])]
    return _network(np.r_[roads.x, points[:, 0]], np.r_[roads.y, points[:, 1]], ends, kind)


def _ramps(roads: RoadNetwork, points: Floats, apart: float) -> NDArray[np.integer]:
    """Return pairs (motorway point, road node) where a main road comes close, with a distance between interchanges."""
    major = roads.road_class == ARTERIAL
    main = np.unique(np.r_[roads.source[major], roads.target[major]])
    gap, nearest = cKDTree(np.c_[roads.x[main], roads.y[main]]).query(points)
    picked: list[int] = []
    for point in np.argsort(gap):
        if gap[point] < 0.6 * apart and all(
            np.hypot(*(points[point] - points[other])) > apart for other in picked
        ):
            picked.append(int(point))
    return np.c_[picked, main[nearest[picked]]]


def one_way(
    x: ArrayLike,
    y: ArrayLike,
    ends: NDArray[np.integer],
    kind: ArrayLike,
    speed: Floats | float,
    classes: tuple[str, ...],
    name: str = "city",
) -> RoadNetwork:
    """Return straight streets, in metres, with one edge each from `ends[e, 0]` to `ends[e, 1]`; `kind` is an index into
    `classes`, and `speed` is in metres per second.

    >>> bend = one_way([0, 100, 100], [0, 0, 50], np.array([[0, 1], [1, 2]]), [0, 0], 10, ("street",))
    >>> bend.length.tolist(), bend.seconds.tolist()
    ([100.0, 50.0], [10.0, 5.0])
    """
    roads = RoadNetwork.of(x, y, ends[:, 0], ends[:, 1], road_class=kind, classes=classes, name=name)
    return replace(roads, seconds=roads.length / speed)


def both_ways(roads: RoadNetwork) -> RoadNetwork:
    """Return the finished network: every street leads both ways; first all edges one way, then all back."""
    return replace(
        roads,
        source=np.r_[roads.source, roads.target],
        target=np.r_[roads.target, roads.source],
        length=np.tile(roads.length, 2),
        seconds=None if roads.seconds is None else np.tile(roads.seconds, 2),
        road_class=np.tile(roads.road_class, 2),
    )


def neighbours(roads: RoadNetwork, cost: Floats | None = None) -> csr_array:
    """Return a sparse matrix whose row `v` holds the neighbours of node `v`: with the cost of the edge, or its number
    plus one."""
    value = np.arange(1, roads.edges + 1, dtype=np.int32) if cost is None else np.maximum(cost, 1e-9)
    ends = np.r_[roads.source, roads.target], np.r_[roads.target, roads.source]
    return csr_array((np.tile(value, 2), ends), shape=(roads.nodes, roads.nodes))


def cleaned(roads: RoadNetwork) -> RoadNetwork:
    """Return the largest connected part, without loops and with the fastest of parallel streets."""
    low, high = np.minimum(roads.source, roads.target), np.maximum(roads.source, roads.target)
    assert roads.seconds is not None
    fastest = fastest_only(replace(roads, source=low, target=high), roads.seconds)
    simple = roads.take_edges(fastest & (low != high))
    if simple.edges == 0:
        raise InputError(f"the road network has no edge between two nodes ({roads.nodes} nodes were given)")
    _, part = connected_components(neighbours(simple), directed=False)
    return simple.take_nodes(part == np.bincount(part).argmax())


def triangulation(x: Floats, y: Floats) -> NDArray[np.integer]:
    """Return the edges of the Delaunay triangulation, one row (node, node) each."""
    corners = Delaunay(np.c_[x, y]).simplices
    return np.unique(np.sort(corners[:, [[0, 1], [1, 2], [0, 2]]].reshape(-1, 2), axis=1), axis=0)


def relative_neighbours(x: Floats, y: Floats, edges: NDArray[np.integer], ease: float) -> Flags:
    """Return which edges have no third node that is nearer to both ends than `ease` times their length.

    With `ease` = 1 this is the relative neighbourhood graph; a smaller value keeps more edges.
    """
    a, b = edges.T
    limit = ease * np.hypot(x[a] - x[b], y[a] - y[b])
    order = np.argsort(np.r_[a, b], kind="stable")
    neighbour = np.r_[b, a][order]
    first = np.searchsorted(np.r_[a, b][order], np.arange(len(x) + 1))
    kept = np.ones(len(edges), dtype=bool)
    for rank in range(int(np.diff(first).max())):
        slot = first[a] + rank
        valid = slot < first[a + 1]
        third = neighbour[np.where(valid, slot, 0)]
        nearer = np.maximum(
            np.hypot(x[a] - x[third], y[a] - y[third]), np.hypot(x[b] - x[third], y[b] - y[third])
        )
        kept &= ~(valid & (nearer < limit))
    return kept
