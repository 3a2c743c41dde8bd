"""Who drives where: homes, destinations with attraction, a gravity law and the hours of the day."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ldptrace.core.arrays import Floats, Ints32
from ldptrace.core.crs import WGS84, LocalPlane
from ldptrace.core.drawing import MOST_TRIPS
from ldptrace.core.kernels import kernel
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.generators.legs import Legs, Recorder, Trees, grow, known_seconds, record
from ldptrace.protocol.grid import Bounds
from ldptrace.roads.classes import class_rank
from ldptrace.roads.network import RoadNetwork

HOUR = 3600.0
Seed = int | np.random.Generator | None
DESTINATIONS, PILOT = 640, 4000
TABLE = 20_000_000  # entries of the tables by destination and node: large networks get fewer destinations
ROUTE_SPREAD = 0.3  # of the travel times as drivers feel them
LEAST, MOST = 1.0, 1e5  # seconds of patience
WALKED = 0.15  # of the patience: trips much shorter than this are walked
BUSIEST = 160  # places that stand for all when a mean is sought
THROUGH_SHARE = 0.05  # of all trips that enter or leave the map on a motorway

# Parts of the day: share of the trips, mean and spread of the departure (hours), and the share that goes to
# the destination; the rest comes home from it.
DAY = np.array(
    [
        [0.30, 7.8, 0.9, 0.90],
        [0.22, 12.8, 1.8, 0.55],
        [0.33, 17.3, 1.3, 0.15],
        [0.15, 20.5, 1.5, 0.40],
    ]
)
JAMS = np.array([[7.9, 0.8, 0.45], [17.3, 1.1, 0.5]])  # rush hours: when, how long, how much slower


def whole(count: int) -> int:
    """Return the number of trajectories, or raise an error if it is none."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 0 <= count <= MOST_TRIPS:
        raise InputError(
            f"the number of trajectories must be a whole number from 0 to {MOST_TRIPS:,}, got {count!r}"
        )
    return int(count)


@dataclass(frozen=True, eq=False)
class Gravity:
    """How often people come to a place from each node: less often from far away.

    `seconds[p, v]` is the time from node `v` to place `p`, `share` the part of all trips that a place has and
    `fame` how far it is known, about 1.
    """

    homes: Floats
    seconds: NDArray[np.float32]
    share: Floats
    fame: Floats

    def weights(self, patience: float, places: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return how many trips lead from each node to each of the places, up to a factor: a factor e fewer for every
        `patience` seconds, and few very short ones, which people walk."""
        ratio = self.seconds[places] / np.float32(patience)
        # Relative to the nearest other node, so that small patience does not turn every weight into zero.
        far = ratio / self.fame[places, None].astype(np.float32)
        nearest = np.where(far > 0, far, np.inf).min(axis=1, keepdims=True)
        near = np.exp(-np.maximum(far - nearest, 0)) * -np.expm1(-ratio / np.float32(WALKED))
        return self.homes.astype(np.float32) * near

    def origins(self, patience: float) -> NDArray[np.float32]:
        """Return for each place the running sum over the nodes of the probability that a trip to it begins there."""
        sums = np.empty(self.seconds.shape, dtype=np.float32)
        for place in range(len(sums)):
            running = np.cumsum(self.weights(patience, np.array([place]))[0], dtype=np.float64)
            sums[place] = running / max(running[-1], 1e-300)
        return sums

    def mean_seconds(self, patience: float) -> float:
        """Return the mean travel time of trips to the busiest places on empty roads."""
        busiest = np.argsort(-self.share)[:BUSIEST]
        weight = self.weights(patience, busiest).astype(np.float64)
        weight *= (self.share[busiest] / np.maximum(weight.sum(axis=1), 1e-300))[:, None]
        return float(np.sum(weight * self.seconds[busiest]) / weight.sum())

    def patience(self, target: float, delay: float) -> float:
        """Return the patience with which trips take `target` seconds, `delay` times as long as on empty roads."""
        shortest, longest = delay * self.mean_seconds(LEAST), delay * self.mean_seconds(MOST)
        if not shortest <= target <= longest:
            raise InputError(
                f"trips on this map can take {shortest / 60:.2g} to {longest / 60:.3g} minutes on average, "
                f"not {target / 60:.3g}"
            )
        return self.clamped_patience(target / delay)

    def clamped_patience(self, target: float) -> float:
        """Return the patience, within its limits, with which the mean travel time comes closest to `target`."""
        low, high = LEAST, MOST
        for _ in range(14):
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if self.mean_seconds(middle) < target else (low, middle)
        return low


def attraction(
    roads: RoadNetwork, x: Floats, y: Floats, pull: Floats, reach: Floats
) -> tuple[Floats, Floats]:
    """Return the weights of the nodes for hubs at (x, y): where trips lead, and where people live. Each hub attracts in
    proportion to `pull` at the nodes within about `reach` metres.

    People live where there are streets. Nobody starts or stops on a motorway, except at its ends, where
    traffic from elsewhere enters the map.
    """
    motorway_only = np.ones(roads.nodes, dtype=bool)
    ordinary = np.array([class_rank(word) for word in (*roads.classes, "")])[roads.road_class] > 0
    motorway_only[roads.source[ordinary]] = motorway_only[roads.target[ordinary]] = False
    if motorway_only.all():
        motorway_only[:] = False
    low, high = np.minimum(roads.source, roads.target), np.maximum(roads.source, roads.target)
    degree = np.bincount(np.unique(np.c_[low, high], axis=0).ravel(), minlength=roads.nodes)
    gates = motorway_only & (degree == 1)
    homes = np.where(motorway_only, 0.0, 1.0)
    visits = np.zeros(roads.nodes)
    for hx, hy, share, radius in zip(x, y, pull / pull.sum(), reach, strict=True):
        near = homes * np.exp(-((roads.x - hx) ** 2 + (roads.y - hy) ** 2) / (2 * radius**2))
        visits += share * near / max(near.sum(), 1e-300)
    visits = 0.9 * visits / visits.sum() + 0.1 * homes / homes.sum()
    if gates.any():
        visits = (1 - THROUGH_SHARE) * visits + THROUGH_SHARE * gates / gates.sum()
        homes = homes / homes.sum() + 0.5 * THROUGH_SHARE * gates / gates.sum()
    return visits, homes


def checked_minutes(minutes: float | None) -> float | None:
    """Return a mean duration of trips, which must be positive if it is given."""
    if minutes is not None and not (np.isfinite(minutes) and minutes > 0):
        raise InputError(f"the mean duration must be a positive number of minutes, got {minutes!r}")
    return minutes


@dataclass(frozen=True, eq=False)
class Traffic:
    """Everything needed to draw trips: trees to the destinations and who goes to each of them.

    `places` are the nodes that people go to, `busy` the running sum of their shares, `origins[p]` the
    running sum over the nodes of the chance that a trip to place `p` comes from there. All trips stay in
    `bounds`, which depend on the map alone: they are public. `public` is the network as it came, where that
    differs from the plane and straight one that is driven on.
    """

    roads: RoadNetwork
    places: Ints32
    trees: Trees
    busy: Floats
    origins: NDArray[np.float32]
    recorder: Recorder
    bounds: Bounds
    plane: LocalPlane | None = None
    public: RoadNetwork | None = None

    @property
    def network(self) -> RoadNetwork:
        """The roads that the trips drive on, in the coordinates of the trips, with times on empty roads."""
        return self.roads if self.public is None else self.public

    @staticmethod
    def prepare(
        roads: RoadNetwork,
        weights: tuple[Floats, Floats],
        recorder: Recorder,
        minutes: float | None,
        bounds: Bounds,
        rng: np.random.Generator,
        plane: LocalPlane | None = None,
    ) -> Traffic:
        """Choose destinations by the `weights` of the nodes (see `attraction`), find the ways to them, and let trips
        take that many minutes on average."""
        minutes = checked_minutes(minutes)
        visits, homes = weights
        most = max(16, min(DESTINATIONS, TABLE // roads.nodes))
        count, visits = min(most, int(np.count_nonzero(visits))), visits / visits.sum()
        places = np.sort(rng.choice(roads.nodes, count, replace=False, p=visits)).astype(np.int32)
        trees, seconds = grow(roads, places, known_seconds(roads), spread=ROUTE_SPREAD, rng=rng)
        # Some destinations are known far and wide, some only to their neighbours.
        share = visits[places] * rng.lognormal(0.0, 0.8, count)
        gravity = Gravity(homes, seconds, share / share.sum(), rng.lognormal(0.0, 0.3, count))

        def with_patience(patience: float) -> Traffic:
            busy = np.cumsum(gravity.share)
            return Traffic(
                roads, places, trees, busy / busy[-1], gravity.origins(patience), recorder, bounds, plane
            )

        if minutes is None:
            return with_patience(0.4 * float(seconds.mean()))
        # Rush hours and red lights make trips longer than the empty road: by how much, a few trips tell.
        target = 60.0 * minutes
        patience = gravity.clamped_patience(target / 1.3)
        pilot = with_patience(patience).trips(PILOT, rng)
        delay = ((pilot.sizes.mean() - 1.5) * recorder.interval) / gravity.mean_seconds(patience)
        return with_patience(gravity.patience(target, delay))

    def trips(self, count: int, rng: np.random.Generator) -> Trajectories:
        """Draw `count` independent trips of one day; `t` is in seconds after midnight."""
        tracks = record(self.roads, self.trees, self._legs(whole(count), rng), self.recorder, rng)
        if self.plane is None:
            return tracks
        lon, lat = self.plane.to_degrees(tracks.x, tracks.y)
        return Trajectories(lon, lat, tracks.offsets, t=tracks.t, crs=WGS84)

    def batches(self, count: int, rng: np.random.Generator, size: int = 100_000) -> Iterator[Trajectories]:
        """Yield the trips in sets of `size`, for more than fit into memory."""
        for start in range(0, count, size):
            yield self.trips(min(size, count - start), rng)

    def _legs(self, count: int, rng: np.random.Generator) -> Legs:
        root = np.searchsorted(self.busy, rng.random(count)).astype(np.int32)
        node = np.empty(count, dtype=np.int32)
        _draw_rows(self.origins, root, rng.random(count, dtype=np.float32), self.places, node)
        part = np.searchsorted(np.cumsum(DAY[:, 0]) / DAY[:, 0].sum(), rng.random(count))
        _, mean, spread, inward = DAY[part].T
        hour = np.clip(mean + spread * rng.standard_normal(count), 0.0, 23.0)
        jam = 1.0 + sum(more * np.exp(-(((hour - when) / long) ** 2)) for when, long, more in JAMS)
        pace = np.maximum(jam * rng.lognormal(0.0, 0.12, count), 0.8)
        return Legs(root, node, rng.random(count) >= inward, np.floor(hour * HOUR), pace)


def natural_hubs(
    roads: RoadNetwork, rng: np.random.Generator, hubs: int = 14
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the hubs of a network, which are where junctions are dense, the densest first: x, y, pull and reach."""
    side = float(max(np.ptp(roads.x), np.ptp(roads.y), 1.0))
    points = np.c_[roads.x, roads.y]
    crowd = cKDTree(points).query_ball_point(points, 0.05 * side, return_length=True).astype(np.float64)
    picked = [int(np.argmax(crowd))]
    for _ in range(min(hubs, roads.nodes) - 1):
        apart = np.min(np.hypot(*(points[:, None] - points[picked]).transpose(2, 0, 1)), axis=1)
        chance = crowd * np.minimum(apart / (0.12 * side), 1.0) ** 4
        if chance.sum() == 0:
            break
        picked.append(int(rng.choice(roads.nodes, p=chance / chance.sum())))
    pull = crowd[picked] / np.arange(1, len(picked) + 1) ** 0.7
    reach = side * np.r_[0.05, np.full(len(picked) - 1, 0.025)]
    return roads.x[picked], roads.y[picked], pull, reach


@kernel
def _draw_rows(cumulative, row, uniform, places, drawn):  # type: ignore[no-untyped-def]
    """Draw for every k a column of row `row[k]`, by its running sum; never the place itself."""
    last = cumulative.shape[1] - 1
    for k in range(len(row)):
        sums = cumulative[row[k]]
        column = min(np.searchsorted(sums, uniform[k], side="right"), last)
        if column == places[row[k]]:
            column = column - 1 if column == last else column + 1
        drawn[k] = column
