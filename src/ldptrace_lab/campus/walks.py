"""Walks between the buildings of a campus, with the visits that they connect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ldptrace.core.arrays import Floats
from ldptrace.core.crs import WGS84
from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.generators.drafts import Draft, relative_neighbours, triangulation
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
from ldptrace.generators.traffic import Gravity, Seed, whole
from ldptrace.protocol.grid import Bounds
from ldptrace.roads.network import RoadNetwork
from ldptrace_lab.campus.buildings import Buildings, made_up_buildings, read_buildings, usage_of
from ldptrace_lab.campus.pois import Pois, Visits
from ldptrace_lab.campus.schedules import Campus, Habits, Schedule, campus_knowledge, schedules

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
    draft = Draft(px, py, joined[:, 0], joined[:, 1], kind, np.full(len(joined), WALKING))
    paths = draft.network(PATHS, "campus")
    liking = np.array([MALL, 1.0, 1.3])[kind] * rng.lognormal(0.0, 0.15, len(kind))
    roots = np.arange(len(x), dtype=np.int32)
    trees, _ = grow(paths, roots, np.tile(draft.length * liking, 2), spread=0.05, rng=rng)
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
        stretch = _mean_walk(pilot) / gravity.mean_seconds(patience)
        patience = gravity.clamped_patience(target / stretch)
    return with_patience(patience)


def _mean_walk(schedule: Schedule) -> float:
    """Return the mean seconds between two visits of one walker."""
    walks = schedule.arrive[1:] - schedule.leave[:-1]
    # From the last visit of a walker to the first one of the next is no walk.
    return float(np.delete(walks, schedule.offsets[1:-1] - 1).mean())


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
        last = np.zeros(len(schedule.poi), dtype=bool)
        last[schedule.offsets[1:] - 1] = True
        begin = np.flatnonzero(~last)
        sizes = np.diff(schedule.offsets)
        legs = Legs(
            root=schedule.poi[begin + 1],
            node=schedule.poi[begin],
            outward=np.zeros(len(begin), dtype=bool),
            depart=schedule.leave[begin],
            pace=np.repeat(schedule.pace, sizes - 1),
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
