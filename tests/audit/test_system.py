from __future__ import annotations

import os

import pytest

from audit_kit import SINGLE
from ldptrace.audit.system import extreme_trajectories, own_messages, system_source
from ldptrace.device.track import trip_of
from ldptrace.protocol.grid import Grid
from ldptrace.protocol.reports import Report
from ldptrace.protocol.standing import Standing


def test_the_system_gets_its_source_back() -> None:
    real = os.urandom
    with system_source(bytes):
        assert os.urandom(3) == b"\0\0\0"
    assert os.urandom is real
    with pytest.raises(ValueError, match="negative"), system_source(bytes):
        os.urandom(-1)
    assert os.urandom is real


@pytest.mark.parametrize("trips", [0, 1, 6])
def test_devices_draw_the_group_that_is_looked_at(trips: int) -> None:
    """Whatever the number of trips, of which one is drawn before."""
    weekly = SINGLE.changed(standing=Standing.of(7 * 86_400, epsilon=SINGLE.epsilon))
    for plan in (SINGLE, weekly):
        for group in range(len(plan.rounds[0].asks)):
            found = [
                Report.decode(m)
                for m in own_messages(plan, 0, group, [[(0.5, 0.5), (1.5, 2.5)]] * trips, 5).sent
            ]
            assert {report.group for report in found} == {group}
            assert (min(report.window for report in found) > 0) == (plan is weekly)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_they_differ_in_everything_that_a_question_looks_at(n: int) -> None:
    grid = Grid((10.0, 20.0, 30.0, 50.0), n)
    trips = [trip_of(points, grid) for points in extreme_trajectories(grid).values()]
    lengths = {len(trip.path) for trip in trips}
    assert {0, 1, 2, *range(2, n + 1)} <= lengths
    assert max(lengths) >= 3000
    corners = {0, n - 1, n * (n - 1), n * n - 1}
    assert corners <= {cell for trip in trips for cell in trip.path}
    assert {0, n * n - 1} <= {trip.path[0] for trip in trips if trip.path}
    assert {trip.hour for trip in trips} >= {None, 0, 8, 17, 23}
    assert {trip.seconds is None for trip in trips} == {True, False}


def test_every_move_to_a_neighbour_of_a_corner_is_tried() -> None:
    found = extreme_trajectories(Grid((0.0, 0.0, 3.0, 3.0), 3))
    grid = Grid((0.0, 0.0, 3.0, 3.0), 3)
    assert trip_of(found["the first move"], grid).path == [0, 1]
    assert trip_of(found["the last move"], grid).path == [8, 7]
    assert len(trip_of(found["to and fro"], grid).path) == 10
