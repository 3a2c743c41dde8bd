from __future__ import annotations

import numpy as np

from ldptrace.core.trajectories import Trajectories
from ldptrace.io.summary import summarise


def test_numbers_of_a_small_set() -> None:
    trajectories = Trajectories([0, 3, 3, 100, 7], [0, 4, 5, 100, 7], [0, 3, 3, 4, 5], t=[0, 10, 30, 5, 5])
    seen = summarise(trajectories)
    assert (seen.trajectories, seen.points, seen.bounds) == (4, 5, (0, 0, 100, 100))
    assert seen.distance is not None
    assert (seen.distance.min, seen.distance.max) == (0, 6)
    assert seen.longest_step == 5
    assert seen.interval_seconds is not None
    assert (seen.interval_seconds.min, seen.interval_seconds.max) == (10, 20)
    assert seen.duration_seconds is not None
    assert (seen.duration_seconds.min, seen.duration_seconds.max) == (0, 30)
    assert seen.first_time is None
    assert (seen.histogram_edges, seen.histogram_counts) == ((0, 1, 2, 3, 4), (1, 2, 0, 1))


def test_dates_are_shown() -> None:
    seen = summarise(Trajectories([0, 1], [0, 1], [0, 2], t=[1372636858, 1372636873]))
    assert seen.first_time == "2013-07-01T00:00:58+00:00"


def test_a_teleport_is_counted() -> None:
    assert summarise(Trajectories.from_lists([[(0, 0), (1, 0), (100, 100), (1, 1)]])).jumps == 2
    assert summarise(Trajectories.from_lists([[(k, 0) for k in range(20)]])).jumps == 0


def test_all_trajectories_are_in_the_histogram(rng: np.random.Generator) -> None:
    sizes = rng.geometric(0.01, 500)
    points = int(sizes.sum())
    seen = summarise(Trajectories(np.zeros(points), np.zeros(points), np.cumsum([0, *sizes])))
    assert sum(seen.histogram_counts) == 500
    assert len(seen.histogram_counts) <= 12
    assert seen.histogram_edges[-1] == sizes.max() + 1


def test_a_set_without_points() -> None:
    seen = summarise(Trajectories.concat([]))
    assert (seen.trajectories, seen.bounds, seen.distance, seen.histogram_counts) == (0, None, None, ())
