"""Trips matched to streets: which ones they pass, in which direction, at what time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.roads.matching import StreetIndex
from ldptrace.roads.network import RoadNetwork

# A street from west to east both ways, and a one-way street north from its middle.
CROSS = RoadNetwork.of([0, 100, 200, 100], [0, 0, 0, 100], [0, 1, 1, 2, 1], [1, 0, 2, 1, 3])


def test_passes_follow_each_other_with_their_directions_and_times() -> None:
    east = [(float(x), 0.0) for x in range(0, 201, 10)]
    trips = Trajectories.from_lists([east, east[::-1]])
    timed = replace(trips, t=np.tile(np.arange(21.0), 2))
    index = StreetIndex.of(CROSS)
    [found] = index.follow(timed)
    assert found.trip.tolist() == [0, 0, 1, 1]
    assert index.edges(found).tolist() == [0, 2, 3, 1]
    assert found.joined.tolist() == [-1, 1, -1, 1]
    assert np.all(np.abs(found.entered - [0, 10, 0, 10]) < 3)
    assert np.allclose(found.lengths, 200, atol=30)


def test_a_trip_off_the_streets_passes_none() -> None:
    [found] = StreetIndex.of(CROSS).follow(Trajectories.from_lists([[(0.0, 300.0), (200.0, 300.0)]]))
    assert len(found.trip) == 0
    assert found.on == 0


def test_many_passes_are_all_kept() -> None:
    """More than fit into what is set aside at first."""
    there_and_back = [(10.0, 0.0), (190.0, 0.0)] * 900
    [found] = StreetIndex.of(CROSS).follow(Trajectories.from_lists([there_and_back]))
    assert 1700 < len(found.trip) < 1900
    assert np.all(np.diff(found.street) != 0)
