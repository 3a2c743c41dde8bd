from __future__ import annotations

import numpy as np
import pytest

from ldptrace.core.trajectories import Trajectories
from ldptrace.errors import InputError
from ldptrace.evaluation.streams import Clock
from ldptrace.protocol.grid import Grid
from ldptrace_lab.streams.methods import CellStreams, clock_around

GRID = Grid((0.0, 0.0, 4.0, 4.0), 4)


def test_a_trip_has_one_cell_in_each_tick() -> None:
    trips = Trajectories(
        [0.5, 3.5, 2.5, 2.5], [0.5, 0.5, 2.5, 2.5], [0, 2, 2, 4], t=[100.0, 130.0, 110.0, 111.0]
    )
    clock = clock_around(trips, 10.0)
    assert (clock.origin, clock.ticks) == (100.0, 4)
    streams = CellStreams.from_trajectories(trips, GRID, clock)
    assert streams.cells.tolist() == [0, 4, 8, 12, 10]
    assert streams.ticks.tolist() == [0, 1, 2, 3, 1]


def test_points_are_in_their_cells_at_their_times(rng: np.random.Generator) -> None:
    clock = Clock(10.0, 50.0, 9)
    streams = CellStreams(np.int32([0, 1, 5, 7]), np.array([0, 3, 4]), np.array([2, 0]), GRID, clock)
    trips = streams.trajectories(rng)
    assert trips.t is not None
    assert trips.t.tolist() == [70.0, 80.0, 90.0, 50.0]
    again = CellStreams.from_trajectories(trips, GRID, clock)
    assert again.cells.tolist() == streams.cells.tolist()
    assert again.begins.tolist() == streams.begins.tolist()


def test_a_stream_needs_times() -> None:
    timeless = Trajectories.from_lists([[(0.5, 0.5)]])
    with pytest.raises(InputError, match="needs trajectories with times"):
        clock_around(timeless, 10.0)
    with pytest.raises(InputError, match="positive number of seconds"):
        clock_around(Trajectories([0.0], [0.0], [0, 1], t=[0.0]), 0.0)
