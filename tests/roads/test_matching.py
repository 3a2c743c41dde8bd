"""Trips matched to streets: which ones they pass, in which direction, at what time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.roads import matching
from ldptrace.roads.matching import FAVOUR, REACH, StreetIndex
from ldptrace.roads.network import RoadNetwork

# A street from west to east both ways, and a one-way street north from its middle.
CROSS = RoadNetwork.of([0, 100, 200, 100], [0, 0, 0, 100], [0, 1, 1, 2, 1], [1, 0, 2, 1, 3])


def test_passes_follow_each_other_with_their_directions_and_times() -> None:
    east = [(float(x), 0.0) for x in range(0, 201, 10)]
    trips = Trajectories.from_lists([east, east[::-1]])
    timed = replace(trips, t=np.tile(np.arange(21.0), 2))
    index = StreetIndex.of(CROSS)
    found = index.follow(timed)
    assert found.trip.tolist() == [0, 0, 1, 1]
    assert index.edges(found).tolist() == [0, 2, 3, 1]
    assert found.joined.tolist() == [-1, 1, -1, 1]
    assert np.all(np.abs(found.entered - [0, 10, 0, 10]) < 3)
    assert np.allclose(found.lengths, 200, atol=30)


def test_a_trip_off_the_streets_passes_none() -> None:
    found = StreetIndex.of(CROSS).follow(Trajectories.from_lists([[(0.0, 300.0), (200.0, 300.0)]]))
    assert len(found.trip) == 0
    assert found.on == 0


def test_many_passes_are_all_kept() -> None:
    """More than fit into what is set aside at first."""
    there_and_back = [(10.0, 0.0), (190.0, 0.0)] * 900
    found = StreetIndex.of(CROSS).follow(Trajectories.from_lists([there_and_back]))
    assert 1700 < len(found.trip) < 1900
    assert np.all(np.diff(found.street) != 0)


def _town() -> StreetIndex:
    """Streets of any length and direction, some of them long and slanting, in no order."""
    rng = np.random.default_rng(3)
    x, y = rng.uniform(0, 1500, (2, 60))
    source, target = rng.permuted(np.tile(np.arange(60), (2, 1)), axis=1)
    return StreetIndex.of(RoadNetwork.of(x, y, source[source != target], target[source != target]))


def _look(index: StreetIndex, x: float, y: float, heading: float, old: int) -> tuple[int, float, float]:
    lattice = index.lattice
    way = (np.cos(heading), np.sin(heading))
    reach = REACH * index.tolerance
    return matching._best(
        x, y, *way, old, reach, index.pieces, index.street, lattice, index.first, index.held
    )


def test_one_bucket_holds_every_street_within_reach() -> None:
    """The best street, and whether one is near, as a look at all pieces of all streets finds them."""
    index, rng = _town(), np.random.default_rng(4)
    reach, lattice = REACH * index.tolerance, index.lattice
    ax, ay, ux, uy, long, _ = index.pieces.T
    hits = 0
    for x, y, heading in zip(*rng.uniform(-80, 1580, (2, 400)), rng.uniform(0, 7, 400), strict=True):
        old = int(rng.integers(-1, len(index.length)))
        along = np.clip((x - ax) * ux + (y - ay) * uy, 0, long)
        gap = np.hypot(ax + along * ux - x, ay + along * uy - y)
        cost = gap + reach * (1 - np.abs(np.cos(heading) * ux + np.sin(heading) * uy))
        cost = np.where(gap <= reach, cost - FAVOUR * reach * (index.street == old), np.inf)
        piece, _, nearest = _look(index, x, y, heading, old)
        assert piece == (np.argmin(cost) if np.isfinite(cost).any() else -1)
        near = matching._is_near(x, y, index.tolerance, -1, index.pieces, lattice, index.first, index.held)
        assert near == (gap.min() <= index.tolerance) == (nearest <= index.tolerance)
        hits += piece >= 0
    assert 50 < hits < 350


def test_parts_of_a_step_that_are_skipped_would_have_stayed_on_their_street() -> None:
    index, rng = _town(), np.random.default_rng(5)
    reach, skipped = REACH * index.tolerance, 0
    for _ in range(300):
        piece = int(rng.integers(len(index.pieces)))
        ax, ay, ux, uy, long, _ = index.pieces[piece]
        at, heading, step = (
            rng.uniform(0, long),
            np.arctan2(uy, ux) + rng.normal(0, 0.2),
            rng.uniform(50, 400),
        )
        x, y = np.array([ax + at * ux, ay + at * uy]) + rng.normal(0, 2, 2)
        way, parts = (np.cos(heading), np.sin(heading)), int(step / index.tolerance) + 1
        last, _, _ = matching._ahead(
            x, y, step * way[0], step * way[1], 0, parts, *way, piece, reach, index.pieces
        )
        for part in range(last + 1):
            share = (part + 0.5) / parts * step
            found, _, nearest = _look(
                index, x + share * way[0], y + share * way[1], heading, int(index.street[piece])
            )
            assert index.street[found] == index.street[piece]
            assert nearest <= index.tolerance
        skipped += last > 0
    assert skipped > 50
