"""Walks between the buildings of a campus, with the visits that they connect: which building next, and when; always one
that is open on arrival."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ldptrace.core import ragged
from ldptrace.core.arrays import Floats, Ints, Ints32
from ldptrace.core.crs import WGS84
from ldptrace.core.kernels import kernel
from ldptrace.core.parallel import chunks, map_chunks
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.generators.legs import (
    GPS_LIMIT,
    Legs,
    Recorder,
    Trees,
    grow,
    map_bounds,
    record,
    travel_seconds,
)
from ldptrace.generators.streets import both_ways, one_way, relative_neighbours, triangulation
from ldptrace.generators.traffic import Gravity, Seed, whole
from ldptrace.protocol.grid import Bounds
from ldptrace.roads.network import RoadNetwork
from ldptrace_lab.campus.buildings import Buildings, made_up_buildings, read_buildings, usage_of
from ldptrace_lab.campus.pois import DAY, HOUR, Pois, Visits

TRIES = 40
MOST_HASTE, MOST_LEISURE = 0.8, 1.3  # paces of walkers


class Campus(NamedTuple):
    """What walkers know, as plain arrays for the kernel.

    `slots` are the buildings sorted by category, those of category `c` at `first[c]:first[c + 1]`.
    `chance[p]` is the running sum over the slots of the wish to go there from building `p`, `near[p]` how
    near each category is; the last row of both is for those who come from nowhere. `demand[h]` is the wish
    for each category in hour `h`, `walk[p, q]` the seconds from `p` to `q`. Event `e` is at building
    `event_poi[e]`.
    """

    slots: Ints32
    first: Ints32
    chance: Floats
    near: Floats
    demand: Floats
    walk: Floats
    category: Ints32
    opens: Floats
    closes: Floats
    stay: Floats
    event_poi: Ints32
    event_t: Floats


class Habits(NamedTuple):
    """Fewest and most visits of a walker, shortest stay in seconds, share of walkers at each event."""

    fewest: int
    most: int
    shortest_stay: float
    event_share: float


class Schedule(NamedTuple):
    """Visits of all walkers, cut by `offsets`; a walker's pace stretches the time of every walk."""

    poi: Ints32
    arrive: Floats
    leave: Floats
    offsets: Ints
    pace: Floats


def campus_knowledge(pois: Pois, walk: Floats, wish: Floats, events: int, rng: np.random.Generator) -> Campus:
    """Make the tables for the schedules from the places, the walking times and the wish to go from one to another."""
    slots = np.argsort(pois.category, kind="stable").astype(np.int32)
    first = np.searchsorted(pois.category[slots], np.arange(len(pois.categories) + 1)).astype(np.int32)
    usages = [usage_of(category) for category in pois.categories]
    hour = np.arange(24)[:, None]
    peak, width = np.array([u.peak for u in usages]), np.array([u.width for u in usages])
    # How much each category draws people in each hour, and whether any of its places is open then.
    draw = np.array([u.draw for u in usages]) * (0.15 + np.exp(-(((hour + 0.5 - peak) / width) ** 2)))
    open_now = pois.is_open(np.arange(len(pois)), HOUR * hour)
    some_open = np.stack([open_now[:, slots[a:b]].any(axis=1) for a, b in pairwise(first)], axis=1)
    # How near each category is to each building, and in the last row to those who come from nowhere.
    wish = np.r_[wish, pois.popularity[None, :]][:, slots]
    near = np.add.reduceat(wish, first[:-1], axis=1)
    near /= near[-1]
    # Events are at popular places of leisure and study, about the middle of their opening hours.
    venues = np.flatnonzero([pois.categories[c].startswith(("leisure", "study")) for c in pois.category])
    venues = venues if len(venues) else np.arange(len(pois))
    weight = pois.popularity[venues] / pois.popularity[venues].sum()
    event_poi = rng.choice(venues, events, p=weight).astype(np.int32)
    middle = 0.5 * (pois.opens[event_poi] + np.minimum(pois.closes[event_poi], 24.0))
    length = np.minimum(pois.closes[event_poi], 24.0) - pois.opens[event_poi]
    event_t = HOUR * (middle + 0.3 * length * rng.uniform(-1, 1, events))
    return Campus(
        slots,
        first,
        chance=np.cumsum(wish, axis=1),
        near=near,
        demand=draw * some_open,
        walk=walk,
        category=pois.category,
        opens=pois.opens,
        closes=pois.closes,
        stay=60.0 * np.array([u.stay for u in usages]),
        event_poi=event_poi,
        event_t=event_t,
    )


def schedules(campus: Campus, habits: Habits, walkers: int, rng: np.random.Generator) -> Schedule:
    """Return a day's visits for that many walkers, independent of the number of threads."""
    sources = rng.spawn(len(chunks(walkers)))

    def part(chunk: int, start: int, stop: int) -> tuple[Ints32, Floats, Floats, Ints, Floats]:
        n = stop - start
        poi = np.empty((n, habits.most), dtype=np.int32)
        arrive, leave = np.empty((n, habits.most)), np.empty((n, habits.most))
        count, pace = np.zeros(n, dtype=np.int64), np.empty(n)
        if not _schedule(campus, habits, sources[chunk], poi, arrive, leave, count, pace):
            raise InputError(
                "no walk is possible: there are no two buildings that are open one after the other"
            )
        used = np.arange(habits.most) < count[:, None]
        return poi[used], arrive[used], leave[used], count, pace

    parts = map_chunks(part, walkers)
    if not parts:
        return Schedule(np.empty(0, np.int32), np.empty(0), np.empty(0), np.zeros(1, np.int64), np.empty(0))
    poi, arrive, leave, count, pace = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Schedule(poi, arrive, leave, ragged.offsets_of(count), pace)


@kernel
def _is_open(campus, poi, t):  # type: ignore[no-untyped-def]
    hour = (t % DAY) / HOUR
    return campus.opens[poi] <= hour < campus.closes[poi] or hour + 24.0 < campus.closes[poi]


@kernel
def _draw(campus, here, t, rng):  # type: ignore[no-untyped-def]
    """Return a category that is in demand at `t` and not far, then a building of it; -1 where there is none."""
    demand, near, sums = campus.demand[int((t % DAY) / HOUR)], campus.near[here], campus.chance[here]
    total = 0.0
    for category in range(len(demand)):
        total += demand[category] * near[category]
    if total == 0.0:
        return -1
    left = total * rng.random()
    category = 0
    while category < len(demand) - 1 and left >= demand[category] * near[category]:
        left -= demand[category] * near[category]
        category += 1
    low, high = campus.first[category], campus.first[category + 1]
    below = sums[low - 1] if low > 0 else 0.0
    slot = low + np.searchsorted(
        sums[low:high], below + rng.random() * (sums[high - 1] - below), side="right"
    )
    return campus.slots[min(slot, high - 1)]


@kernel
def _next(campus, here, ready, pace, patient, rng):  # type: ignore[no-untyped-def]
    """Return where a walker goes who is ready to leave `here`, and when; (-1, 0) where everything else is closed.

    A patient walker who finds nothing waits until some building opens.
    """
    for _ in range(TRIES):
        there = _draw(campus, here, ready, rng)
        if there >= 0 and there != here:
            reached = ready + pace * campus.walk[here, there]
            if reached < DAY and _is_open(campus, there, reached):
                return there, ready
    if patient:
        shift = rng.integers(0, len(campus.slots))
        for k in range(len(campus.slots)):
            there = (shift + k) % len(campus.slots)
            way = pace * campus.walk[here, there]
            reached = ready + way
            if not _is_open(campus, there, reached):
                reached = max(reached, HOUR * campus.opens[there] + 1.0)
            if there != here and reached < DAY and _is_open(campus, there, reached):
                return there, reached - way
    return -1, 0.0


@kernel
def _begin(campus, t, rng):  # type: ignore[no-untyped-def]
    """Return a building that is open at `t`, or -1."""
    nowhere = len(campus.slots)
    for _ in range(TRIES):
        here = _draw(campus, nowhere, t, rng)
        if here >= 0 and _is_open(campus, here, t):
            return here
    return -1


@kernel
def _schedule(campus, habits, rng, poi, arrive, leave, count, pace):  # type: ignore[no-untyped-def]
    """Fill the visits of one chunk of walkers; False where a walk of two visits cannot be found."""
    for k in range(len(count)):
        pace[k] = min(max(np.exp(0.1 * rng.standard_normal()), MOST_HASTE), MOST_LEISURE)
        wanted = rng.integers(habits.fewest, habits.most + 1)
        for _ in range(TRIES):
            event = -1
            t = HOUR * min(max(13.0 + 3.5 * rng.standard_normal(), 6.0), 21.5)
            if rng.random() < habits.event_share * len(campus.event_poi):
                event = rng.integers(0, len(campus.event_poi))
                t = max(campus.event_t[event] - HOUR * (0.4 + 0.6 * rng.random()), 0.0)
            here = _begin(campus, t, rng)
            if here < 0:
                continue
            poi[k, 0], arrive[k, 0] = here, t
            visits = 1
            while visits < wanted:
                stay = campus.stay[campus.category[here]] * (0.2 + 0.8 * rng.standard_exponential())
                ready = t + max(stay, habits.shortest_stay)
                there = -1
                if event >= 0 and visits == 1 and here != campus.event_poi[event]:
                    goal = campus.event_poi[event]
                    way = pace[k] * campus.walk[here, goal]
                    reached = max(
                        campus.event_t[event] + 300.0 * rng.standard_normal(), t + habits.shortest_stay + way
                    )
                    if reached < DAY and _is_open(campus, goal, reached):
                        there, ready = goal, reached - way
                if there < 0:
                    there, ready = _next(campus, here, ready, pace[k], visits == 1, rng)
                if there < 0:
                    break
                leave[k, visits - 1] = ready
                t = ready + pace[k] * campus.walk[here, there]
                poi[k, visits], arrive[k, visits] = there, t
                here = there
                visits += 1
            leave[k, visits - 1] = t
            count[k] = visits
            if visits >= 2:
                break
        if count[k] < 2:
            return False
    return True


WALKING = 1.35  # metres per second of an ordinary walker
PITCH, JUNCTIONS = 60.0, 4000  # metres between paths, and about how many junctions there are at most
DOORS = 2  # paths that lead to a building
MALL_EVERY, MALL = 5, 0.72  # every fifth path is a mall, and a mall feels that much shorter
PATHS = ("mall", "path", "door")
EVENTS, EVENT_SHARE, SHORTEST_STAY, PILOT = 3, 0.02, 120.0, 2000

# Settings whose walks resemble the set Campus of the paper.
PRESETS: dict[str, dict[str, Any]] = {"campus": {"interval": 25.0, "minutes": 2.85}}

Hours = Mapping[str, tuple[float, float]]


def campus_walks(
    seed: Seed = None,
    *,
    buildings: str | Path | None = None,
    visits: tuple[int, int] = (3, 8),
    minutes: float = 2.85,
    interval: float = 25.0,
    noise: float = 4.0,
    hours: Hours | None = None,
) -> Walks:
    """Return a campus with its places, paths and events, ready to draw walks; they are recorded outdoors only.

    `buildings` is a GeoJSON file or a table; without one a campus is generated, in metres in the plane. A
    walker visits from `visits[0]` to `visits[1]` buildings, each open when reached, and a walk between two
    takes `minutes` on average. In the trips, `t` is in seconds after midnight, and the list columns `poi` and `poi_t`
    tell which building was reached when (`Visits.of`); the numbers are rows of `pois`, the table of places.

    >>> trips = campus_walks(seed=1).trips(20, np.random.default_rng(1))
    >>> len(trips), len(Visits.of(trips))
    (20, 20)
    """
    fewest, most = visits
    if not 2 <= fewest <= most <= 100:
        raise InputError(f"visits must be two numbers from 2 to 100, the smaller first, got {visits!r}")
    if not (np.isfinite(minutes) and minutes > 0):
        raise InputError(f"the mean duration must be a positive number of minutes, got {minutes!r}")
    recorder = Recorder(interval, noise).checked()
    rng = np.random.default_rng(seed)
    if buildings is None:
        if hours:
            raise InputError("opening hours can be given for buildings of a file only")
        place = made_up_buildings(rng)
    else:
        place = read_buildings(buildings, hours)
    habits = Habits(fewest, most, max(SHORTEST_STAY, interval), EVENT_SHARE)
    paths, trees = footpaths(place.pois.x, place.pois.y, place.tilt, rng)
    campus = _campus(place.pois, paths, trees, habits, minutes, rng)
    bounds = map_bounds(paths.x, paths.y, GPS_LIMIT * noise, place.plane)
    return Walks(place, paths, trees, campus, habits, recorder, bounds)


def footpaths(x: Floats, y: Floats, tilt: float, rng: np.random.Generator) -> tuple[RoadNetwork, Trees]:
    """Return a network whose first nodes are the buildings at (x, y), and the ways to each of them.

    Paths run along the direction `tilt` (radians) and across it.
    """
    turn = np.array([[np.cos(tilt), -np.sin(tilt)], [np.sin(tilt), np.cos(tilt)]])
    buildings = np.c_[x, y] @ turn
    low = buildings.min(axis=0) - 2 * PITCH
    span = np.ptp(buildings, axis=0) + 4 * PITCH
    pitch = max(PITCH, float(np.sqrt(span[0] * span[1] / JUNCTIONS)))
    column, row = (
        axis.ravel() for axis in np.meshgrid(np.arange(0, span[0] / pitch), np.arange(0, span[1] / pitch))
    )
    lattice = low + pitch * (np.c_[column, row] + rng.normal(0, 0.04, (len(column), 2)))
    gap, _ = cKDTree(buildings).query(lattice)
    close = gap < 2.2 * pitch
    lattice, column, row = lattice[close], column[close], row[close]

    edges = triangulation(lattice[:, 0], lattice[:, 1])
    edges = edges[relative_neighbours(lattice[:, 0], lattice[:, 1], edges, 0.95)]
    mall_column, mall_row = rng.integers(MALL_EVERY, size=2)
    a, b = edges.T
    along_mall = (column[a] == column[b]) & (column[a] % MALL_EVERY == mall_column)
    along_mall |= (row[a] == row[b]) & (row[a] % MALL_EVERY == mall_row)
    _, door = cKDTree(lattice).query(buildings, k=DOORS)
    doors = np.c_[np.repeat(np.arange(len(x)), DOORS), door.ravel() + len(x)]

    px, py = turn @ np.r_[buildings, lattice].T
    joined = np.r_[edges + len(x), doors]
    kind = np.r_[np.where(along_mall, 0, 1), np.full(len(doors), 2)]
    streets = one_way(px, py, joined, kind, WALKING, PATHS, "campus")
    paths = both_ways(streets)
    liking = np.array([MALL, 1.0, 1.3])[kind] * rng.lognormal(0.0, 0.15, len(kind))
    roots = np.arange(len(x), dtype=np.int32)
    trees, _ = grow(paths, roots, np.tile(streets.length * liking, 2), spread=0.05, rng=rng)
    return paths, trees


def _campus(
    pois: Pois, paths: RoadNetwork, trees: Trees, habits: Habits, minutes: float, rng: np.random.Generator
) -> Campus:
    """Make the tables for the schedules such that a walk takes this many minutes on average."""
    walk = travel_seconds(paths, trees, np.arange(len(pois), dtype=np.int32))
    draw = (
        pois.popularity * np.array([usage_of(category).draw for category in pois.categories])[pois.category]
    )
    gravity = Gravity(pois.popularity, walk.astype(np.float32), draw / draw.sum(), np.ones(len(pois)))
    everywhere = np.arange(len(pois))
    map_rng, pilot_rng = rng.spawn(2)
    event_seed = int(map_rng.integers(1 << 62))

    def with_patience(patience: float) -> Campus:
        wish = gravity.weights(patience, everywhere).astype(np.float64)
        return campus_knowledge(pois, walk, wish, EVENTS, np.random.default_rng(event_seed))

    # Opening hours and the wish for a category make walks longer than the gravity law alone.
    target = 60.0 * minutes
    patience = gravity.clamped_patience(target)
    for _ in range(3):
        pilot = schedules(with_patience(patience), habits, PILOT, pilot_rng)
        walks = (pilot.arrive[1:] - pilot.leave[:-1])[ragged.inner_steps(pilot.offsets)]
        stretch = float(walks.mean()) / gravity.mean_seconds(patience)
        patience = gravity.clamped_patience(target / stretch)
    return with_patience(patience)


@dataclass(frozen=True, eq=False)
class Walks:
    """Everything needed to draw walks on a campus; `bounds` depend on the map alone, they are public."""

    buildings: Buildings
    paths: RoadNetwork
    trees: Trees
    campus: Campus
    habits: Habits
    recorder: Recorder
    bounds: Bounds

    @property
    def pois(self) -> Pois:
        """The places, in the coordinates of the walks."""
        return self.buildings.published()

    @property
    def marks(self) -> dict[str, tuple[Floats, Floats]]:
        """The coordinates of the places of each category, for a picture."""
        pois = self.pois
        return {
            category: (pois.x[pois.category == code], pois.y[pois.category == code])
            for code, category in enumerate(pois.categories)
        }

    def trips(self, count: int, rng: np.random.Generator) -> Trajectories:
        """Draw `count` independent walkers of one day."""
        schedule = schedules(self.campus, self.habits, whole(count), rng)
        begin = np.flatnonzero(ragged.inner_steps(schedule.offsets))
        legs = Legs(
            root=schedule.poi[begin + 1],
            node=schedule.poi[begin],
            outward=np.zeros(len(begin), dtype=bool),
            depart=schedule.leave[begin],
            pace=np.repeat(schedule.pace, np.diff(schedule.offsets) - 1),
        )
        tracks = record(self.paths, self.trees, legs, self.recorder, rng)
        offsets = tracks.offsets[schedule.offsets - np.arange(len(schedule.offsets))]
        x, y, crs = tracks.x, tracks.y, None
        if self.buildings.plane is not None:
            x, y = self.buildings.plane.to_degrees(x, y)
            crs = WGS84
        visits = Visits(schedule.poi, schedule.arrive, schedule.offsets)
        return Trajectories(x, y, offsets, t=tracks.t, crs=crs, extra=visits.to_arrow())

    def batches(self, count: int, rng: np.random.Generator, size: int = 100_000) -> Iterator[Trajectories]:
        """Yield the walkers in sets of `size`, for more than fit into memory."""
        for start in range(0, count, size):
            yield self.trips(min(size, count - start), rng)
