"""Footpaths of a campus: a lattice along the lines of the buildings, with broad malls that people like."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from ldptrace.generators.planar import relative_neighbours, triangulation
from ldptrace.generators.roads import Floats, Ints, RoadNetwork

WALKING = 1.35  # metres per second of an ordinary walker
PITCH, JUNCTIONS = 60.0, 4000  # metres between paths, and about how many junctions there are at most
DOORS = 2  # paths that lead to a building
MALL_EVERY, MALL = 5, 0.72  # every fifth path is a mall, and a mall feels that much shorter


def footpaths(x: Floats, y: Floats, tilt: float, rng: np.random.Generator) -> tuple[RoadNetwork, Ints]:
    """A network whose first nodes are the buildings at (x, y), and the next node on the way to each of them.

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
    paths = RoadNetwork(px, py, joined[:, 0], joined[:, 1], kind, np.full(len(joined), WALKING))
    liking = np.array([MALL, 1.0, 1.3])[kind] * rng.lognormal(0.0, 0.15, len(kind))
    ahead, _ = paths.trees(np.arange(len(x), dtype=np.int32), paths.length * liking, spread=0.05, rng=rng)
    return paths, ahead
